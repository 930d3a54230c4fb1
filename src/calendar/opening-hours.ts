import { BoundedMap } from '../domain/bounded-map.ts';
import { minuteMs } from '../domain/clock.ts';
import type { OpeningHours } from '../domain/hours/hours-text.ts';
import { dateOf, localClock, weekdayOf } from './local-clock.ts';
import { type Interval, intervalsOf } from './schedule-spans.ts';

const wholeDay = { from: '00:00', to: '00:00' };

/** Returns the times at which a place opens and closes, of those that begin on a local day. */
function timesOn({ hours, hoursExceptions }: OpeningHours, day: number) {
  const date = dateOf(day);
  const special = (hoursExceptions ?? []).filter(
    ({ dates }) => dates.from <= date && date <= dates.until,
  );
  if (special.length > 0) return special.filter(({ from }) => from !== undefined);
  if (hours === null || hours.length === 0) return [wholeDay];
  return hours.filter(({ days }) => days.includes(weekdayOf(day)));
}

/**
 * Returns when a place is open between two instants, in order and without overlaps
 * (docs/protocol.md §5.3). An entry opens on each of its days at `from`, and closes at the next
 * `to`. Without entries, a place is open on all days but those of its exceptions.
 */
export function openIntervals(given: OpeningHours, timezone: string, range: Interval): Interval[] {
  const clock = localClock(timezone, range.fromMs, range.untilMs);
  const found: Interval[] = [];
  // What opened on the day before may still be open.
  const last = clock.dayAt(range.untilMs);
  for (let day = clock.dayAt(range.fromMs) - 1; day <= last; day++) {
    const date = dateOf(day);
    const fromMs = clock.instantOf(day, 0, 'earlier');
    const times = { dates: { from: date, until: date } };
    for (const { from, to } of timesOn(given, day))
      for (const one of intervalsOf({ ...times, from, to }, clock, { fromMs, untilMs: fromMs }))
        found.push(one);
  }
  found.sort((one, other) => one.fromMs - other.fromMs);
  const open: Interval[] = [];
  for (const { fromMs, untilMs } of found) {
    const start = Math.max(fromMs, open.at(-1)?.untilMs ?? range.fromMs);
    const end = Math.min(untilMs, range.untilMs);
    if (start < end) open.push({ fromMs: start, untilMs: end });
  }
  return open;
}

/** Returns whether a place is open. */
export function isOpenAt(given: OpeningHours, timezone: string, timeMs: number): boolean {
  return openIntervals(given, timezone, { fromMs: timeMs, untilMs: timeMs + 1 }).length > 0;
}

/** Number of different hours whose answers are kept. */
const hoursKnown = 1024;
/** Answers by hours and time zone. Hours and offsets of time zones have whole minutes. */
const known = new BoundedMap<string, { minute: number; isOpen: boolean }>(hoursKnown);

/** Like `isOpenAt`, and fast for a fleet that asks again. */
export function isOpenNow(given: OpeningHours, timezone: string, nowMs: number): boolean {
  const minute = Math.floor(nowMs / minuteMs);
  const key = JSON.stringify([timezone, given.hours, given.hoursExceptions]);
  const found = known.get(key);
  if (found?.minute === minute) return found.isOpen;
  const isOpen = isOpenAt(given, timezone, minute * minuteMs);
  known.set(key, { minute, isOpen });
  return isOpen;
}
