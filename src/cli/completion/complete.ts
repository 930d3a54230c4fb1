import type { Environment } from '../command/environment.ts';
import { loadCommand } from '../command/load.ts';
import type { Argument, CommandSpec } from '../command/spec.ts';
import { type Branch, type CommandPath, tree } from '../command/tree.ts';
import type { NameKind, Setting } from '../options/settings.ts';
import { commonOptionsOf, connectionOptions, outputOptions } from '../options/shared.ts';
import type { Candidate, Offer } from './candidate.ts';

/** An argument whose values are known. */
export interface ChosenArgument extends Argument {
  choices: readonly string[];
}

/** What of an option or argument tells its values. */
interface Valued {
  choices?: readonly string[];
  completes?: NameKind | undefined;
  /** `--ca-file <file>` */
  flags?: string;
}

type Flag = Valued & {
  long: string;
  short: string | undefined;
  takesValue: boolean;
  repeatable: boolean;
  help: string;
};

function readFlag(setting: Setting<unknown>): Flag {
  const { flags, help, repeatable = false, choices, completes } = setting;
  const long = /--[\w-]+/.exec(flags)?.[0] ?? flags;
  const valued = { ...(choices && { choices }), completes, flags };
  return {
    ...valued,
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
/** What may stand before the noun. */
const leading = [
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

/** What the words before the one that is typed have said. */
interface Said {
  /** The words that are no options and no values of them. */
  operands: string[];
  given: Map<string, string | true>;
  /** The option whose value comes next. */
  open: Flag | undefined;
  /** After `--` nothing is an option any more. */
  isOver: boolean;
}

function readWords(
  words: readonly string[],
  flags: readonly Flag[],
  mayEnd = false,
): { said: Said; at: number } {
  const said: Said = { operands: [], given: new Map(), open: undefined, isOver: false };
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at] ?? '';
    if (said.open) {
      said.given.set(said.open.long, word);
      said.open = undefined;
    } else if (!said.isOver && word === '--') {
      said.isOver = true;
    } else if (!said.isOver && word.startsWith('-') && word !== '-') {
      const [name = '', value] = word.split(/=(.*)/s, 2);
      const flag = flags.find(({ long, short }) => long === name || short === name);
      if (flag?.takesValue && value === undefined) said.open = flag;
      else if (flag) said.given.set(flag.long, value ?? true);
    } else {
      if (mayEnd) break;
      said.operands.push(word);
    }
  }
  return { said, at };
}

const startsWith = (text: string, typed: string) =>
  text.toLowerCase().startsWith(typed.toLowerCase());

function matching(candidates: readonly Candidate[], typed: string): Candidate[] {
  return candidates.filter(({ text }) => startsWith(text, typed));
}

/** What the shell is asked to complete, once the words before are understood. */
interface Asked {
  typed: string;
  said: Said;
  flags: readonly Flag[];
  context: Environment;
}

async function values(
  { choices, completes, flags = '' }: Valued,
  typed: string,
  { said, context }: Asked,
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
    [...said.given].map(([long, value]) => [camelCase(long), value]),
  );
  return matching(await findNames(completes, typed, connection, context), typed);
}

async function flagsOrValue(asked: Asked): Promise<Offer> {
  const { typed, said, flags } = asked;
  const [name = '', value] = typed.split(/=(.*)/s, 2);
  if (value !== undefined) {
    const flag = flags.find(({ long, takesValue }) => long === name && takesValue);
    const offer = flag ? await values(flag, value, asked) : [];
    return offer === 'files'
      ? offer
      : offer.map(({ text, description }) => ({ text: `${name}=${text}`, description }));
  }
  const offered = flags.filter(({ long, repeatable }) => repeatable || !said.given.has(long));
  return matching(
    offered.map(({ long, help }) => ({ text: long, description: help })),
    typed,
  );
}

/** The word in the place of an option, of its value, or of an argument. */
async function complete(asked: Asked, operand: () => Promise<Offer>): Promise<Offer> {
  const { typed, said } = asked;
  if (said.open) return values(said.open, typed, asked);
  return typed.startsWith('-') && !said.isOver ? flagsOrValue(asked) : operand();
}

async function completeCommand(
  path: CommandPath,
  words: readonly string[],
  before: Said,
  context: Environment,
): Promise<Offer> {
  const spec = await loadCommand(path);
  const flags = allFlags(spec);
  const typed = words.at(-1) ?? '';
  const { said } = readWords(words.slice(0, -1), flags);
  for (const [long, value] of before.given) if (!said.given.has(long)) said.given.set(long, value);
  const asked = { typed, said, flags, context };
  return complete(asked, async () => {
    const all: Argument[] = Object.values(spec.arguments ?? {});
    const last = all.at(-1);
    const argument =
      all[said.operands.length] ??
      (last && ['many', 'some'].includes(last.form) ? last : undefined);
    return argument ? values(argument, typed, asked) : [];
  });
}

async function completeVerb({ name, verbs }: Branch, typed: string): Promise<Candidate[]> {
  const offered = verbs.filter((verb) => startsWith(verb, typed));
  return Promise.all(
    offered.map(async (text) => ({ text, description: (await loadCommand([name, text])).summary })),
  );
}

/**
 * What the last word could become, which is perhaps empty; `words` are those after `signage`.
 *
 * @example await completeWords(['venue', 'li'], context) // [{ text: 'list', description: 'List venues' }]
 */
export async function completeWords(
  words: readonly string[],
  context: Environment,
): Promise<Offer> {
  const typed = words.at(-1) ?? '';
  const done = words.slice(0, -1);
  const { said, at } = readWords(done, leading, true);
  const [first, second] = [done[at], done[at + 1]];
  if (first === undefined) {
    const branches = tree.map(({ name, summary }) => ({ text: name, description: summary }));
    const help = { text: 'help', description: 'Show the help of a command' };
    return complete({ typed, said, flags: leading, context }, async () =>
      matching([...branches, help], typed),
    );
  }
  if (first === 'help') return completeWords([...done.slice(at + 1), typed], context);
  const branch = tree.find(({ name }) => name === first);
  if (!branch) return [];
  if (branch.verbs.length === 0)
    return completeCommand([first], words.slice(at + 1), said, context);
  if (second === undefined)
    return typed.startsWith('-')
      ? matching([{ text: '--help', description: helpFlag.help }], typed)
      : completeVerb(branch, typed);
  return branch.verbs.includes(second)
    ? completeCommand([first, second], words.slice(at + 2), said, context)
    : [];
}
