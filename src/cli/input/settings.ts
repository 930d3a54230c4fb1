// Defines settings, and reads their values. `option.ts` makes settings.
import { Option } from 'commander';
import { SignageError } from '../../domain/error.ts';

/** The options of a command as commander parsed them. */
export type Flags = Readonly<Record<string, unknown>>;

/** The kind of record that a value names, for completion. */
export type NameKind = 'tenant' | 'token' | 'venue' | 'screen' | 'device' | 'campaign' | 'context';

/** A value that a flag or an environment variable sets. */
export interface Setting<T> {
  /** The flags in the syntax of commander: `--port <number>`. */
  flags: string;
  /** The environment variable, if there is one. */
  env?: string | undefined;
  help: string;
  /** Parses the text. Errors start with `source`: the flag or the variable. */
  read(text: string, source: string): T;
  initial: T;
  /** The default as help shows it. */
  shown?: string | undefined;
  /** Whether the flag may be repeated. Then `read` returns a list, and the lists are joined. */
  repeatable?: boolean;
  required?: boolean;
  /** The kind of record that the value names, for completion. `undefined`: it names no record. */
  completes?: NameKind | undefined;
  choices?: readonly string[];
}

type EnvironmentVariables = Readonly<Record<string, string | undefined>>;
export type Values<S> = { [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

/** Makes the error for a wrong command line. Exit code: 2. */
export function usage(message: string, hint?: string): SignageError {
  return new SignageError('usage', message, hint === undefined ? {} : { hint });
}

/**
 * Whether a text has a key, a token, or a URL with a password. Such a text must not appear in an
 * error.
 */
export const looksSecret = (text: string): boolean =>
  /(?:dak|mak|clm|tkt|lgn)_|:\/\/[^/]*@/i.test(text);
export const secretAdvice =
  'It looks like a secret, and other users can read the command line: pass it in a file or on stdin.';

/** The help text of a setting, with its default and its environment variable. */
export function describeSetting({ help, shown, env }: Setting<unknown>): string {
  const notes = [shown && `default: ${shown}`, env && `env: ${env}`].filter(Boolean);
  return notes.length === 0 ? help : `${help} (${notes.join(', ')})`;
}

/**
 * Throws `usage` for a word of the command line or the environment that is not UTF-8. Node has
 * already replaced its invalid bytes by U+FFFD.
 */
export function requireUtf8(text: string, source: string): void {
  if (text.includes('\ufffd'))
    throw usage(
      `${source} is not UTF-8${looksSecret(text) ? '' : `: "${text}"`}.`,
      'Set the terminal or the script to UTF-8, for example with LC_ALL=C.UTF-8.',
    );
}

/**
 * Throws `usage` for a variable of ours with quotes around it, or with a carriage return. An
 * environment file of Docker keeps both, and a folder with quotes in its name would be lost with
 * the container.
 */
export function requirePlainVariables(variables: EnvironmentVariables): void {
  for (const [name, text = ''] of Object.entries(variables)) {
    if (!name.startsWith('SIGNAGE_')) continue;
    const isQuoted = /^(['"]).*\1\s*$/s.test(text);
    if (!isQuoted && !text.includes('\r')) continue;
    throw usage(
      `${name} ${isQuoted ? 'has quotes around its value' : 'has a carriage return'}.`,
      'Docker keeps quotes and line ends of Windows in --env-file. Remove them from the file.',
    );
  }
}

function readSetting<T>(setting: Setting<T>, flags: Flags, variables: EnvironmentVariables): T {
  const { env, initial } = setting;
  const option = new Option(setting.flags);
  const { long: flag = '', negate } = option;
  const stored = flags[option.attributeName()];
  // commander stores `--no-input` as `input: false`. Its default is `true`.
  const given = negate ? stored === false || undefined : stored;
  if (given === undefined && setting.required)
    throw usage(`${flag} must be given (${setting.help}).`);
  const read = (text: string, source: string) => {
    requireUtf8(text, source);
    return setting.read(text, source);
  };
  if (Array.isArray(given)) return given.flatMap((text) => read(text, flag)) as T;
  if (given !== undefined) return read(String(given), flag);
  const fromVariable = env && variables[env];
  return env && fromVariable ? read(fromVariable, env) : initial;
}

/**
 * Reads the values of settings: from the flag, else from the environment variable, else from the
 * default. Throws `usage` for an invalid or missing value.
 */
export function readSettings<S extends Record<string, Setting<unknown>>>(
  settings: S,
  flags: Flags,
  variables: EnvironmentVariables,
): Values<S> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, one]) => [name, readSetting(one, flags, variables)]),
  ) as Values<S>;
}
