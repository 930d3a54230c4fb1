import { existsSync, statSync } from 'node:fs';
import { type Command, Option } from 'commander';
import type { Flags, Setting } from '../input/settings.ts';
import { shellQuote } from '../terminal/text.ts';
import type { CommandSpec } from './spec.ts';

function accepts({ read }: Setting<unknown>, word: string): boolean {
  try {
    read(word, '');
    return true;
  } catch {
    return false;
  }
}

/** Returns the options of the command that could take the word, the likeliest first. */
function optionsFor(word: string, command: Command, { options = {} }: CommandSpec) {
  const rank = (setting: Setting<unknown>) => {
    if (setting.required) return 0;
    // An option for numbers or a few words is likelier than one for any text.
    if (!accepts(setting, '?')) return 1;
    return setting.completes && setting.completes !== 'context' ? 2 : 3;
  };
  const isFree = ({ flags, repeatable }: Setting<unknown>) =>
    repeatable || command.getOptionValue(new Option(flags).attributeName()) === undefined;
  return Object.values(options)
    .filter((one) => one.flags.includes('<') && accepts(one, word) && isFree(one))
    .toSorted((a, b) => rank(a) - rank(b));
}

/** Formats words as values of an option: `--name 'Main lobby'`, or `-f a.csv -f b.csv`. */
function withOption({ flags, repeatable }: Setting<unknown>, words: readonly string[]): string {
  const [flag] = flags.split(/[ ,]/);
  const values = repeatable ? words : [words.join(' ')];
  return values.map((value) => `${flag} ${shellQuote(value)}`).join(' ');
}

const isFile = (path: string) => existsSync(path) && statSync(path).isFile();

/** Returns a hint for a file that is given as a name, such as `playlist check menu.json`. */
export function hintOfFile(
  { options = {} }: CommandSpec,
  values: Flags,
  flags: Flags,
): string | undefined {
  const option = Object.values(options).find((one) => one.flags.startsWith('-f, '));
  const file = Object.values(values)
    .flat()
    .find((word) => typeof word === 'string' && isFile(word));
  return option && flags.file === undefined && file !== undefined
    ? `Did you mean ${withOption(option, [`${file}`])}?`
    : undefined;
}

/**
 * Returns the option whose value continues with these words, in quotes: `--venue 'Coffee Corner'`.
 * `undefined` if the words do not follow the value of an option.
 */
function splitValue(
  command: Command,
  words: readonly string[],
  extra: readonly string[],
): string | undefined {
  const at = words.findIndex((word, index) => index > 1 && word === extra[0]);
  const [flag = '', value = ''] = words.slice(Math.max(at - 2, 0), Math.max(at, 0));
  const option = command.options.find(({ long, short }) => flag === long || flag === short);
  if (!option?.required) return undefined;
  const count = words.slice(at).findIndex((word) => word.startsWith('-'));
  const rest = words.slice(at, count < 0 ? undefined : at + count);
  return `${flag} ${shellQuote([value, ...rest].join(' '))}`;
}

/**
 * Returns a hint for a name that does not exist: a file, or `Coffee Corner/Main` without quotes,
 * which arrives as two names. A command detects these mistakes only when it looks for the record.
 */
export function hintOfName(spec: CommandSpec, values: Flags, flags: Flags): string | undefined {
  const ofFile = hintOfFile(spec, values, flags);
  if (ofFile !== undefined) return ofFile;
  const named = Object.entries(spec.arguments ?? {}).find(([, one]) => one.completes === 'screen');
  const words = values[named?.[0] ?? ''];
  if (!Array.isArray(words)) return undefined;
  const end = words.findIndex((word: string) => word.includes('/'));
  // A path follows the name of a screen.
  if (end < 1 || isFile(words[end]) || /\.\w{2,4}$/.test(words[end])) return undefined;
  return `Put a name with spaces in quotes: "${words.slice(0, end + 1).join(' ')}".`;
}

/**
 * Describes the words after the last argument of a command, and suggests options for them. `words`
 * are those of the command line.
 */
export function describeExtraWords(
  command: Command,
  spec: CommandSpec,
  words: readonly string[],
): { message: string; advice?: string } {
  const known = command.registeredArguments.length;
  const extra = command.args.slice(known);
  const [word = ''] = extra;
  const shown = extra.map((one) => `"${one}"`).join(' ');
  const message = `Unexpected argument${extra.length === 1 ? '' : 's'}: ${shown}.`;
  const meant = (text: string) => ({ message, advice: `Did you mean ${text}?` });
  if (/^https?:/.test(word) && command.options.some(({ long }) => long === '--url'))
    return meant(`--url ${shellQuote(word)}`);
  const flag = command.options.find(({ long, required }) => long === `--${word}` && !required);
  if (flag) return meant(`${flag.long}`);
  const split = splitValue(command, words, extra);
  if (split !== undefined)
    return { message, advice: `Put a value with spaces in quotes: ${split}.` };
  const [option, next] = optionsFor(word, command, spec);
  // Does not repeat the words, because a mistyped pairing code still reveals most of the code.
  if (option?.flags.startsWith('--code '))
    return { message: 'Unexpected argument.', advice: 'Did you mean --code, for a pairing code?' };
  if (next?.required) return { message, advice: `It needs ${option?.flags} and ${next.flags}.` };
  const needs = Object.values(spec.options ?? {}).some(({ required }) => required);
  if (option?.required || (option && known === 0 && !needs))
    return meant(withOption(option, extra));
  const folder = Object.values(spec.options ?? {}).find(({ flags }) => flags.endsWith('<folder>'));
  if (folder && /^\.{0,2}\//.test(word)) return meant(withOption(folder, extra));
  if (known === 0) return { message };
  const [venue = '', screen] = command.args;
  const isPath = Object.hasOwn(spec.arguments ?? {}, 'screen') && command.args.length === 2;
  if (isPath && !`${venue}${screen}`.includes('/')) return meant(shellQuote(`${venue}/${screen}`));
  return { message, advice: `Put a name with spaces in quotes: "${command.args.join(' ')}".` };
}
