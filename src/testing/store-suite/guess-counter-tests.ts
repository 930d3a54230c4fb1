import assert from 'node:assert/strict';
import type { GuessCounter } from '../../domain/records/pairing-code.ts';
import type { GuessCounterChange, GuessCountersOfEach } from '../../store/store.ts';
import { assertMatches } from './assert-matches.ts';
import type { TestGroup } from './store-test.ts';

const minuteMs = 60_000;

/** Tests of `updateGuessCounters`. */
export function guessCounterTests({ it, store }: TestGroup): void {
  const once = (known: GuessCounter | undefined): GuessCounter => ({
    ...{
      times: [...(known?.times ?? []), 7],
      waitUntil: 1,
      waitMs: 2,
      forgetAt: Date.now() + minuteMs,
    },
  });
  /** Adds one attempt to each source. Returns the number of attempts for each source. */
  const attempt: GuessCounterChange<number[]> = (known) => {
    const attempts = known.map(once);
    return { attempts, result: attempts.map(({ times }) => times.length) };
  };
  const look: GuessCounterChange<GuessCountersOfEach> = (attempts) => ({
    attempts,
    result: attempts,
  });

  it('are stored by source', async () => {
    assert.deepEqual(await store.updateGuessCounters(['192.0.2.1'], look), [undefined]);
    for (const n of [1, 2])
      assert.deepEqual(await store.updateGuessCounters(['192.0.2.1'], attempt), [n]);
    assert.deepEqual(await store.updateGuessCounters(['192.0.2.2'], attempt), [1]);
    assertMatches(await store.updateGuessCounters(['192.0.2.1'], look), [
      { times: [7, 7], waitUntil: 1, waitMs: 2 },
    ]);
  });

  it('of several sources change together, in the order of the sources', async () => {
    await store.updateGuessCounters(['b'], attempt);
    assert.deepEqual(await store.updateGuessCounters(['c', 'b', 'a'], attempt), [1, 2, 1]);
    assertMatches(await store.updateGuessCounters(['a', 'b', 'c', 'd'], look), [
      { times: [7] },
      { times: [7, 7] },
      { times: [7] },
      undefined,
    ]);
  });

  it('that a change does not update stay the same', async () => {
    await store.updateGuessCounters(['a', 'b'], attempt);
    await store.updateGuessCounters(['a', 'b', 'c'], ([a, b]) => ({
      attempts: [a, once(b)],
      result: undefined,
    }));
    assertMatches(await store.updateGuessCounters(['a', 'b', 'c'], look), [
      { times: [7] },
      { times: [7, 7] },
      undefined,
    ]);
  });

  it('are incremented one after another by concurrent changes', async () => {
    const results = await Promise.all(
      Array.from({ length: 20 }, () => store.updateGuessCounters(['192.0.2.1'], attempt)),
    );
    assert.deepEqual(
      results.flat().toSorted((a, b) => a - b),
      Array.from({ length: 20 }, (_, n) => n + 1),
    );
  });

  it('are incremented one after another when changes share only some sources', async () => {
    const pairs = Array.from({ length: 24 }, (_, n) => ['all', `source ${n % 3}`]);
    await Promise.all(pairs.map((pair) => store.updateGuessCounters(pair, attempt)));
    assertMatches(
      await store.updateGuessCounters(['all', 'source 0', 'source 1', 'source 2'], look),
      [24, 8, 8, 8].map((count) => ({ times: Array(count).fill(7) })),
    );
  });

  it('stay the same after a change that threw', async () => {
    await store.updateGuessCounters(['192.0.2.1'], attempt);
    const failing = store.updateGuessCounters(['192.0.2.1'], () => {
      throw new Error('no');
    });
    await assert.rejects(failing, { message: 'no' });
    assert.deepEqual(await store.updateGuessCounters(['192.0.2.1'], attempt), [2]);
  });

  it('are evaluated at the store’s time', async () => {
    const { now } = await store.write(async (tx) => ({ now: tx.now }));
    const at = await store.updateGuessCounters(['192.0.2.1'], (attempts, nowMs) => ({
      attempts,
      result: nowMs,
    }));
    assert.ok(Math.abs(at - now) < minuteMs);
  });
}
