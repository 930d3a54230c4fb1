import { Temporal } from 'temporal-polyfill';
import { dayMs, minuteMs } from '../domain/clock.ts';
import { type Weekday, weekdays } from '../domain/hours/local-times.ts';

/** The local clock of a time zone. Days are counted from 1 January 1970. */
export interface LocalClock {
  /** Returns how far local time is ahead of UTC at an instant, in milliseconds. */
  offsetAt(timeMs: number): number;
  dayAt(timeMs: number): number;
  /** Returns the local time of day at an instant, in minutes. */
  minuteAt(timeMs: number): number;
  /** Returns the instants between two others at which the offset changes, and the change. */
  changesIn(fromMs: number, untilMs: number): { timeMs: number; byMs: number }[];
  /**
   * Returns the instant of a local time, in Unix epoch milliseconds. A time that the clocks skip is
   * the instant at which they do. A time that comes twice is the first or the second one.
   *
   * @param minute of the day; 1440 is the end of the day
   */
  instantOf(day: number, minute: number, which: 'earlier' | 'later'): number;
}

/** The first of January 1970 was a Thursday. */
const firstWeekday = weekdays.indexOf('thu');

/** Returns the name of a local day, counted from 1 January 1970. */
export function weekdayOf(day: number): Weekday {
  const place = (((day + firstWeekday) % weekdays.length) + weekdays.length) % weekdays.length;
  return weekdays[place] as Weekday;
}

/** Returns the date of a local day, such as `2026-12-24`. */
export function dateOf(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

/** A time with one offset from UTC. */
interface Period {
  fromMs: number;
  untilMs: number;
  offsetMs: number;
}

/** Local times differ from UTC by at most a day, and entries may begin on the day before. */
const marginMs = 3 * dayMs;

function periodsOf(timezone: string, fromMs: number, untilMs: number): Period[] {
  const periods: Period[] = [];
  let start = Temporal.Instant.fromEpochMilliseconds(fromMs - marginMs).toZonedDateTimeISO(
    timezone,
  );
  let startMs = Number.NEGATIVE_INFINITY;
  while (startMs < untilMs + marginMs) {
    const next = start.getTimeZoneTransition('next');
    const endMs = next?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
    const offsetMs = start.offsetNanoseconds / 1e6;
    periods.push({ fromMs: startMs, untilMs: endMs, offsetMs });
    if (!next) break;
    start = next;
    startMs = endMs;
  }
  return periods;
}

/**
 * Returns a clock for instants between two others, and for local times at most two days away from
 * them. It asks the time zone once, because one question takes as long as thousands of answers.
 */
export function localClock(timezone: string, fromMs: number, untilMs: number): LocalClock {
  const periods = periodsOf(timezone, fromMs, untilMs);
  const offsetAt = (timeMs: number) =>
    periods.find((period) => timeMs < period.untilMs)?.offsetMs ?? 0;
  const localAt = (timeMs: number) => timeMs + offsetAt(timeMs);
  const dayAt = (timeMs: number) => Math.floor(localAt(timeMs) / dayMs);
  return {
    offsetAt,
    dayAt,
    minuteAt: (timeMs) => Math.floor((localAt(timeMs) - dayAt(timeMs) * dayMs) / minuteMs),
    changesIn: (startMs, endMs) =>
      periods.flatMap(({ fromMs: timeMs, offsetMs }, index) => {
        const before = periods[index - 1];
        if (!before || timeMs < startMs || timeMs >= endMs) return [];
        return offsetMs === before.offsetMs ? [] : [{ timeMs, byMs: offsetMs - before.offsetMs }];
      }),
    instantOf(day, minute, which) {
      const localMs = day * dayMs + minute * minuteMs;
      const isWithin = (period: Period) => {
        const timeMs = localMs - period.offsetMs;
        return period.fromMs <= timeMs && timeMs < period.untilMs;
      };
      const found = which === 'earlier' ? periods.find(isWithin) : periods.findLast(isWithin);
      if (found) return localMs - found.offsetMs;
      const skipped = periods.find(({ fromMs: start, offsetMs }) => localMs - offsetMs < start);
      return skipped?.fromMs ?? localMs;
    },
  };
}
