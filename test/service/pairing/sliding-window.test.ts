import { describe, expect, it } from 'vitest';
import { currentGuesses, recordRefusal } from '../../../src/service/pairing/sliding-window.ts';

const windowMs = 900_000;
const guesses = { times: [1_000_000], waitUntil: 1_060_000, waitMs: 60_000, forgetAt: 0 };

describe('guesses in a store whose time was set back', () => {
  it('count while they are ahead by less than the window', () => {
    expect(currentGuesses(guesses, 1_000_000 - windowMs + 1, windowMs)).toBe(guesses);
  });

  it('are forgotten when they are further ahead, and what was to be waited for with them', () => {
    expect(currentGuesses(guesses, 1_000_000 - windowMs, windowMs)).toMatchObject({
      times: [],
      waitUntil: 0,
      waitMs: 0,
    });
  });

  it('make nobody wait for longer than was said', () => {
    expect(recordRefusal(guesses, 500_000)).toEqual({
      guesses,
      waitMs: 60_000,
      isFirstRefusal: false,
    });
  });
});
