import type { EntryTimes } from '../domain/schedule/entry-times.ts';
import { dateOf, type LocalClock, localClock, weekdayOf } from './local-clock.ts';

/** A time during which one entry of a schedule holds, or none. In Unix epoch milliseconds. */
export interface Span {
  fromMs: number;
  untilMs: number;
  /** Place of the entry in the schedule. `null`: no entry holds. */
  place: number | null;
}

/** In Unix epoch milliseconds. */
export type Interval = Pick<Span, 'fromMs' | 'untilMs'>;

const minutesOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

/** Whether the entry begins on a local day. */
function beginsOn({ days, dates }: EntryTimes, day: number): boolean {
  if (days && !days.includes(weekdayOf(day))) return false;
  if (!dates) return true;
  const date = dateOf(day);
  return (dates.from ?? date) <= date && (dates.until ?? date) >= date;
}

/** Returns when an entry holds between two instants, whatever other entries hold. */
export function intervalsOf(entry: EntryTimes, clock: LocalClock, range: Interval): Interval[] {
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
  const switches = entries.flatMap((entry, place) =>
    intervalsOf(entry, clock, range)
      .filter(({ fromMs, untilMs }) => Math.max(fromMs, range.fromMs) < untilMs)
      .flatMap(({ fromMs, untilMs }) => [
        { timeMs: Math.max(fromMs, range.fromMs), place, step: 1 },
        { timeMs: untilMs, place, step: -1 },
      ]),
  );
  switches.sort((one, other) => one.timeMs - other.timeMs);
  // An entry may begin again before it ends: its end may come twice.
  const holding = entries.map(() => 0);
  const spans: Span[] = [];
  let fromMs = range.fromMs;
  const endAt = (untilMs: number) => {
    if (untilMs <= fromMs) return;
    const found = holding.findIndex((count) => count > 0);
    const place = found < 0 ? null : found;
    const last = spans.at(-1);
    if (last?.place === place) last.untilMs = untilMs;
    else spans.push({ fromMs, untilMs, place });
    fromMs = untilMs;
  };
  for (const { timeMs, place, step } of switches) {
    endAt(Math.min(timeMs, range.untilMs));
    holding[place] = (holding[place] ?? 0) + step;
  }
  endAt(range.untilMs);
  return spans;
}
