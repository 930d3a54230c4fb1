import { readFile } from 'node:fs/promises';
import type { CommandSpec } from './command-spec.ts';
import type { Context } from './context.ts';
import { loadCommand } from './load-command.ts';
import type { Branch, CommandPath } from './tree.ts';

async function version(): Promise<string> {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** Options that may also stand before the noun, `signage --url … venue list`; each takes a value. */
const leading = ['-o', '--output', '--url', '--context', '--tenant'];
const rootOptions = ['-o, --output <format>', '--url <url>', '--context <name>', '--tenant <tenant>', '-V, --version', '-h, --help'];

/** A command line, as far as it can be told without knowing the command. */
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
    else if (leading.some((one) => word?.startsWith(one.startsWith('--') ? `${one}=` : one))) at += 1;
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

/** Help that was asked for is a result; help because something is missing is an error. */
function showHelp(text: string, wanted: boolean, { io }: Context): number {
  (wanted ? io.stdout : io.stderr).write(text);
  return wanted ? 0 : 2;
}

async function runRoot({ after }: Words, context: Context): Promise<number> {
  const [word] = after;
  if (word === '-V' || word === '--version') {
    context.io.stdout.write(`${await version()}\n`);
    return 0;
  }
  if (word !== undefined && !asksForHelp(after)) {
    throw (await import('./parse-command.ts')).unknownWord('signage', word, [], rootOptions);
  }
  const { overview } = await import('./help.ts');
  return showHelp(overview(), word !== undefined, context);
}

async function runNoun(branch: Branch, { before, after }: Words, context: Context): Promise<number> {
  const { name, verbs } = branch;
  const [verb, ...rest] = after;
  if (verb !== undefined && verbs.includes(verb)) return runCommand([name, verb], [...before, ...rest], context);
  if (verb !== undefined && !asksForHelp([verb])) {
    throw (await import('./parse-command.ts')).unknownWord(`signage ${name}`, verb, verbs, ['-h, --help']);
  }
  const specs = await Promise.all(verbs.map(async (one) => [one, await loadCommand([name, one])] as const));
  const { nounHelp } = await import('./help.ts');
  return showHelp(nounHelp(branch, specs), verb !== undefined, context);
}

/** Arguments that need no taking apart: words alone, of a command that has no options. */
function plainArguments(spec: CommandSpec, words: readonly string[]): unknown[] | undefined {
  const forms = Object.values(spec.arguments ?? {}).map(({ form }) => form);
  if (spec.effect !== 'alone' || spec.options || words.some((word) => word.startsWith('-'))) return undefined;
  const single = forms.filter((form) => form === 'one').length;
  return words.length === single && forms.every((form) => form !== 'many')
    ? forms.map((form, at) => (form === 'some' ? [] : words[at]))
    : undefined;
}

async function runCommand(path: CommandPath, words: readonly string[], context: Context): Promise<number> {
  const spec = await loadCommand(path);
  if (asksForHelp(words)) return showHelp((await import('./help.ts')).commandHelp(path, spec), true, context);
  const plain = plainArguments(spec, words);
  const called = ['signage', ...path].filter(Boolean).join(' ');
  const parsed = plain ? { given: plain, flags: {} } : (await import('./parse-command.ts')).parseCommand(called, spec, words);
  const { runSpec } = await import('./run-spec.ts');
  return runSpec(spec, parsed, context);
}

/**
 * Runs a command line; answers the exit code. What goes wrong is thrown. Only what the one command needs is loaded, so that help and version
 * stay quick.
 */
export async function runProgram(argv: readonly string[], context: Context): Promise<number> {
  const words = takeApart(argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv);
  if (words.noun === undefined) return runRoot(words, context);
  const { tree } = await import('./tree.ts');
  const branch = tree.find(({ name }) => name === words.noun);
  if (branch === undefined) {
    const { unknownWord } = await import('./parse-command.ts');
    throw unknownWord(
      'signage',
      words.noun,
      tree.map(({ name }) => name),
      rootOptions,
    );
  }
  if (branch.verbs.length > 0) return runNoun(branch, words, context);
  return runCommand([branch.name], [...words.before, ...words.after], context);
}
