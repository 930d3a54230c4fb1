import { describe, expect, it } from 'vitest';
import { currentGuesses, recordRefusal } from '../../../src/service/pairing/rate-policy.ts';

const windowMs = 900_000;
const guesses = { times: [1_000_000], waitUntil: 1_060_000, waitMs: 60_000, forgetAt: 0 };

describe('guesses after the clock of the store was set back', () => {
  it('count while they are less than a window in the future', () => {
    expect(currentGuesses(guesses, 1_000_000 - windowMs + 1, windowMs)).toBe(guesses);
  });

  it('are removed with their wait when they are further in the future', () => {
    expect(currentGuesses(guesses, 1_000_000 - windowMs, windowMs)).toMatchObject({
      times: [],
      waitUntil: 0,
      waitMs: 0,
    });
  });

  it('never extend the announced wait', () => {
    expect(recordRefusal(guesses, 500_000)).toEqual({
      guesses,
      waitMs: 60_000,
      isFirstRefusal: false,
    });
  });
});
