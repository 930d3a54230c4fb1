import { dayMs } from '../domain/clock.ts';
import { type Weekday, weekdays } from '../domain/hours/hours-text.ts';
import type { EntryTimes } from '../domain/schedule/entry-times.ts';
import { type LocalClock, localClock } from './local-clock.ts';

/** A time during which one entry of a schedule holds, or none. In Unix epoch milliseconds. */
export interface Span {
  fromMs: number;
  untilMs: number;
  /** Place of the entry in the schedule. `null`: no entry holds. */
  place: number | null;
}

type Interval = Pick<Span, 'fromMs' | 'untilMs'>;

/** The first of January 1970 was a Thursday. */
const firstWeekday = weekdays.indexOf('thu');

/** Returns the name of a local day, counted from 1 January 1970. */
function weekdayOf(day: number): Weekday {
  const place = (((day + firstWeekday) % weekdays.length) + weekdays.length) % weekdays.length;
  return weekdays[place] as Weekday;
}

/** Returns the date of a local day, such as `2026-12-24`. */
function dateOf(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

const minutesOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

/** Whether the entry begins on a local day. */
function beginsOn({ days, dates }: EntryTimes, day: number): boolean {
  if (days && !days.includes(weekdayOf(day))) return false;
  if (!dates) return true;
  const date = dateOf(day);
  return (dates.from ?? date) <= date && (dates.until ?? date) >= date;
}

/** Returns when an entry holds between two instants. */
function intervalsOf(entry: EntryTimes, clock: LocalClock, range: Interval): Interval[] {
  const { at, until } = entry;
  if (at != null) return [{ fromMs: at, untilMs: until ?? at }];
  const start = minutesOf(entry.from ?? '00:00');
  const end = minutesOf(entry.to ?? '00:00');
  const endDay = end > start ? 0 : 1;
  const intervals: Interval[] = [];
  // An entry that begins on the day before may run past midnight.
  const last = clock.dayAt(range.untilMs);
  for (let day = clock.dayAt(range.fromMs) - 1; day <= last; day++) {
    if (!beginsOn(entry, day)) continue;
    intervals.push({
      fromMs: clock.instantOf(day, start, 'earlier'),
      untilMs: clock.instantOf(day + endDay, end, 'later'),
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
  const clock = localClock(timezone, range.fromMs, range.untilMs);
  const intervals = entries.map((entry) => intervalsOf(entry, clock, range));
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
