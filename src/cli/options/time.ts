import { isoMs } from '../../domain/clock.ts';
import type { CommandContext } from '../command/context.ts';
import type { Environment } from '../command/environment.ts';
import * as option from './option.ts';
import { usage } from './settings.ts';

/**
 * Numbers from this value on are epoch milliseconds. Smaller ones are epoch seconds: this value in
 * seconds is in the year 5138.
 */
const firstMilliseconds = 100_000_000_000;
const spanForm = /^\d{1,9}(ms|s|m|h|d)$/;
const span = option.duration('1s', '--span', '');

interface TimeContext {
  /** Origin of the text, for the error: `--since`. */
  source: string;
  nowMs: number;
  /** Whether a duration such as `2h` leads to the past or to the future. */
  spans: 'ago' | 'ahead';
}

/**
 * Parses a point in time and returns epoch milliseconds. Accepts ISO 8601 (a date means midnight
 * UTC), Unix epoch seconds or milliseconds (9 to 15 digits), and a duration from now. Throws
 * `usage` for other text.
 *
 * @example readTime('2026-11-20', { source: '--since', nowMs, spans: 'ago' }) // 1795132800000
 */
export function readTime(text: string, { source, nowMs, spans }: TimeContext): number {
  if (spanForm.test(text)) return nowMs + span.read(text, source) * (spans === 'ago' ? -1 : 1);
  option.requireUnit(text, source);
  const number = /^\d{9,15}$/.test(text) ? Number(text) : Number.NaN;
  const timeMs = Number.isNaN(number)
    ? isoMs(text)
    : number * (number < firstMilliseconds ? 1000 : 1);
  if (!Number.isNaN(new Date(timeMs).getTime())) return timeMs;
  const like = `2026-11-20, 2026-11-20T08:00:00Z, 1795161600, or ${spans === 'ago' ? '2h for two hours ago' : '7d for seven days from now'}`;
  throw usage(`${source} must be a time such as ${like}, not "${text}".`);
}

/**
 * Parses the time that an option gives, and returns it in ISO 8601. A duration leads to the past.
 */
function readPastTime(
  { clock }: Pick<Environment, 'clock'>,
  source: string,
  text: string | undefined,
): string | undefined {
  if (text === undefined) return undefined;
  return new Date(readTime(text, { source, nowMs: clock.now(), spans: 'ago' })).toISOString();
}

/** One end of a range: the flag, and its time in ISO 8601 (UTC) or its day. */
interface RangeEnd {
  flag: string;
  time: string | undefined;
}

/** Throws `usage` for a range of time that does not end after its start. */
export function checkRange(first: RangeEnd, last: RangeEnd): void {
  if (first.time === undefined || last.time === undefined || first.time < last.time) return;
  throw usage(
    `${first.flag} must be before ${last.flag}, but ${first.time} is not before ${last.time}.`,
  );
}

/** Reads `--since` and `--until`. Throws `usage` if they are in the wrong order. */
export function readRange({ clock, options: { since, until } }: CommandContext) {
  const from = readPastTime({ clock }, '--since', since);
  const to = readPastTime({ clock }, '--until', until);
  checkRange({ flag: '--since', time: from }, { flag: '--until', time: to });
  return { from, to };
}

/**
 * Formats the epoch time of a record, in seconds or milliseconds, as ISO 8601. Returns a value that
 * is not a valid time unchanged.
 */
export function shownEpoch(time: unknown): unknown {
  if (typeof time !== 'number') return time;
  const date = new Date(time < firstMilliseconds ? time * 1000 : time);
  return Number.isNaN(date.getTime()) ? time : date.toISOString();
}

/**
 * Parses the end of a playlist, in epoch seconds. `none` becomes `null`. Throws `usage` for other
 * text. The error begins with `source`.
 */
export function readValidUntil(text: string, nowMs: number, source: string): number | null {
  if (text === 'none') return null;
  return Math.floor(readTime(text, { source, nowMs, spans: 'ahead' }) / 1000);
}
