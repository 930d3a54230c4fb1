import { SignageError } from '../../domain/error.ts';
import type { Flags } from '../command/environment.ts';
import type { NameKind } from './name-kind.ts';

/** One thing that can be set, by a flag or by an environment variable. */
export interface Setting<T> {
  /** As commander takes them: `--port <number>`. */
  flags: string;
  /** The environment variable that says the same, if there is one. */
  env: string | undefined;
  help: string;
  /** Turns the text into the value; throws with `source` as the subject of the sentence. */
  read(text: string, source: string): T;
  initial: T;
  /** Shown as the default, if there is one to show. */
  shown?: string;
  repeatable?: boolean;
  /** In place of `read`, for a repeatable flag whose values may hold commas. */
  readAll?(texts: readonly string[], source: string): T;
  /** Whether it must be given. */
  required?: boolean;
  /** What its value is a name of, for completion. */
  completes?: NameKind | undefined;
  /** The values there are, for completion. */
  choices?: readonly string[];
}

/** What help says of a setting; it can be written down as JSON. */
export type DescribedSetting = Pick<Setting<unknown>, 'flags' | 'help' | 'shown' | 'required'> & {
  env?: string | undefined;
};

type Environment = Readonly<Record<string, string | undefined>>;
export type Values<S> = { [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

export function usage(message: string, hint?: string): SignageError {
  return new SignageError('usage', message, hint === undefined ? {} : { hint });
}

/** Any text; `undefined` when nothing was said. */
export function text(
  flags: string,
  env: string | undefined,
  help: string,
): Setting<string | undefined> {
  return { flags, env, help, read: (value) => value, initial: undefined };
}

export function textOr(
  initial: string,
  flags: string,
  env: string | undefined,
  help: string,
): Setting<string> {
  return { flags, env, help, read: (value) => value, initial, shown: initial };
}

export function oneOf<const T extends string>(
  choices: readonly T[],
  initial: T,
  flags: string,
  env: string | undefined,
  help: string,
): Setting<T> {
  const read = (value: string, source: string) => {
    const choice = choices.find((one) => one === value);
    if (choice === undefined)
      throw usage(`${source} must be one of ${choices.join(', ')}, not "${value}".`);
    return choice;
  };
  return { flags, env, help, read, initial, shown: initial, choices };
}

export function wholeNumber(
  [min, max]: readonly [number, number],
  initial: number,
  flags: string,
  env: string | undefined,
  help: string,
): Setting<number> {
  const read = (value: string, source: string) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= min && number <= max))
      throw usage(`${source} must be a whole number from ${min} to ${max}, not "${value}".`);
    return number;
  };
  return { flags, env, help, read, initial, shown: String(initial) };
}

const truths: Record<string, boolean> = {
  true: true,
  1: true,
  yes: true,
  on: true,
  false: false,
  0: false,
  no: false,
  off: false,
};

export function yesNo(flags: string, env: string | undefined, help: string): Setting<boolean> {
  const read = (value: string, source: string) => {
    const truth = truths[value.toLowerCase()];
    if (truth === undefined) throw usage(`${source} must be true or false, not "${value}".`);
    return truth;
  };
  return { flags, env, help, read, initial: false };
}

/** A flag that may come several times; in the environment the values are separated by commas. */
export function list(
  flags: string,
  env: string | undefined,
  help: string,
): Setting<readonly string[]> {
  const read = (value: string) =>
    value
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '');
  return { flags, env, help: `${help}; may be repeated`, read, initial: [], repeatable: true };
}

/** What help says of a setting: with its default and its environment variable. */
export function describeSetting({ help, shown, env }: DescribedSetting): string {
  const notes = [
    shown === undefined ? [] : [`default: ${shown}`],
    env === undefined ? [] : [`env: ${env}`],
  ].flat();
  return notes.length === 0 ? help : `${help} (${notes.join(', ')})`;
}

function readSetting<T>(setting: Setting<T>, given: unknown, environment: Environment): T {
  const { flags, env, read, initial } = setting;
  const flag = longFlag(flags);
  if (given === undefined && setting.required)
    throw usage(`${flag} must be given: ${setting.help}.`);
  if (Array.isArray(given))
    return setting.readAll ? setting.readAll(given, flag) : read(given.join(','), flag);
  if (given !== undefined) return read(String(given), flag);
  const fromEnvironment = env && environment[env];
  return env && fromEnvironment ? read(fromEnvironment, env) : initial;
}

const longFlag = (flags: string) => flags.match(/--[\w-]+/)?.[0] ?? flags;
const camelCase = (flag: string) =>
  flag.slice(2).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** commander keeps `--no-input` as `input: false`. */
function givenFlag(flags: Flags, flag: string): unknown {
  if (!flag.startsWith('--no-')) return flags[camelCase(flag)];
  return flags[camelCase(`--${flag.slice(5)}`)] === false ? true : undefined;
}

/** The settings' values: the flag if there is one, else the environment, else the default. Throws `usage` with what is wrong. */
export function readSettings<S extends Record<string, Setting<unknown>>>(
  settings: S,
  flags: Flags,
  environment: Environment,
): Values<S> {
  const read = (setting: Setting<unknown>) =>
    readSetting(setting, givenFlag(flags, longFlag(setting.flags)), environment);
  return Object.fromEntries(
    Object.entries(settings).map(([name, setting]) => [name, read(setting)]),
  ) as Values<S>;
}
