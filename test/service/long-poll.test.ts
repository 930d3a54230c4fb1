import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { longPoll } from '../../src/service/long-poll.ts';
import type { Store } from '../../src/store/store.ts';
import { ManualClock } from '../support/runtime/manual-clock.ts';

/** A long poll whose changes, timer and signal are controlled by the test. */
function poll({
  answers,
  aborted = false,
}: {
  answers: { value: string; settled: boolean }[];
  aborted?: boolean;
}) {
  const clock = new ManualClock();
  const disconnect = new AbortController();
  if (aborted) disconnect.abort();
  let wake: (() => void) | undefined;
  const store = {
    watch(_: string, call: () => void) {
      wake = call;
      return () => {
        wake = undefined;
      };
    },
  } as unknown as Store;
  const looks: ((error?: Error) => void)[] = [];
  /** Each look waits for the test, and returns the state from when it began. */
  const look = () => {
    const answer = answers.shift() ?? { value: 'late', settled: false };
    return new Promise<typeof answer>((resolve, reject) =>
      looks.push((error) => (error ? reject(error) : resolve(answer))),
    );
  };
  let answeredValue: string | undefined;
  const answer = longPoll(
    { store, clock },
    { topics: ['t'], forMs: 1000, signal: disconnect.signal, check: async () => {} },
    look,
  ).then((value) => {
    answeredValue = value;
    return value;
  });
  const completeLook = async () => {
    looks.shift()?.();
    await setImmediate();
  };
  return {
    clock,
    disconnect,
    answer,
    completeLook,
    failLook: (error: Error) => looks.shift()?.(error),
    wake: () => wake?.(),
    isWatching: () => wake !== undefined,
    /** Expects this answer, and that nothing is left behind. */
    expectEnd: (value: string | undefined) =>
      expect([answeredValue, wake, clock.waiting]).toEqual([value, undefined, 0]),
    answeredValue: () => answeredValue,
    pendingLooks: () => looks.length,
  };
}

const pending = { value: 'pending', settled: false };
const done = { value: 'done', settled: true };

describe('longPoll', () => {
  it('returns a settled value at once, and cleans up', async () => {
    const polling = poll({ answers: [done] });
    await polling.completeLook();
    polling.expectEnd('done');
  });

  it('looks again after a change, and keeps waiting if the value is not settled', async () => {
    const polling = poll({ answers: [pending, pending, done] });
    await polling.completeLook();
    expect(polling.pendingLooks()).toBe(0);
    polling.wake();
    await setImmediate();
    await polling.completeLook();
    expect([polling.answeredValue(), polling.pendingLooks()]).toEqual([undefined, 0]);
    polling.wake();
    await setImmediate();
    await polling.completeLook();
    expect(polling.answeredValue()).toBe('done');
  });

  it('looks again after a change during a look', async () => {
    const polling = poll({ answers: [pending, done] });
    polling.wake();
    await polling.completeLook();
    await polling.completeLook();
    expect(polling.answeredValue()).toBe('done');
  });

  it('looks once more when the time is over, also if it ends during a look', async () => {
    const polling = poll({ answers: [pending, { value: 'expired', settled: true }] });
    polling.clock.advance(1000);
    await polling.completeLook();
    expect(polling.answeredValue()).toBeUndefined();
    await polling.completeLook();
    expect(polling.answeredValue()).toBe('expired');
  });

  it('ends by its timer, also when the clock is set back meanwhile', async () => {
    const polling = poll({ answers: [pending, pending] });
    await polling.completeLook();
    const end = polling.clock.now() + 1000;
    polling.clock.set(end - 5000);
    polling.clock.advance(5000);
    await setImmediate();
    await polling.completeLook();
    polling.expectEnd('pending');
  });

  it('ends when the signal aborts', async () => {
    const polling = poll({ answers: [pending, pending] });
    await polling.completeLook();
    polling.disconnect.abort();
    await setImmediate();
    await polling.completeLook();
    polling.expectEnd('pending');
  });

  it('looks once for a client that is already disconnected', async () => {
    const polling = poll({ answers: [pending], aborted: true });
    await polling.completeLook();
    expect([polling.answeredValue(), polling.pendingLooks(), polling.isWatching()]).toEqual([
      'pending',
      0,
      false,
    ]);
  });

  it('rethrows the error of a look, and cleans up', async () => {
    const polling = poll({ answers: [] });
    polling.failLook(new Error('gone'));
    await expect(polling.answer).rejects.toThrow('gone');
    polling.expectEnd(undefined);
  });
});
