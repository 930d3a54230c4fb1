import * as option from './option.ts';
import { usage } from './settings.ts';

const firstMilliseconds = 100_000_000_000;
const isoForm = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d))?$/;
const spanForm = /^\d{1,9}(ms|s|m|h|d)$/;
const span = option.duration('1s', '--span', '');

interface Reading {
  /** Where the text is from, for the complaint: `--since`. */
  source: string;
  nowMs: number;
  /** What a bare span such as `2h` is counted from now: back, or ahead. */
  spans: 'ago' | 'ahead';
}

/**
 * A point in time as people type it, in milliseconds: ISO 8601 (a day alone is its UTC midnight), Unix epoch seconds or milliseconds, or a
 * span from now. Throws `usage` for anything else.
 *
 * @example readTime('2026-11-20', { source: '--since', nowMs, spans: 'ago' }) // 1795132800000
 */
export function readTime(text: string, { source, nowMs, spans }: Reading): number {
  if (spanForm.test(text)) return nowMs + span.read(text, source) * (spans === 'ago' ? -1 : 1);
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  const timeMs = Number.isNaN(number)
    ? isoForm.test(text)
      ? Date.parse(text)
      : Number.NaN
    : number * (number < firstMilliseconds ? 1000 : 1);
  if (!Number.isNaN(new Date(timeMs).getTime())) return timeMs;
  const like = `2026-11-20, 2026-11-20T08:00:00Z, 1795161600, or ${spans === 'ago' ? '2h for two hours ago' : '7d for seven days from now'}`;
  throw usage(`${source} must be a time such as ${like}, not "${text}".`);
}

/** A time of a record that counts in epoch seconds, or milliseconds from 10^11 on, as ISO 8601; whatever no calendar has stays as it is. */
export function shownEpoch(time: unknown): unknown {
  if (typeof time !== 'number') return time;
  const date = new Date(time < firstMilliseconds ? time * 1000 : time);
  return Number.isNaN(date.getTime()) ? time : date.toISOString();
}
