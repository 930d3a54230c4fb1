import { BoundedMap } from '../domain/bounded-map.ts';
import { minuteMs } from '../domain/clock.ts';
import type { OpeningHours } from '../domain/hours/hours-text.ts';
import { dateOf, localClock, weekdayOf } from './local-clock.ts';
import { intervalsOf } from './schedule-spans.ts';

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
 * Returns whether a place is open (docs/protocol.md §5.3). An entry opens on each of its days at
 * `from`, and closes at the next `to`. Without entries, a place is open on all days but those of
 * its exceptions.
 */
export function isOpenAt(given: OpeningHours, timezone: string, timeMs: number): boolean {
  const range = { fromMs: timeMs, untilMs: timeMs + 1 };
  const clock = localClock(timezone, range.fromMs, range.untilMs);
  const today = clock.dayAt(timeMs);
  // What opened on the day before may still be open.
  return [today - 1, today].some((day) => {
    const date = dateOf(day);
    return timesOn(given, day).some(({ from, to }) =>
      intervalsOf({ from, to, dates: { from: date, until: date } }, clock, range).some(
        ({ fromMs, untilMs }) => fromMs <= timeMs && timeMs < untilMs,
      ),
    );
  });
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
