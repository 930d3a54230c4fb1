import { minuteMs } from '../../domain/clock.ts';

const minPauseMs = 5 * minuteMs;
const maxReloadPauseMs = 60 * minuteMs;

/** Returns the pause after a number of reloads by the watchdog: 5 minutes, doubling to an hour. */
export const watchdogPauseMs = (count: number): number =>
  Math.min(minPauseMs * 2 ** Math.max(0, count - 1), maxReloadPauseMs);

/** A person may load the page a few times before an item is over. */
const freeStarts = 6;
const maxCrashPauseMs = 10 * minuteMs;

/**
 * Returns the pause before a start, after a number of starts in a row that showed nothing to its
 * end: 1, 2, 4 … 10 minutes after six of them.
 */
export const crashPauseMs = (starts: number): number =>
  starts < freeStarts ? 0 : Math.min(minuteMs * 2 ** (starts - freeStarts), maxCrashPauseMs);
