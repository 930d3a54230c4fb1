// Makes the settings of commands, one function for each type of value.

import { isoMs } from '../../domain/clock.ts';
import { parseDuration } from '../../domain/duration.ts';
import { type NameKind, type Setting, usage } from './settings.ts';

const asTyped = (value: string) => value;

/** Adds an environment variable that can also set the value. */
export function withVariable<T>(env: string, setting: Setting<T>): Setting<T> {
  return { ...setting, env };
}

/** Adds the environment variable of each setting: `SIGNAGE_PORT` for `--port`. */
export function withVariables<S extends Readonly<Record<string, Setting<unknown>>>>(
  settings: S,
): S {
  const withEach = Object.entries(settings).map(([name, setting]) => {
    const [flag = ''] = setting.flags.split(' ');
    const env = `SIGNAGE_${flag.slice('--'.length).replaceAll('-', '_').toUpperCase()}`;
    return [name, { ...setting, env }];
  });
  return Object.fromEntries(withEach);
}

/**
 * A text. Default: `undefined`. A flag with an optional value (`--tv [claim]`) gives an empty text
 * if the value is missing. `completes` is the kind of record that the text names.
 */
export function text(
  flags: string,
  help: string,
  completes?: NameKind,
): Setting<string | undefined> {
  return { flags, help, read: asTyped, initial: undefined, completes };
}

/** A text with a default, which help shows. */
export function textOr(initial: string, flags: string, help: string): Setting<string> {
  return { flags, help, read: asTyped, initial, shown: initial };
}

export function required(flags: string, help: string, completes?: NameKind): Setting<string> {
  return { flags, help, read: asTyped, initial: '', completes, required: true };
}

/** A repeatable text. Commas are part of the value. */
export function repeated(
  flags: string,
  help: string,
  completes?: NameKind,
): Setting<readonly string[]> {
  return {
    flags,
    help: `${help}; may be repeated`,
    read: (value) => [value],
    initial: [],
    repeatable: true,
    completes,
  };
}

/** A repeatable text. Commas separate values, so that a variable can hold several. */
export function list(flags: string, help: string): Setting<readonly string[]> {
  const read = (value: string) =>
    value
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '');
  return { ...repeated(flags, help), read };
}

/** One of a few words, with a default. */
export function oneOf<const T extends string, const I extends T | undefined>(
  choices: readonly T[],
  initial: I,
  flags: string,
  help: string,
): Setting<T | I> {
  const read = (value: string, source: string) => {
    const choice = choices.find((one) => one === value);
    if (choice === undefined)
      throw usage(`${source} must be one of ${choices.join(', ')}, not "${value}".`);
    return choice;
  };
  return { flags, help, read, initial, shown: initial, choices };
}

/** One of a few words. Default: `undefined`. */
export const choice = <const T extends string>(
  choices: readonly T[],
  flags: string,
  help: string,
): Setting<T | undefined> => oneOf(choices, undefined, flags, `${help}: ${choices.join(', ')}`);

/** A whole number, with a default. */
export function wholeNumber<I extends number | undefined>(
  [min, max]: readonly [number, number],
  initial: I,
  flags: string,
  help: string,
): Setting<number | I> {
  const read = (value: string, source: string) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= min && number <= max))
      throw usage(`${source} must be a whole number from ${min} to ${max}, not "${value}".`);
    return number;
  };
  return { flags, help, read, initial, shown: initial?.toString() };
}

/** A whole number. Default: `undefined`. */
export const count = (
  range: readonly [number, number],
  flags: string,
  help: string,
): Setting<number | undefined> => wholeNumber(range, undefined, flags, help);

/** A flag without a value. Its environment variable takes true or false. Default: false. */
export function flag(flags: string, help: string): Setting<boolean> {
  const read = (value: string, source: string) => {
    if (['true', '1', 'yes', 'on'].includes(value.toLowerCase())) return true;
    if (['false', '0', 'no', 'off'].includes(value.toLowerCase())) return false;
    throw usage(`${source} must be true or false, not "${value}".`);
  };
  return { flags, help, read, initial: false };
}

/** A day, such as `2026-11-20`. Default: `undefined`. */
export function day(flags: string, help: string): Setting<string | undefined> {
  const read = (value: string, source: string) => {
    if (value.includes('T') || Number.isNaN(isoMs(value)))
      throw usage(`${source} must be a day such as 2026-11-20, not "${value}".`);
    return value;
  };
  return { flags, help, read, initial: undefined };
}

/** Throws `usage` for a span of time without a unit, such as `12`. Suggests the usual unit. */
export function requireUnit(text: string, source: string, unit = 'h'): void {
  if (/^[1-9]\d{0,4}$/.test(text))
    throw usage(`${source} has no unit: "${text}". Do you mean ${text}${unit}?`);
}

/**
 * A duration such as `90s`, `15m`, `2h` or `0`. Its value is in milliseconds. `unit`: suggested for
 * a number without one. Default: the unit of `initial`.
 */
export function duration(
  initial: string,
  flags: string,
  help: string,
  unit = initial.replace(/\d+/, ''),
): Setting<number> {
  const read = (value: string, source: string) => {
    requireUnit(value, source, unit);
    const durationMs = /^[1-9]\d*$/.test(value) ? undefined : parseDuration(value);
    if (durationMs === undefined)
      throw usage(`${source} must be a span of time such as 90s, 15m or 2h, not "${value}".`);
    return durationMs;
  };
  return { flags, help, read, initial: read(initial, flags), shown: initial };
}

/** A duration. Default: `undefined`. */
export function optionalDuration(
  flags: string,
  help: string,
  unit = 's',
): Setting<number | undefined> {
  return { flags, help, read: duration('1s', flags, help, unit).read, initial: undefined };
}
