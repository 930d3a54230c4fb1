import { minuteMs, secondMs } from '../../domain/clock.ts';
import type { GuessCounter } from '../../domain/records/rows.ts';

const firstWaitMs = 60 * secondMs;
const maxWaitMs = 15 * minuteMs;
const emptyCounter: GuessCounter = { times: [], waitUntil: 0, waitMs: 0, forgetAt: 0 };

/**
 * Removes guesses that have left the sliding window. Without guesses, the wait ends too. Guesses in
 * the future, from before the clock was set back, count unless they are further away than the
 * window is long.
 */
export function currentGuesses(
  stored: GuessCounter = emptyCounter,
  nowMs: number,
  windowMs: number,
): GuessCounter {
  const counts = (time: number) => Math.abs(nowMs - time) < windowMs;
  if (stored.times.every(counts))
    return stored.times.length > 0 ? stored : { ...stored, waitUntil: 0, waitMs: 0 };
  const times = stored.times.filter(counts);
  return { ...stored, times, ...(times.length === 0 && { waitUntil: 0, waitMs: 0 }) };
}

/** Adds one guess. */
export function addGuess(guesses: GuessCounter, nowMs: number, windowMs: number): GuessCounter {
  return {
    ...guesses,
    times: [...guesses.times, nowMs],
    forgetAt: Math.max(guesses.forgetAt, nowMs + windowMs),
  };
}

/**
 * Exponential backoff: returns how long a refused caller must wait. A refusal after the announced
 * wait doubles the next one.
 */
export function recordRefusal(
  guesses: GuessCounter,
  nowMs: number,
): { guesses: GuessCounter; waitMs: number; isFirstRefusal: boolean } {
  const { waitUntil, waitMs } = guesses;
  const remainingMs = Math.min(waitUntil - nowMs, waitMs);
  if (remainingMs > 0) return { guesses, waitMs: remainingMs, isFirstRefusal: false };
  const nextMs = Math.min(waitMs === 0 ? firstWaitMs : waitMs * 2, maxWaitMs);
  return {
    guesses: { ...guesses, waitUntil: nowMs + nextMs, waitMs: nextMs },
    waitMs: nextMs,
    isFirstRefusal: waitMs === 0,
  };
}
