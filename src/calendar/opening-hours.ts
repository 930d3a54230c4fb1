import { BoundedMap } from '../domain/bounded-map.ts';
import { minuteMs } from '../domain/clock.ts';
import type { Hours } from '../domain/hours/hours-text.ts';
import { scheduleSpans } from './schedule-spans.ts';

/**
 * Returns whether a place is open (docs/protocol.md §5.3). An entry opens on each of its days at
 * `from`, and closes at the next `to`. Without entries, a place is always open.
 */
export function isOpenAt(hours: Hours, timezone: string, timeMs: number): boolean {
  if (hours.length === 0) return true;
  const [now] = scheduleSpans(hours, timezone, { fromMs: timeMs, untilMs: timeMs + 1 });
  return now?.place !== null;
}

/** Number of different hours whose answers are kept. */
const hoursKnown = 1024;
/** Answers by hours and time zone. Hours and offsets of time zones have whole minutes. */
const known = new BoundedMap<string, { minute: number; isOpen: boolean }>(hoursKnown);

/** Like `isOpenAt`, and fast for a fleet that asks again. */
export function isOpenNow(hours: Hours, timezone: string, nowMs: number): boolean {
  const minute = Math.floor(nowMs / minuteMs);
  const key = JSON.stringify([timezone, hours]);
  const found = known.get(key);
  if (found?.minute === minute) return found.isOpen;
  const isOpen = isOpenAt(hours, timezone, minute * minuteMs);
  known.set(key, { minute, isOpen });
  return isOpen;
}
