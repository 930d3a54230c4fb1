import { readAsset } from '../assets.ts';
import type { ProgramEnvironment } from './command/environment.ts';
import { nounCommand, parseWords, rootCommand, specCommand } from './command/parser.ts';
import type { CommandSpec } from './command/spec.ts';
import { loadSingle, loadVerbs } from './command/tree.ts';
import { leadingOptions } from './options/shared.ts';

/** A command line, split at its first word. */
interface Words {
  /** Options before the first word. They belong to the command. */
  before: readonly string[];
  first: string | undefined;
  after: readonly string[];
}

const leadingFlags = Object.values(leadingOptions).flatMap(({ flags }) =>
  flags.replace(/ <.*/, '').split(', '),
);

function splitAtFirst(argv: readonly string[]): Words {
  let at = 0;
  for (let word = argv[0]; word?.startsWith('-'); word = argv[at]) {
    if (leadingFlags.includes(word)) at += 2;
    else if (
      leadingFlags.some((flag) => word?.startsWith(flag.startsWith('--') ? `${flag}=` : flag))
    )
      at += 1;
    else return { before: argv.slice(0, at), first: undefined, after: argv.slice(at) };
  }
  return { before: argv.slice(0, at), first: argv[at], after: argv.slice(at + 1) };
}

/** Whether `--help` is anywhere before `--`. `--help` overrides all other words. */
function asksForHelp(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  return (end < 0 ? words : words.slice(0, end)).some((word) => word === '--help' || word === '-h');
}

function runRoot(words: readonly string[], { io }: ProgramEnvironment): number {
  const text = readAsset('package', 'package.json').toString();
  const { version } = JSON.parse(text) as { version: string };
  return parseWords(rootCommand(version, io), words) ?? 0;
}

async function runCommand(
  name: string,
  spec: CommandSpec,
  words: readonly string[],
  environment: ProgramEnvironment,
): Promise<number> {
  const command = specCommand(name, spec, environment.io);
  const exitCode = parseWords(command, asksForHelp(words) ? ['--help'] : words);
  if (exitCode !== undefined) return exitCode;
  // Loaded on demand: help and the version do not need it.
  const { runSpec } = await import('./command/run.ts');
  return runSpec(spec, { given: command.processedArgs, flags: command.opts() }, environment);
}

/** Runs a command line and returns the exit code. Throws the error of a command that fails. */
export async function runProgram(
  argv: readonly string[],
  environment: ProgramEnvironment,
): Promise<number> {
  const { before, first, after } = splitAtFirst(
    argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv,
  );
  if (first === undefined) return runRoot(after, environment);
  const single = await loadSingle(first);
  if (single) return runCommand(`signage ${first}`, single, [...before, ...after], environment);
  const verbs = await loadVerbs(first);
  if (!verbs) return runRoot([first], environment);
  const [verb, ...rest] = after;
  const spec = verb !== undefined && Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (spec) return runCommand(`signage ${first} ${verb}`, spec, [...before, ...rest], environment);
  return parseWords(nounCommand(first, verbs, environment.io), after.slice(0, 1)) ?? 0;
}
