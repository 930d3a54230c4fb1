import { secondMs } from '../../domain/clock.ts';
import * as option from './option.ts';
import { type Setting, usage } from './settings.ts';
import { behaviourOptions, connectionOptions, outputOptions } from './shared.ts';

/** Makes a setting for a speed factor above 0. `max` means infinity. Default: `undefined`. */
export function speed(flags: string, help: string): Setting<number | undefined> {
  const read = (value: string, source: string) => {
    const factor =
      value === 'max'
        ? Number.POSITIVE_INFINITY
        : /^\d{1,6}(\.\d{1,6})?$/.test(value)
          ? Number(value)
          : Number.NaN;
    if (!(factor > 0)) throw usage(`${source} must be a number above 0, or max, not "${value}".`);
    return factor;
  };
  return { flags, env: undefined, help, read, initial: undefined };
}

/**
 * Makes a setting for a duration of 1 s or more, in milliseconds. Default: `undefined`. With 0 and
 * `--speed max`, a TV would rotate its key forever without advancing its clock.
 */
export function rotateEvery(flags: string, help: string): Setting<number | undefined> {
  const setting = option.optionalDuration(flags, help, 'h');
  const read = (value: string, source: string) => {
    const spanMs = setting.read(value, source);
    if (spanMs !== undefined && spanMs < secondMs)
      throw usage(`${source} must be 1s or more, such as 12h or 7d, not "${value}".`);
    return spanMs;
  };
  return { ...setting, read };
}

/**
 * Makes a setting for the longest `waitSeconds` of requests for changes, in seconds. Default:
 * `undefined`.
 */
export function maxWait(flags: string, help: string): Setting<number | undefined> {
  const setting = option.optionalDuration(flags, help);
  const read = (value: string, source: string) => {
    const seconds = (setting.read(value, source) ?? 0) / secondMs;
    if (seconds < 50 || seconds > 600) throw usage(`${source} must be 50s to 10m, not "${value}".`);
    return Math.floor(seconds);
  };
  return { ...setting, read };
}

const fleet = {
  count: option.count(
    [1, 100_000],
    '--count <number>',
    'number of TVs; default: 10, or one for each code',
  ),
  venue: option.text(
    '--venue <name>',
    'venue of their screens, created if it does not exist; default: Simulated',
    'venue',
  ),
  codes: option.text(
    '--codes <file>',
    'pairing codes to use, one per line, or links of signage ticket create (- for stdin); default: create screens and codes',
  ),
  keep: option.text(
    '--keep <folder>',
    'keep the TVs in this folder for the next run; default: delete them at the end',
  ),
  profile: option.repeated(
    '--profile <name>',
    'models of the TVs, used in rotation: a name from fixtures/devices; default: all',
  ),
};

const schedule = {
  scenario: option.text(
    '--scenario <name>',
    'name of a scenario, or a YAML file; options override it',
  ),
  duration: option.optionalDuration(
    '--duration <time>',
    'how long the run takes; default: 10m, unless --life or the scenario limits the life of a TV',
    'm',
  ),
  life: option.optionalDuration(
    '--life <time>',
    "how long each TV lives, by its own clock: 7d for a week of the TV's time",
    'd',
  ),
  speed: speed(
    '--speed <factor>',
    'TV seconds per real second: 600 is ten hours a minute, max never waits; default: 1',
  ),
  ramp: option.optionalDuration(
    '--ramp <time>',
    'time over which the TVs are switched on; default: all at once',
    'm',
  ),
  rotateEvery: rotateEvery(
    '--rotate-every <time>',
    'how often each TV rotates its key, by its own clock; default: never',
  ),
  maxWait: maxWait(
    '--max-wait <time>',
    'longest wait of each TV for changes, from 50s to 10m; default: 2m',
  ),
  seed: option.text(
    '--seed <text>',
    'seed of the random numbers: the same seed repeats the run; default: a new seed',
  ),
  fault: option.repeated(
    '--fault <rule>',
    'fault to inject, such as lost-answer:register:20%; docs/faults.md lists the rules',
  ),
};

export const simulateSettings = {
  ...fleet,
  ...schedule,
  ...outputOptions,
  quiet: behaviourOptions.quiet,
  ...connectionOptions,
};
