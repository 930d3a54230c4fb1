import { minuteMs } from '../../domain/clock.ts';

const minPauseMs = 5 * minuteMs;
const maxPauseMs = 60 * minuteMs;

/** Returns the pause after a number of reloads by the watchdog: 5 minutes, doubling to an hour. */
export const watchdogPauseMs = (count: number): number =>
  Math.min(minPauseMs * 2 ** Math.max(0, count - 1), maxPauseMs);
