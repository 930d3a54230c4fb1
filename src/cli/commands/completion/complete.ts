import type { Command } from 'commander';
import type { NameKind } from '../../input/settings.ts';
import { makeProgram, type Program, SettingOption, SpecArgument } from '../../program/parser.ts';
import type { CommandTree } from '../../program/spec.ts';
import type { Environment } from '../../terminal/environment.ts';
import type { Candidate } from './names.ts';

export interface CompletionContext extends Environment {
  tree: CommandTree;
}

/** Possible completions, or `files` if the shell should complete file names. */
export type Offer = readonly Candidate[] | 'files';

/** The parts of an option or argument that determine its possible values. */
interface ValueSource {
  choices?: readonly string[];
  completes?: NameKind | undefined;
  /** Flags of an option, such as `--ca-file <file>`. Arguments have none. */
  flags?: string;
}

/** The word to complete, with the command before it, which has parsed its options. */
interface CompletionRequest {
  typed: string;
  command: Command;
  context: CompletionContext;
}

function matching(candidates: readonly Candidate[], typed: string): Candidate[] {
  const start = typed.toLowerCase();
  return candidates.filter(({ text }) => text.toLowerCase().startsWith(start));
}

async function values(
  { choices, completes, flags = '' }: ValueSource,
  typed: string,
  { command, context }: CompletionRequest,
): Promise<Offer> {
  if (choices)
    return matching(
      choices.map((text) => ({ text, description: '' })),
      typed,
    );
  if (/<(?:file|folder|path)>/.test(flags)) return 'files';
  if (completes === undefined) return [];
  const { findNames } = await import('./names.ts');
  return matching(await findNames(completes, typed, command.optsWithGlobals(), context), typed);
}

/** Completes an option, or its value after an equals sign. */
async function flagsOrValue(request: CompletionRequest): Promise<Offer> {
  const { typed, command } = request;
  const [name = '', value] = typed.split(/=(.*)/s, 2);
  const options = command.createHelp().visibleOptions(command);
  if (value === undefined) {
    const offered = options.filter(
      (option) =>
        (option instanceof SettingOption && option.setting.repeatable) ||
        command.getOptionValueSourceWithGlobals(option.attributeName()) !== 'cli',
    );
    const candidates = offered.map((option) => ({
      text: option.long ?? '',
      description: option instanceof SettingOption ? option.setting.help : option.description,
    }));
    return matching(candidates, typed);
  }
  const option = options.find(({ long, required }) => long === name && required);
  const offer = option instanceof SettingOption ? await values(option.setting, value, request) : [];
  return offer === 'files'
    ? offer
    : offer.map(({ text, description }) => ({ text: `${name}=${text}`, description }));
}

/** Completes the last of the words after a command. */
async function completeAfter(
  command: Command,
  words: readonly string[],
  context: CompletionContext,
  { root, load }: Program,
): Promise<Offer> {
  const typed = words.at(-1) ?? '';
  const done = words.slice(0, -1);
  const request = { typed, command, context };
  let operands: readonly string[];
  let unknown: readonly string[];
  try {
    ({ operands, unknown } = command.parseOptions(done));
  } catch {
    // The value of the last option is missing. After any other mistake, nothing is completed.
    const open = command.options.find(({ long, short }) => [long, short].includes(done.at(-1)));
    return open instanceof SettingOption ? values(open.setting, typed, request) : [];
  }
  const next = command.commands.find((one) => one.name() === operands[0]);
  if (next) {
    if (command === root) await load(next);
    const rest = [...operands.slice(1), ...unknown, typed];
    return completeAfter(next, rest, context, { root, load });
  }
  if (typed.startsWith('-') && !done.includes('--')) return flagsOrValue(request);
  if (command.commands.length > 0) {
    const help = { text: 'help', description: 'Show the help of a command' };
    const candidates = command.commands.map((one) => ({
      text: one.name(),
      description: one.summary(),
    }));
    if (operands.length > 0) return [];
    return matching(command === root ? [...candidates, help] : candidates, typed);
  }
  const all = command.registeredArguments;
  const argument = all[operands.length] ?? (all.at(-1)?.variadic ? all.at(-1) : undefined);
  return argument instanceof SpecArgument ? values(argument.spec, typed, request) : [];
}

const silent = { isTTY: false, write: () => {} };

/**
 * Completes the last of `words`, which are the words after `signage`. The last word may be empty.
 *
 * @example
 *   await completeWords(['venue', 'li'], context)
 *   // [{ text: 'list', description: 'List venues' }]
 */
export async function completeWords(
  words: readonly string[],
  context: CompletionContext,
): Promise<Offer> {
  const program = makeProgram(context.tree, { stdout: silent, stderr: silent }, async () => {});
  const isHelp = words[0] === 'help' && words.length > 1;
  return completeAfter(program.root, isHelp ? words.slice(1) : words, context, program);
}
