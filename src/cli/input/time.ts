import { dayMs, isoMs, minuteMs } from '../../domain/clock.ts';
import type { Environment } from '../terminal/environment.ts';
import * as option from './option.ts';
import { usage } from './settings.ts';

/**
 * Numbers from this value on are epoch milliseconds. Smaller ones are epoch seconds: this value in
 * seconds is in the year 5138.
 */
const firstMilliseconds = 100_000_000_000;
const spanForm = /^\d{1,9}(ms|s|m|h|d)$/;
const span = option.duration('1s', '--span', '', 'h');

interface TimeContext {
  /** Origin of the text, for the error: `--since`. */
  source: string;
  nowMs: number;
  /** Whether a duration such as `2h` leads to the past or to the future. */
  spans: 'ago' | 'ahead';
}

const localForm = /^(\d{4}-\d{2}-\d{2})(?:(?:T| +)(\d{1,2}):(\d{2})(?::(\d{2}))?)?$/;
const zoneForm = /^(\d{4}-\d{2}-\d{2}) +(\d{2}:\d{2}\S*) *(Z|[+-]\d{2}:?\d{2})$/;

/** A date, and a time of day in minutes, in no time zone yet. */
interface LocalTime {
  day: number;
  minute: number;
}

/** Parses a time without a zone, such as `2026-12-04 17:30`. `undefined`: it is another text. */
function localTimeOf(text: string): LocalTime | undefined {
  const [, date = '', hours = 0, minutes = 0, seconds = 0] = localForm.exec(text) ?? [];
  const dateMs = isoMs(date);
  if (Number.isNaN(dateMs) || Number(hours) > 24 || Number(minutes) > 59 || Number(seconds) > 59)
    return undefined;
  const minute = Number(hours) * 60 + Number(minutes) + Number(seconds) / 60;
  return minute <= dayMs / minuteMs ? { day: dateMs / dayMs, minute } : undefined;
}

/** Whether a value is a time or a date without a zone. */
export const isLocalTime = (value: unknown): value is string =>
  typeof value === 'string' && localTimeOf(value) !== undefined;

/**
 * Returns the time zone that a local time is meant in. Throws `usage`, with the source of the text,
 * if there is none, or more than one.
 */
export type ReadZone = (source: string, text: string) => Promise<string>;

/**
 * Like `readTime`, but a date or time without a zone is local: `readZone` returns its zone.
 *
 * @param which instant, of a time that comes twice when the clocks go back
 */
export async function readTimeIn(
  readZone: ReadZone,
  text: string,
  context: TimeContext & { which: 'earlier' | 'later' },
): Promise<number> {
  const local = localTimeOf(text);
  if (!local) return readTime(text, context);
  const { day, minute } = local;
  const timezone = await readZone(context.source, text);
  const { localClock } = await import('../../calendar/local-clock.ts');
  return localClock(timezone, day * dayMs, day * dayMs).instantOf(day, minute, context.which);
}

const today = (nowMs: number) => new Date(nowMs).toISOString().slice(0, 10);

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
    ? isoMs(text.replace(zoneForm, '$1T$2$3'))
    : number * (number < firstMilliseconds ? 1000 : 1);
  if (!Number.isNaN(new Date(timeMs).getTime())) return timeMs;
  const local = localTimeOf(text);
  if (local) {
    const utc = new Date(local.day * dayMs + local.minute * minuteMs).toISOString();
    throw usage(
      `${source} has no time zone: "${text}". In UTC, it is written ${utc.slice(0, 19)}Z.`,
    );
  }
  if (/^\d{1,2}:\d{2}(?::\d{2})?$/.test(text))
    throw usage(`${source} has no date: "${text}". Write it as "${today(nowMs)} ${text}".`);
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
export function readRange({
  clock,
  options: { since, until },
}: Pick<Environment, 'clock'> & { options: { since?: string; until?: string } }) {
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
 * text. The error begins with `source`. A time without a zone is refused, and a date is UTC.
 */
export function readValidUntil(text: string, nowMs: number, source: string): number | null {
  if (text === 'none') return null;
  return Math.floor(readTime(text, { source, nowMs, spans: 'ahead' }) / 1000);
}

/** Like `readValidUntil`, for `--valid-until`: a time without a zone is local. */
export async function readLocalEnd(
  readZone: ReadZone,
  text: string,
  nowMs: number,
): Promise<number | null> {
  if (text === 'none') return null;
  const context = { source: '--valid-until', nowMs, spans: 'ahead', which: 'later' } as const;
  return Math.floor((await readTimeIn(readZone, text, context)) / 1000);
}
