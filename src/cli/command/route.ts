import { type Branch, type CommandPath, tree } from './tree.ts';

/** Options that may also stand before the noun, `signage --url … venue list`; each takes a value. */
const leading = ['-o', '--output', '--url', '--context', '--tenant'];
const rootOptions = [
  '-o, --output <format>',
  '--url <url>',
  '--context <name>',
  '--tenant <tenant>',
  '-V, --version',
  '-h, --help',
];

/** A word in a place where only the `commands` and `options` of what is `called` so make sense. */
export interface Misplaced {
  called: string;
  word: string;
  commands: readonly string[];
  options: readonly string[];
}

/** Help on a command, on a noun, or on everything. Where it is not `wanted`, something is missing. */
export interface HelpAsked {
  of: readonly [noun?: string, verb?: string];
  wanted: boolean;
}

/** A command, and the words that are for it. */
export interface CommandAsked {
  path: CommandPath;
  words: readonly string[];
}

/** What a command line asks for, as far as that can be told without loading a command. */
export type Route =
  | { to: 'version' }
  | ({ to: 'help' } & HelpAsked)
  | ({ to: 'command' } & CommandAsked)
  | ({ to: 'nowhere' } & Misplaced);

/** A command line taken apart at its noun. */
interface Words {
  /** Options before the noun: they are handed on to the command. */
  before: string[];
  noun: string | undefined;
  after: string[];
}

function takeApart(argv: readonly string[]): Words {
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

/** Whether help is asked for: anywhere, for whoever types that wants nothing else. */
function asksForHelp(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  return (end < 0 ? words : words.slice(0, end)).some((word) => word === '--help' || word === '-h');
}

function toRoot([word, ...more]: readonly string[]): Route {
  if (word === '-V' || word === '--version') return { to: 'version' };
  if (word === undefined) return { to: 'help', of: [], wanted: false };
  if (asksForHelp([word, ...more])) return { to: 'help', of: [], wanted: true };
  return { to: 'nowhere', called: 'signage', word, commands: [], options: rootOptions };
}

function toCommand(path: CommandPath, words: readonly string[]): Route {
  return asksForHelp(words)
    ? { to: 'help', of: path, wanted: true }
    : { to: 'command', path, words };
}

function toNoun({ name, verbs }: Branch, { before, after: [verb, ...rest] }: Words): Route {
  if (verb === undefined) return { to: 'help', of: [name], wanted: false };
  if (verbs.includes(verb)) return toCommand([name, verb], [...before, ...rest]);
  if (asksForHelp([verb])) return { to: 'help', of: [name], wanted: true };
  return {
    to: 'nowhere',
    called: `signage ${name}`,
    word: verb,
    commands: verbs,
    options: ['-h, --help'],
  };
}

/**
 * Finds out what a command line asks for.
 *
 * @example route(['venue', 'list', '--limit', '1']) // { to: 'command', path: ['venue', 'list'], words: ['--limit', '1'] }
 */
export function route(argv: readonly string[]): Route {
  const words = takeApart(argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv);
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
