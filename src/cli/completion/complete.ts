import type { Environment } from '../command/environment.ts';
import { loadCommand } from '../command/load.ts';
import type { Argument, CommandSpec } from '../command/spec.ts';
import { type Branch, type CommandPath, tree } from '../command/tree.ts';
import type { NameKind, Setting } from '../options/settings.ts';
import { commonOptionsOf, connectionOptions, outputOptions } from '../options/shared.ts';
import type { Candidate } from './names.ts';

/** Possible completions, or `files` if the shell should complete file names. */
export type Offer = readonly Candidate[] | 'files';

/** An argument with a fixed set of values. */
export interface ChosenArgument extends Argument {
  choices: readonly string[];
}

/** Where the values of an option or argument come from. */
interface ValueSource {
  choices?: readonly string[];
  completes?: NameKind | undefined;
  /** `--ca-file <file>` */
  flags?: string;
}

type Flag = ValueSource & {
  long: string;
  short: string | undefined;
  takesValue: boolean;
  repeatable: boolean;
  help: string;
};

function readFlag(setting: Setting<unknown>): Flag {
  const { flags, help, repeatable = false, choices, completes } = setting;
  const long = /--[\w-]+/.exec(flags)?.[0] ?? flags;
  const source = { ...(choices && { choices }), completes, flags };
  return {
    ...source,
    long,
    short: /(?:^|\s)(-\w)\b/.exec(flags)?.[1],
    takesValue: /[<[]/.test(flags),
    repeatable,
    help,
  };
}

const flagsOf = (settings: Readonly<Record<string, Setting<unknown>>>) =>
  Object.values(settings).map(readFlag);
const helpFlag: Flag = {
  long: '--help',
  short: '-h',
  takesValue: false,
  repeatable: false,
  help: 'show this help',
};
const versionFlag: Flag = {
  long: '--version',
  short: '-V',
  takesValue: false,
  repeatable: false,
  help: 'show the version',
};
const { url, context, tenant } = connectionOptions;
/** Options allowed before the noun. */
const leadingFlags = [
  ...flagsOf({ output: outputOptions.output, url, context, tenant }),
  versionFlag,
  helpFlag,
];

function allFlags(spec: CommandSpec): Flag[] {
  return [
    ...flagsOf(spec.options ?? {}),
    ...Object.values(commonOptionsOf(spec)).flatMap(flagsOf),
    helpFlag,
  ];
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
      parsed.given.set(parsed.open.long, word);
      parsed.open = undefined;
    } else if (!parsed.isOver && word === '--') {
      parsed.isOver = true;
    } else if (!parsed.isOver && word.startsWith('-') && word !== '-') {
      const [name = '', value] = word.split(/=(.*)/s, 2);
      const flag = flags.find(({ long, short }) => long === name || short === name);
      if (flag?.takesValue && value === undefined) parsed.open = flag;
      else if (flag) parsed.given.set(flag.long, value ?? true);
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
  context: Environment;
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
  const camelCase = (long: string) =>
    long.slice(2).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  const connection = Object.fromEntries(
    [...parsed.given].map(([long, value]) => [camelCase(long), value]),
  );
  return matching(await findNames(completes, typed, connection, context), typed);
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
  const offered = flags.filter(({ long, repeatable }) => repeatable || !parsed.given.has(long));
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
  path: CommandPath,
  words: readonly string[],
  before: ParsedWords,
  context: Environment,
): Promise<Offer> {
  const spec = await loadCommand(path);
  const flags = allFlags(spec);
  const typed = words.at(-1) ?? '';
  const { parsed } = readWords(words.slice(0, -1), flags);
  for (const [long, value] of before.given)
    if (!parsed.given.has(long)) parsed.given.set(long, value);
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

async function completeVerb({ name, verbs }: Branch, typed: string): Promise<Candidate[]> {
  const offered = verbs.filter((verb) => startsWith(verb, typed));
  return Promise.all(
    offered.map(async (text) => ({ text, description: (await loadCommand([name, text])).summary })),
  );
}

/**
 * Completes the last word, which may be empty; `words` are those after `signage`.
 *
 * @example
 *   await completeWords(['venue', 'li'], context)
 *   // [{ text: 'list', description: 'List venues' }]
 */
export async function completeWords(
  words: readonly string[],
  context: Environment,
): Promise<Offer> {
  const typed = words.at(-1) ?? '';
  const done = words.slice(0, -1);
  const { parsed, at } = readWords(done, leadingFlags, true);
  const first = done[at];
  const second = done[at + 1];
  if (first === undefined) {
    const branches = tree.map(({ name, summary }) => ({ text: name, description: summary }));
    const help = { text: 'help', description: 'Show the help of a command' };
    return complete({ typed, parsed, flags: leadingFlags, context }, async () =>
      matching([...branches, help], typed),
    );
  }
  if (first === 'help') return completeWords([...done.slice(at + 1), typed], context);
  const branch = tree.find(({ name }) => name === first);
  if (!branch) return [];
  if (branch.verbs.length === 0)
    return completeCommand([first], words.slice(at + 1), parsed, context);
  if (second === undefined)
    return typed.startsWith('-')
      ? matching([{ text: '--help', description: helpFlag.help }], typed)
      : completeVerb(branch, typed);
  return branch.verbs.includes(second)
    ? completeCommand([first, second], words.slice(at + 2), parsed, context)
    : [];
}
