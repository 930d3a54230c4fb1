import { minuteMs, secondMs } from '../../domain/clock.ts';
import type { GuessCounter } from '../../domain/records/rows.ts';

const firstWaitMs = 60 * secondMs;
const longestWaitMs = 15 * minuteMs;
const none: GuessCounter = { times: [], waitUntil: 0, waitMs: 0, forgetAt: 0 };

/**
 * What still counts of the guesses of a sliding window; with the last of them goes the wait, too. Those that a clock which was set back has put into the
 * future count unless they are further away than the window is long.
 */
export function standing(
  known: GuessCounter = none,
  nowMs: number,
  windowMs: number,
): GuessCounter {
  const counts = (time: number) => Math.abs(nowMs - time) < windowMs;
  if (known.times.every(counts))
    return known.times.length > 0 ? known : { ...known, waitUntil: 0, waitMs: 0 };
  const times = known.times.filter(counts);
  return { ...known, times, ...(times.length === 0 && { waitUntil: 0, waitMs: 0 }) };
}

/** The same with one more. */
export function counted(guesses: GuessCounter, nowMs: number, windowMs: number): GuessCounter {
  return {
    ...guesses,
    times: [...guesses.times, nowMs],
    forgetAt: Math.max(guesses.forgetAt, nowMs + windowMs),
  };
}

/** How long a refused caller is told to wait. Each time that the announced wait was sat out in vain, the next one is twice as long. */
export function refused(
  guesses: GuessCounter,
  nowMs: number,
): { guesses: GuessCounter; waitMs: number; begins: boolean } {
  const { waitUntil, waitMs } = guesses;
  const left = Math.min(waitUntil - nowMs, waitMs);
  if (left > 0) return { guesses, waitMs: left, begins: false };
  const next = Math.min(waitMs === 0 ? firstWaitMs : waitMs * 2, longestWaitMs);
  return {
    guesses: { ...guesses, waitUntil: nowMs + next, waitMs: next },
    waitMs: next,
    begins: waitMs === 0,
  };
}
