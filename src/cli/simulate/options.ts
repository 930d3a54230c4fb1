import { secondMs } from '../../domain/clock.ts';
import * as option from '../options/option.ts';
import { oneOf, type Setting, usage } from '../options/settings.ts';
import { connectionOptions } from '../options/shared.ts';

/** A span of time that may be left open. */
export function span(flags: string, help: string): Setting<number | undefined> {
  const { read } = option.duration('0s', flags, help);
  return { flags, env: undefined, help, read, initial: undefined };
}

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

/** Once a second at most: less would be without end where time does not matter. */
export function rotateEvery(flags: string, help: string): Setting<number | undefined> {
  const setting = span(flags, help);
  const read = (value: string, source: string) => {
    const spanMs = setting.read(value, source);
    if (spanMs !== undefined && spanMs < secondMs)
      throw usage(`${source} must be 1s or more, such as 12h or 7d, not "${value}".`);
    return spanMs;
  };
  return { ...setting, read };
}

const fleet = {
  count: option.count(
    [1, 100_000],
    '--count <number>',
    'how many TVs; 10, or one for each code, unless given',
  ),
  venue: option.text(
    '--venue <name>',
    'venue of their screens, made if need be; Simulated unless given',
    'venue',
  ),
  codes: option.text(
    '--codes <file>',
    'pairing codes to use, one a line (- for stdin), in place of screens and codes of its own',
  ),
  keep: option.text(
    '--keep <folder>',
    'keep the TVs there, and go on with them at the next run, in place of clearing away',
  ),
  profile: option.repeated(
    '--profile <name>',
    'what the TVs are, in turn: a name of fixtures/devices; all of them unless given',
  ),
};

const course = {
  scenario: option.text(
    '--scenario <name>',
    'a scenario by name, or a YAML file; options go before what it says',
  ),
  duration: span(
    '--duration <time>',
    'how long it runs; 10m unless --life or the scenario says how long the TVs live',
  ),
  life: span('--life <time>', "how long each TV lives, by its own clock: 7d for a TV's week"),
  speed: speed(
    '--speed <factor>',
    'seconds of the TVs in one of ours: 600 is ten hours a minute, max is no waiting; 1 unless given',
  ),
  ramp: span('--ramp <time>', 'switch the TVs on over so long; all at once unless given'),
  rotateEvery: rotateEvery(
    '--rotate-every <time>',
    'let each TV change its key so often, by its own clock; never unless given',
  ),
  seed: option.text(
    '--seed <text>',
    'what all chance follows from: the same seed, the same run; a new one unless given',
  ),
  fault: option.repeated(
    '--fault <rule>',
    'what goes wrong, such as lost-answer:register:20%; docs/simulator.md lists the rules',
  ),
};

const output = {
  output: oneOf(
    ['text', 'json', 'yaml'],
    'text',
    '-o, --output <format>',
    undefined,
    'text, json or yaml',
  ),
  quiet: option.flag('--quiet', 'show no progress'),
};

/** What `signage simulate` can be told: the fleet, what becomes of it, and the service as all commands are told of it. */
export const simulateSettings = { ...fleet, ...course, ...output, ...connectionOptions };
