import { Option } from 'commander';
import * as option from '../../input/option.ts';
import type { NameKind, Setting } from '../../input/settings.ts';
import { commonOptionsOf, leadingOptions } from '../../input/shared.ts';
import type { Argument, CommandSpec, CommandTree } from '../../program/spec.ts';
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

interface Flag extends Setting<unknown> {
  /** Name under which commander stores the value: `caFile`. */
  name: string;
  long: string;
  short: string | undefined;
  takesValue: boolean;
}

function readFlag(setting: Setting<unknown>): Flag {
  const parsed = new Option(setting.flags);
  const { long = '', short, required: takesValue } = parsed;
  return { ...setting, name: parsed.attributeName(), long, short, takesValue };
}

const helpFlag = readFlag(option.flag('-h, --help', 'show this help'));
const versionFlag = readFlag(option.flag('-V, --version', 'show the version'));
/** Options allowed before the noun. */
const leadingFlags = [...Object.values(leadingOptions).map(readFlag), versionFlag, helpFlag];

function allFlags(spec: CommandSpec): Flag[] {
  const groups = [spec.options ?? {}, ...Object.values(commonOptionsOf(spec))];
  return [...groups.flatMap((settings) => Object.values(settings).map(readFlag)), helpFlag];
}

/** The parsed words before the last one. */
interface ParsedWords {
  /** Words that are neither options nor their values. */
  operands: string[];
  given: Map<string, string | true>;
  /** The option whose value comes next. */
  open: Flag | undefined;
  /** Whether `--` has ended the options. */
  isOver: boolean;
}

function readWords(
  words: readonly string[],
  flags: readonly Flag[],
  mayEnd = false,
): { parsed: ParsedWords; at: number } {
  const parsed: ParsedWords = { operands: [], given: new Map(), open: undefined, isOver: false };
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at] ?? '';
    if (parsed.open) {
      parsed.given.set(parsed.open.name, word);
      parsed.open = undefined;
    } else if (!parsed.isOver && word === '--') {
      parsed.isOver = true;
    } else if (!parsed.isOver && word.startsWith('-') && word !== '-') {
      const [name = '', value] = word.split(/=(.*)/s, 2);
      const flag = flags.find(({ long, short }) => long === name || short === name);
      if (flag?.takesValue && value === undefined) parsed.open = flag;
      else if (flag) parsed.given.set(flag.name, value ?? true);
    } else {
      if (mayEnd) break;
      parsed.operands.push(word);
    }
  }
  return { parsed, at };
}

const startsWith = (text: string, typed: string) =>
  text.toLowerCase().startsWith(typed.toLowerCase());

function matching(candidates: readonly Candidate[], typed: string): Candidate[] {
  return candidates.filter(({ text }) => startsWith(text, typed));
}

/** The word to complete, with the parsed words before it. */
interface CompletionRequest {
  typed: string;
  parsed: ParsedWords;
  flags: readonly Flag[];
  context: CompletionContext;
}

async function values(
  { choices, completes, flags = '' }: ValueSource,
  typed: string,
  { parsed, context }: CompletionRequest,
): Promise<Offer> {
  if (choices)
    return matching(
      choices.map((text) => ({ text, description: '' })),
      typed,
    );
  if (/<(?:file|folder|path)>/.test(flags)) return 'files';
  if (completes === undefined) return [];
  const { findNames } = await import('./names.ts');
  return matching(
    await findNames(completes, typed, Object.fromEntries(parsed.given), context),
    typed,
  );
}

async function flagsOrValue(request: CompletionRequest): Promise<Offer> {
  const { typed, parsed, flags } = request;
  const [name = '', value] = typed.split(/=(.*)/s, 2);
  if (value !== undefined) {
    const flag = flags.find(({ long, takesValue }) => long === name && takesValue);
    const offer = flag ? await values(flag, value, request) : [];
    return offer === 'files'
      ? offer
      : offer.map(({ text, description }) => ({ text: `${name}=${text}`, description }));
  }
  const offered = flags.filter(({ name, repeatable }) => repeatable || !parsed.given.has(name));
  return matching(
    offered.map(({ long, help }) => ({ text: long, description: help })),
    typed,
  );
}

/** Completes an option, its value, or an argument. */
async function complete(request: CompletionRequest, operand: () => Promise<Offer>): Promise<Offer> {
  const { typed, parsed } = request;
  if (parsed.open) return values(parsed.open, typed, request);
  return typed.startsWith('-') && !parsed.isOver ? flagsOrValue(request) : operand();
}

async function completeCommand(
  spec: CommandSpec,
  words: readonly string[],
  before: ParsedWords,
  context: CompletionContext,
): Promise<Offer> {
  const flags = allFlags(spec);
  const typed = words.at(-1) ?? '';
  const { parsed } = readWords(words.slice(0, -1), flags);
  for (const [name, value] of before.given)
    if (!parsed.given.has(name)) parsed.given.set(name, value);
  const request = { typed, parsed, flags, context };
  return complete(request, async () => {
    const all: Argument[] = Object.values(spec.arguments ?? {});
    const last = all.at(-1);
    const argument =
      all[parsed.operands.length] ??
      (last && ['many', 'some'].includes(last.form) ? last : undefined);
    return argument ? values(argument, typed, request) : [];
  });
}

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
  const { tree } = context;
  const typed = words.at(-1) ?? '';
  const done = words.slice(0, -1);
  const { parsed, at } = readWords(done, leadingFlags, true);
  const first = done[at];
  if (first === undefined) {
    const words = Object.entries({
      ...tree.single,
      ...tree.nouns,
      help: 'Show the help of a command',
    });
    const branches = words.map(([text, description]) => ({ text, description }));
    return complete({ typed, parsed, flags: leadingFlags, context }, async () =>
      matching(branches, typed),
    );
  }
  if (first === 'help') return completeWords([...done.slice(at + 1), typed], context);
  const command = await tree.loadSingle(first);
  if (command) return completeCommand(command, words.slice(at + 1), parsed, context);
  const verbs = await tree.loadVerbs(first);
  if (!verbs) return [];
  const second = done[at + 1];
  if (second !== undefined) {
    const spec = Object.hasOwn(verbs, second) ? verbs[second] : undefined;
    return spec ? completeCommand(spec, words.slice(at + 2), parsed, context) : [];
  }
  const offered = typed.startsWith('-')
    ? [{ text: '--help', description: helpFlag.help }]
    : Object.entries(verbs).map(([text, { summary }]) => ({ text, description: summary }));
  return matching(offered, typed);
}
