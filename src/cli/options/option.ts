import { readDuration } from '../../domain/duration.ts';
import type { NameKind } from './name-kind.ts';
import { oneOf, type Setting, usage, wholeNumber, yesNo } from './settings.ts';

/** A text; `undefined` when it is not given. `completes` says what it names. */
export function text(
  flags: string,
  help: string,
  completes?: NameKind,
): Setting<string | undefined> {
  return { flags, env: undefined, help, read: (value) => value, initial: undefined, completes };
}

/** A text that must be given. */
export function needed(flags: string, help: string, completes?: NameKind): Setting<string> {
  return {
    flags,
    env: undefined,
    help,
    read: (value) => value,
    initial: '',
    completes,
    required: true,
  };
}

/** A text that may be given several times, commas and all. */
export function repeated(
  flags: string,
  help: string,
  completes?: NameKind,
): Setting<readonly string[]> {
  const readAll = (values: readonly string[]) => values;
  return {
    flags,
    env: undefined,
    help: `${help}; may be repeated`,
    read: (value) => [value],
    readAll,
    initial: [],
    repeatable: true,
    completes,
  };
}

/** One of a few words; `undefined` when it is not given. */
export function choice<const T extends string>(
  choices: readonly T[],
  flags: string,
  help: string,
): Setting<T | undefined> {
  const { read } = oneOf(choices, choices[0] as T, flags, undefined, help);
  return {
    flags,
    env: undefined,
    help: `${help}: ${choices.join(', ')}`,
    read,
    initial: undefined,
    choices,
  };
}

/** A whole number; `undefined` when it is not given. */
export function count(
  range: readonly [number, number],
  flags: string,
  help: string,
): Setting<number | undefined> {
  const { read } = wholeNumber(range, range[0], flags, undefined, help);
  return { flags, env: undefined, help, read, initial: undefined };
}

/** Yes when it is given. */
export function flag(flags: string, help: string): Setting<boolean> {
  return yesNo(flags, undefined, help);
}

/** A span of time such as `90s`, `15m` or `2h`, in milliseconds; a bare number counts seconds. */
export function duration(initial: string, flags: string, help: string): Setting<number> {
  const read = (value: string, source: string) => {
    const spanMs = readDuration(value);
    if (spanMs === undefined)
      throw usage(`${source} must be a span of time such as 90s, 15m or 2h, not "${value}".`);
    return spanMs;
  };
  return { flags, env: undefined, help, read, initial: read(initial, flags), shown: initial };
}
