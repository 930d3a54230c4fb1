import { type Branch, type CommandPath, tree } from './tree.ts';

/** Options that may also precede the noun, as in `signage --url … venue list`. Each has a value. */
const leading = ['-o', '--output', '--url', '--context', '--tenant'];
const rootOptions = [
  '-o, --output <format>',
  '--url <url>',
  '--context <name>',
  '--tenant <tenant>',
  '-V, --version',
  '-h, --help',
];

/** An unknown word after `called`, which knows only `commands` and `options`. */
export interface UnknownWord {
  called: string;
  word: string;
  commands: readonly string[];
  options: readonly string[];
}

/** Help for a command, for a noun, or for the program. */
export interface HelpRoute {
  of: readonly [noun?: string, verb?: string];
  /** False when the command line lacks a word. */
  isRequested: boolean;
}

/** A command and its words. */
export interface CommandRoute {
  path: CommandPath;
  words: readonly string[];
}

/** The destination of a command line. No command is loaded to find it. */
export type Route =
  | { to: 'version' }
  | ({ to: 'help' } & HelpRoute)
  | ({ to: 'command' } & CommandRoute)
  | ({ to: 'nowhere' } & UnknownWord);

/** A command line, split at its noun. */
interface Words {
  /** Options before the noun. They belong to the command. */
  before: string[];
  noun: string | undefined;
  after: string[];
}

function splitAtNoun(argv: readonly string[]): Words {
  let at = 0;
  for (let word = argv[0]; word?.startsWith('-'); word = argv[at]) {
    if (leading.includes(word)) at += 2;
    else if (leading.some((one) => word?.startsWith(one.startsWith('--') ? `${one}=` : one)))
      at += 1;
    else break;
  }
  const before = argv.slice(0, at);
  const next = argv[at];
  return next === undefined || next.startsWith('-')
    ? { before, noun: undefined, after: argv.slice(at) }
    : { before, noun: next, after: argv.slice(at + 1) };
}

/** Whether `--help` is anywhere before `--`. It overrides all other words. */
function asksForHelp(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  return (end < 0 ? words : words.slice(0, end)).some((word) => word === '--help' || word === '-h');
}

function toRoot([word, ...more]: readonly string[]): Route {
  if (word === '-V' || word === '--version') return { to: 'version' };
  if (word === undefined) return { to: 'help', of: [], isRequested: false };
  if (asksForHelp([word, ...more])) return { to: 'help', of: [], isRequested: true };
  return { to: 'nowhere', called: 'signage', word, commands: [], options: rootOptions };
}

function toCommand(path: CommandPath, words: readonly string[]): Route {
  return asksForHelp(words)
    ? { to: 'help', of: path, isRequested: true }
    : { to: 'command', path, words };
}

function toNoun({ name, verbs }: Branch, { before, after: [verb, ...rest] }: Words): Route {
  if (verb === undefined) return { to: 'help', of: [name], isRequested: false };
  if (verbs.includes(verb)) return toCommand([name, verb], [...before, ...rest]);
  if (asksForHelp([verb])) return { to: 'help', of: [name], isRequested: true };
  return {
    to: 'nowhere',
    called: `signage ${name}`,
    word: verb,
    commands: verbs,
    options: ['-h, --help'],
  };
}

/**
 * Routes a command line to the version, to help, or to a command.
 *
 * @example
 * route(['venue', 'list', '--limit', '1'])
 * // { to: 'command', path: ['venue', 'list'], words: ['--limit', '1'] }
 */
export function route(argv: readonly string[]): Route {
  const words = splitAtNoun(argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv);
  const { before, noun, after } = words;
  if (noun === undefined) return toRoot(after);
  const branch = tree.find(({ name }) => name === noun);
  if (branch === undefined) {
    return {
      to: 'nowhere',
      called: 'signage',
      word: noun,
      commands: tree.map(({ name }) => name),
      options: rootOptions,
    };
  }
  return branch.verbs.length > 0
    ? toNoun(branch, words)
    : toCommand([branch.name], [...before, ...after]);
}
