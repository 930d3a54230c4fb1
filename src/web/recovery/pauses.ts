import { minuteMs } from '../../domain/clock.ts';

const minPauseMs = 5 * minuteMs;
const maxReloadPauseMs = 60 * minuteMs;

/**
 * Returns the pause after `count` reloads by the watchdog. It starts at 5 minutes, and doubles up
 * to an hour.
 */
export const watchdogPauseMs = (count: number): number =>
  Math.min(minPauseMs * 2 ** Math.max(0, count - 1), maxReloadPauseMs);

/**
 * Number of page loads without a pause. A person may load the page a few times before an item is
 * over.
 */
const freeStarts = 6;
const maxCrashPauseMs = 10 * minuteMs;

/**
 * Returns the pause before the player starts. `starts` is the number of unfinished page loads
 * (`CrashLoop`). After six of them, the pause is 1, 2, 4, 8 and then 10 minutes.
 */
export const crashPauseMs = (starts: number): number =>
  starts < freeStarts ? 0 : Math.min(minuteMs * 2 ** (starts - freeStarts), maxCrashPauseMs);
