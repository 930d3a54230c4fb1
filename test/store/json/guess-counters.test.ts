import { describe, expect, it } from 'vitest';
import type { GuessCounter } from '../../../src/domain/records/pairing-code.ts';
import { MemoryGuessCounters } from '../../../src/store/json/guess-counters.ts';

const many = 100_000;
const tried: GuessCounter = { times: [1], waitUntil: 0, waitMs: 0, forgetAt: 2 };
const idle: GuessCounter = { ...tried, times: [] };

describe('MemoryGuessCounters', () => {
  const memory = new MemoryGuessCounters(() => 7);
  const put = (source: string, attempts: GuessCounter) =>
    memory.change([source], () => ({ attempts: [{ ...attempts }], result: undefined }));
  const has = (source: string) =>
    memory.change([source], (known) => ({ attempts: known, result: known[0] !== undefined }));

  it('evicts the counters that were changed longest ago', () => {
    for (const source of ['one', 'other', 'one']) put(source, tried);
    for (let n = 0; n < many - 1; n++) put(`source ${n}`, tried);
    expect([has('one'), has('other'), has('source 0')]).toEqual([true, false, true]);
  });

  it('never evicts counters with attempts in favour of counters without', () => {
    put('moved', idle);
    put('idle', idle);
    put('moved', tried);
    for (let n = 0; n < many; n++) put(`idle ${n}`, idle);
    expect([has('moved'), has('idle'), has('idle 0')]).toEqual([true, false, true]);
  });

  it('passes the store’s time to the change', () =>
    expect(memory.change([], (attempts, nowMs) => ({ attempts, result: nowMs }))).toBe(7));
});
