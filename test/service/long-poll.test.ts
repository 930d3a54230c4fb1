import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { longPoll } from '../../src/service/long-poll.ts';
import type { Store } from '../../src/store/store.ts';
import { ManualClock } from '../support/manual-clock.ts';

/** A long poll whose changes, timer and signal are controlled by the test. */
function poll({
  answers,
  aborted = false,
}: {
  answers: { value: string; settled: boolean }[];
  aborted?: boolean;
}) {
  const clock = new ManualClock();
  const gone = new AbortController();
  if (aborted) gone.abort();
  let wake: (() => void) | undefined;
  const store = {
    watch(_: string, call: () => void) {
      wake = call;
      return () => {
        wake = undefined;
      };
    },
  } as unknown as Store;
  const looks: (() => void)[] = [];
  /** Each look waits for the test, and returns the state from when it began. */
  const look = () => {
    const answer = answers.shift() ?? { value: 'late', settled: false };
    return new Promise<typeof answer>((resolve) => looks.push(() => resolve(answer)));
  };
  let answered: string | undefined;
  const answer = longPoll(
    { store, clock },
    { topic: 't', forMs: 1000, signal: gone.signal, check: async () => {} },
    look,
  ).then((value) => {
    answered = value;
    return value;
  });
  const letLook = async () => {
    looks.shift()?.();
    await setImmediate();
  };
  return {
    clock,
    gone,
    answer,
    letLook,
    wake: () => wake?.(),
    watching: () => wake !== undefined,
    answered: () => answered,
    looking: () => looks.length,
  };
}

const pending = { value: 'pending', settled: false };
const done = { value: 'done', settled: true };

describe('longPoll', () => {
  it('returns a settled value at once, and cleans up', async () => {
    const held = poll({ answers: [done] });
    await held.letLook();
    expect([held.answered(), held.watching(), held.clock.waiting]).toEqual(['done', false, 0]);
  });

  it('looks again after a change, and keeps waiting if the value is not settled', async () => {
    const held = poll({ answers: [pending, pending, done] });
    await held.letLook();
    expect(held.looking()).toBe(0);
    held.wake();
    await setImmediate();
    await held.letLook();
    expect([held.answered(), held.looking()]).toEqual([undefined, 0]);
    held.wake();
    await setImmediate();
    await held.letLook();
    expect(held.answered()).toBe('done');
  });

  it('looks again after a change during a look', async () => {
    const held = poll({ answers: [pending, done] });
    held.wake();
    await held.letLook();
    await held.letLook();
    expect(held.answered()).toBe('done');
  });

  it('looks once more when the time is over, also if it ends during a look', async () => {
    const held = poll({ answers: [pending, { value: 'expired', settled: true }] });
    held.clock.advance(1000);
    await held.letLook();
    expect(held.answered()).toBeUndefined();
    await held.letLook();
    expect(held.answered()).toBe('expired');
  });

  it('ends by its timer, also when the clock is set back meanwhile', async () => {
    const held = poll({ answers: [pending, pending] });
    await held.letLook();
    const end = held.clock.now() + 1000;
    held.clock.set(end - 5000);
    held.clock.advance(5000);
    await setImmediate();
    await held.letLook();
    expect([held.answered(), held.watching(), held.clock.waiting]).toEqual(['pending', false, 0]);
  });

  it('ends when the signal aborts', async () => {
    const held = poll({ answers: [pending, pending] });
    await held.letLook();
    held.gone.abort();
    await setImmediate();
    await held.letLook();
    expect([held.answered(), held.watching(), held.clock.waiting]).toEqual(['pending', false, 0]);
  });

  it('looks once for a client that is already disconnected', async () => {
    const held = poll({ answers: [pending], aborted: true });
    await held.letLook();
    expect([held.answered(), held.looking(), held.watching()]).toEqual(['pending', 0, false]);
  });

  it('rethrows the error of a look, and cleans up', async () => {
    const clock = new ManualClock();
    let watching = false;
    const store = {
      watch() {
        watching = true;
        return () => {
          watching = false;
        };
      },
    } as unknown as Store;
    const failing = () => Promise.reject(new Error('gone'));
    const poll = {
      topic: 't',
      forMs: 1,
      signal: new AbortController().signal,
      check: async () => {},
    };
    await expect(longPoll({ store, clock }, poll, failing)).rejects.toThrow('gone');
    expect([watching, clock.waiting]).toEqual([false, 0]);
  });
});
