import { weekdays } from '../domain/hours/hours-text.ts';
import type { EntryTimes } from '../domain/schedule/entry-times.ts';
import { dateAt, instantOf } from './local-time.ts';

/** A time during which one entry of a schedule holds, or none. In Unix epoch milliseconds. */
export interface Span {
  fromMs: number;
  untilMs: number;
  /** Place of the entry in the schedule. `null`: no entry holds. */
  place: number | null;
}

type Interval = Pick<Span, 'fromMs' | 'untilMs'>;

/** Returns when an entry holds between two instants. */
function intervalsOf(
  { days, from, to, dates, at, until }: EntryTimes,
  timezone: string,
  { fromMs, untilMs }: Interval,
): Interval[] {
  if (at != null) return [{ fromMs: at, untilMs: until ?? at }];
  const start = from ?? '00:00';
  const end = to ?? '00:00';
  const intervals: Interval[] = [];
  // An entry that begins on the day before may run past midnight.
  const first = dateAt(fromMs, timezone).subtract({ days: 1 });
  const last = dateAt(untilMs, timezone).toString();
  for (let date = first; date.toString() <= last; date = date.add({ days: 1 })) {
    const text = date.toString();
    const day = weekdays[date.dayOfWeek - 1];
    if (days && !days.some((one) => one === day)) continue;
    if ((dates?.from ?? text) > text || (dates?.until ?? text) < text) continue;
    const endDate = end > start ? date : date.add({ days: 1 });
    intervals.push({
      fromMs: instantOf(date.toPlainDateTime(start), timezone, 'earlier'),
      untilMs: instantOf(endDate.toPlainDateTime(end), timezone, 'later'),
    });
  }
  return intervals;
}

/**
 * Returns which entry holds when, without gaps: the first entry that holds wins (docs/protocol.md
 * §5.18). Neighbours have different places.
 *
 * @param timezone of the venue; only entries with `at` need none
 */
export function scheduleSpans(
  entries: readonly EntryTimes[],
  timezone: string,
  range: Interval,
): Span[] {
  const intervals = entries.map((entry) => intervalsOf(entry, timezone, range));
  const isWithin = (time: number) => time > range.fromMs && time < range.untilMs;
  const switches = intervals.flat().flatMap(({ fromMs, untilMs }) => [fromMs, untilMs]);
  const times = [...new Set([range.fromMs, ...switches.filter(isWithin)])].sort((a, b) => a - b);
  const spans: Span[] = [];
  for (const [index, fromMs] of times.entries()) {
    const untilMs = times[index + 1] ?? range.untilMs;
    const found = intervals.findIndex((ofEntry) =>
      ofEntry.some((one) => one.fromMs <= fromMs && fromMs < one.untilMs),
    );
    const place = found < 0 ? null : found;
    const last = spans.at(-1);
    if (last?.place === place) last.untilMs = untilMs;
    else spans.push({ fromMs, untilMs, place });
  }
  return spans;
}
