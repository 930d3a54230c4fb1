import type { Command, CommanderError } from 'commander';
import { readAsset } from '../package/assets.ts';
import { leadingOptions } from './input/shared.ts';
import { requireFileOption } from './program/extra-words.ts';
import { jsonAlias } from './program/option-aliases.ts';
import {
  explainArguments,
  nounCommand,
  parseWords,
  rootCommand,
  showSharedOptions,
  specCommand,
} from './program/parser.ts';
import type { CommandSpec } from './program/spec.ts';
import type { ProgramEnvironment } from './terminal/environment.ts';
import { loadSingle, loadVerbs, nouns, single } from './tree.ts';

/** A command line, split at its first word. */
interface CommandWords {
  /** Options before the first word. They belong to the command. */
  before: readonly string[];
  first: string | undefined;
  after: readonly string[];
}

const leadingFlags = Object.values(leadingOptions).flatMap(({ flags }) =>
  flags.replace(/ <.*/, '').split(', '),
);

function splitAtFirst(argv: readonly string[]): CommandWords {
  let at = 0;
  for (let word = argv[0]; word?.startsWith('-'); word = argv[at]) {
    if (leadingFlags.includes(word)) at += 2;
    else if (word === jsonAlias) at += 1;
    else if (
      leadingFlags.some((flag) => word?.startsWith(flag.startsWith('--') ? `${flag}=` : flag))
    )
      at += 1;
    else return { before: argv.slice(0, at), first: undefined, after: argv.slice(at) };
  }
  return { before: argv.slice(0, at), first: argv[at], after: argv.slice(at + 1) };
}

/** Whether `--help` or `-h` is anywhere before `--`. `--help` overrides all other words. */
function asksForHelp(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  return (end < 0 ? words : words.slice(0, end)).some((word) => word === '--help' || word === '-h');
}

/**
 * Parses words that may name no command. Advice about the likely commands (`meant`) replaces the
 * suggestion of commander.
 */
function parseUnknown(
  command: Command,
  words: readonly string[],
  meant: string | undefined,
): number {
  const explain = ({ message }: CommanderError) => {
    if (meant) {
      const short = message.replace(/^error: |\s*\(Did you mean .*/gs, '');
      return { message: `${short}.`, advice: `${meant} ` };
    }
    if (command.name() === 'signage' || message.includes('Did you mean')) return undefined;
    const verbs = command.commands.map((one) => one.name()).join(', ');
    return { advice: `The commands are ${verbs}. ` };
  };
  return parseWords(command, words, explain) ?? 0;
}

function runRoot(words: readonly string[], { io }: ProgramEnvironment, meant?: string): number {
  const text = readAsset('package', 'package.json').toString();
  const { version } = JSON.parse(text) as { version: string };
  return parseUnknown(rootCommand({ single, nouns }, version, io), words, meant);
}

async function runCommand(
  name: string,
  spec: CommandSpec,
  words: readonly string[],
  environment: ProgramEnvironment,
): Promise<number> {
  const command = specCommand(name, spec, environment.io);
  const explain = explainArguments(command, spec, words);
  const exitCode = parseWords(command, asksForHelp(words) ? ['--help'] : words, explain);
  if (exitCode !== undefined) return exitCode;
  requireFileOption(command, spec);
  // Loaded on demand: help and the version do not need it.
  const { runSpec } = await import('./program/run.ts');
  return runSpec(spec, { given: command.processedArgs, flags: command.opts() }, environment);
}

/** Runs a command line and returns the exit code. Throws the error of a command that fails. */
export async function runProgram(
  argv: readonly string[],
  environment: ProgramEnvironment,
): Promise<number> {
  if (argv[0] === 'help' && argv[1] === 'options') {
    showSharedOptions(environment.io);
    return 0;
  }
  const { before, first, after } = splitAtFirst(
    argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv,
  );
  if (first === undefined) return runRoot(after, environment);
  if (first === 'version') return runRoot(['--version'], environment);
  const command = await loadSingle(first);
  if (command) return runCommand(`signage ${first}`, command, [...before, ...after], environment);
  const verbs = await loadVerbs(first);
  const [verb, ...rest] = after;
  // Loaded on demand: only mistakes need it.
  const mistakes = () => import('./meant-command.ts');
  if (!verbs)
    return runRoot([first], environment, await (await mistakes()).meantCommands(first, verb));
  const spec = verb !== undefined && Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (spec) return runCommand(`signage ${first} ${verb}`, spec, [...before, ...rest], environment);
  const noun = nounCommand(first, nouns[first], verbs, environment.io);
  const isWord = verb !== undefined && !verb.startsWith('-');
  const meant = isWord ? await (await mistakes()).meantVerbs(first, verb) : undefined;
  return parseUnknown(noun, after.slice(0, 1), meant);
}
