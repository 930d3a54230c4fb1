import { existsSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import type { Setting } from '../options/settings.ts';
import { shellQuote } from '../records/text.ts';
import type { CommandSpec } from './spec.ts';

function accepts({ read }: Setting<unknown>, word: string): boolean {
  try {
    read(word, '');
    return true;
  } catch {
    return false;
  }
}

/** Whether the command line gives no value for the option. */
function isMissing({ flags }: Setting<unknown>, command: Command): boolean {
  const option = command.options.find((one) => one.flags === flags);
  return command.getOptionValue(option?.attributeName() ?? '') === undefined;
}

/** Returns the options of the command that could take the word, the likeliest first. */
function optionsFor(word: string, command: Command, { options = {} }: CommandSpec) {
  const rank = (setting: Setting<unknown>) => {
    if (setting.required) return 0;
    // An option for numbers or a few words is likelier than one for any text.
    if (!accepts(setting, '?')) return 1;
    return setting.completes && setting.completes !== 'context' ? 2 : 3;
  };
  return Object.values(options)
    .filter((setting) => setting.flags.includes('<') && accepts(setting, word))
    .filter((setting) => setting.repeatable || isMissing(setting, command))
    .toSorted((a, b) => rank(a) - rank(b));
}

/** Formats words as values of an option: `--name 'Main lobby'`, or `-f a.csv -f b.csv`. */
function withOption({ flags, repeatable }: Setting<unknown>, words: readonly string[]): string {
  const [flag] = flags.split(/[ ,]/);
  const values = repeatable ? words : [words.join(' ')];
  return values.map((value) => `${flag} ${shellQuote(value)}`).join(' ');
}

const quotes = 'Put a name with spaces in quotes. ';

const isFile = (path: string) => existsSync(path) && statSync(path).isFile();

/** Returns a hint for a file that is given as a name, such as `playlist check menu.json`. */
function hintOfFile({ options = {} }: CommandSpec, words: readonly unknown[]): string | undefined {
  const option = Object.values(options).find(({ flags }) => flags.startsWith('-f, '));
  const file = words.find((word) => typeof word === 'string' && isFile(word));
  return option && file !== undefined
    ? `Did you mean ${withOption(option, [`${file}`])}?`
    : undefined;
}

/** Whether the word before the extra one is a value: `--venue Coffee Corner`. */
function followsValue({ options }: Command, words: readonly string[], extra: string): boolean {
  const flag = words[words.indexOf(extra) - 2] ?? '';
  return options.some(({ long, short, required }) => required && [long, short].includes(flag));
}

/** Suggests how to write several words as one name. */
function adviseName({ args, registeredArguments }: Command): string {
  const [venue = '', screen = ''] = args;
  const isPlace = registeredArguments[0]?.name() === 'screen' && args.length === 2;
  return isPlace && !`${venue}${screen}`.includes('/')
    ? `Did you mean ${shellQuote(`${venue}/${screen}`)}? `
    : quotes;
}

/**
 * Returns a hint for a name that does not exist: a file, or `Coffee Corner/Main` without quotes,
 * which arrives as two names. A command detects these mistakes only when it looks for the record.
 */
export function hintOfName(
  spec: CommandSpec,
  values: Readonly<Record<string, unknown>>,
): string | undefined {
  const ofFile = hintOfFile(spec, Object.values(values).flat());
  if (ofFile !== undefined) return ofFile;
  const [name] =
    Object.entries(spec.arguments ?? {}).find(([, one]) => one.completes === 'screen') ?? [];
  const words = name === undefined ? undefined : values[name];
  if (!Array.isArray(words)) return undefined;
  const end = words.findIndex((word: string) => word.includes('/'));
  if (end < 1) return undefined;
  return quotes.trim();
}

/**
 * Describes the words after the last argument of a command, and suggests options for them. `words`
 * are all words after the name of the command.
 */
export function describeExtraWords(
  command: Command,
  spec: CommandSpec,
  words: readonly string[],
): { message: string; advice: string } {
  const known = command.registeredArguments.length;
  const extra = command.args.slice(known);
  const [word = ''] = extra;
  const shown = extra.map((one) => `"${one}"`).join(' ');
  const message = `Unexpected argument${extra.length === 1 ? '' : 's'}: ${shown}.`;
  const meant = (text: string) => ({ message, advice: `Did you mean ${text}? ` });
  if (/^https?:/.test(word) && command.options.some(({ long }) => long === '--url'))
    return meant(`--url ${shellQuote(word)}`);
  const flag = command.options.find(({ long, required }) => long === `--${word}` && !required);
  if (flag) return meant(`${flag.long}`);
  if (followsValue(command, words, word)) return { message, advice: quotes };
  const [option, next] = optionsFor(word, command, spec);
  // Does not repeat the words, because a mistyped pairing code still reveals most of the code.
  if (option?.flags.startsWith('--code '))
    return { message: 'Unexpected argument.', advice: 'Did you mean --code, for a pairing code? ' };
  if (next?.required) return { message, advice: `It needs ${option?.flags} and ${next.flags}. ` };
  const needs = Object.values(spec.options ?? {}).some(({ required }) => required);
  if (option?.required || (option && known === 0 && !needs))
    return meant(withOption(option, extra));
  return { message, advice: known > 0 ? adviseName(command) : '' };
}
