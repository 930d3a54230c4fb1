// Settings: what a flag or an environment variable can set, and how their values are read.
// `option.ts` makes them.
import { SignageError } from '../../domain/error.ts';
import type { Flags } from '../command/environment.ts';

/** The kind of record that a value names, for completion. */
export type NameKind = 'tenant' | 'token' | 'venue' | 'screen' | 'device' | 'context';

/** A value that a flag or an environment variable sets. */
export interface Setting<T> {
  /** As commander takes them: `--port <number>`. */
  flags: string;
  /** The environment variable, if there is one. */
  env: string | undefined;
  help: string;
  /** Parses the text. Errors start with `source`: the flag or the variable. */
  read(text: string, source: string): T;
  initial: T;
  /** The default as help shows it. */
  shown?: string;
  repeatable?: boolean;
  /** Replaces `read` for a repeatable flag whose values may contain commas. */
  readAll?(texts: readonly string[], source: string): T;
  required?: boolean;
  /** What the value names, for completion. */
  completes?: NameKind | undefined;
  /** The possible values, for completion. */
  choices?: readonly string[];
}

/** The part of a setting that help shows. Survives JSON. */
export type DescribedSetting = Pick<Setting<unknown>, 'flags' | 'help' | 'shown' | 'required'> & {
  env?: string | undefined;
};

type Variables = Readonly<Record<string, string | undefined>>;
export type Values<S> = { [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

/** Makes the error for a wrong command line. Exit code: 2. */
export function usage(message: string, hint?: string): SignageError {
  return new SignageError('usage', message, hint === undefined ? {} : { hint });
}

/** The help text of a setting, with its default and its environment variable. */
export function describeSetting({ help, shown, env }: DescribedSetting): string {
  const notes = [
    shown === undefined ? [] : [`default: ${shown}`],
    env === undefined ? [] : [`env: ${env}`],
  ].flat();
  return notes.length === 0 ? help : `${help} (${notes.join(', ')})`;
}

function readSetting<T>(setting: Setting<T>, given: unknown, variables: Variables): T {
  const { flags, env, read, initial } = setting;
  const flag = longFlag(flags);
  if (given === undefined && setting.required)
    throw usage(`${flag} must be given: ${setting.help}.`);
  if (Array.isArray(given))
    return setting.readAll ? setting.readAll(given, flag) : read(given.join(','), flag);
  if (given !== undefined) return read(String(given), flag);
  const fromVariable = env && variables[env];
  return env && fromVariable ? read(fromVariable, env) : initial;
}

const longFlag = (flags: string) => flags.match(/--[\w-]+/)?.[0] ?? flags;
const camelCase = (flag: string) =>
  flag.slice(2).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Returns the value that commander stored. It stores `--no-input` as `input: false`. */
function givenFlag(flags: Flags, flag: string): unknown {
  if (!flag.startsWith('--no-')) return flags[camelCase(flag)];
  return flags[camelCase(`--${flag.slice(5)}`)] === false ? true : undefined;
}

/**
 * Reads the values of settings: from the flag, else from the environment variable, else the
 * default. Throws `usage` for an invalid or missing value.
 */
export function readSettings<S extends Record<string, Setting<unknown>>>(
  settings: S,
  flags: Flags,
  variables: Variables,
): Values<S> {
  const read = (setting: Setting<unknown>) =>
    readSetting(setting, givenFlag(flags, longFlag(setting.flags)), variables);
  return Object.fromEntries(
    Object.entries(settings).map(([name, setting]) => [name, read(setting)]),
  ) as Values<S>;
}
