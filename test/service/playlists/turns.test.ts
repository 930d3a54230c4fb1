import { describe, expect, it } from 'vitest';
import { Turns } from '../../../src/service/playlists/turns.ts';
import { gate } from '../../../src/testing/store-suite/store-test.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';

/** Adds turns that end at once, and returns the number of those that have begun. */
function begin(clock: ManualClock, count: number): { turns: Turns<number>; ended: () => number } {
  let ended = 0;
  const turns = new Turns<number>(clock, { perSecond: 2000, burst: 500 }, async () => {
    ended++;
  });
  for (let n = 0; n < count; n++) turns.add(n);
  return { turns, ended: () => ended };
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('Turns', () => {
  it('begins a single turn at once', async () => {
    const { ended } = begin(new ManualClock(), 1);
    await settle();
    expect(ended()).toBe(1);
  });

  it('begins a burst of 500, in rounds of 100, and then at most 2,000 a second', async () => {
    const clock = new ManualClock();
    const { turns, ended } = begin(clock, 2000);
    const pass = async (times: number) => {
      for (let ms = 0; ms < times; ms++) {
        clock.advance(1);
        await settle();
      }
    };
    await settle();
    expect(ended()).toBe(1);
    await pass(5);
    expect(ended()).toBe(101);
    await pass(25);
    expect(ended()).toBeGreaterThan(500);
    await pass(220);
    expect(ended()).toBeGreaterThan(900);
    expect(ended()).toBeLessThanOrEqual(1001);
    await pass(600);
    expect(ended()).toBe(2000);
    for (let n = 0; n < 500; n++) turns.add(n);
    await pass(50);
    expect(ended()).toBeLessThan(2500);
    await pass(250);
    expect(ended()).toBe(2500);
  });

  it('begins all turns within a given time', async () => {
    const clock = new ManualClock();
    const { turns, ended } = begin(clock, 50_000);
    turns.drainWithin(8000);
    for (let ms = 0; ms < 8100; ms += 5) {
      clock.advance(5);
      await settle();
    }
    expect(ended()).toBe(50_000);
  });

  it('begins no round before the turns of the round before have ended', async () => {
    const clock = new ManualClock();
    const begun: string[] = [];
    const { open: endFirst, opened: first } = gate();
    const turns = new Turns<string>(clock, { perSecond: 2000, burst: 500 }, async (name) => {
      begun.push(name);
      if (name === 'first') await first;
    });
    for (const name of ['first', 'second', 'third']) turns.add(name);
    clock.advance(1000);
    await settle();
    expect(begun).toEqual(['first']);
    endFirst();
    await settle();
    clock.advance(5);
    await settle();
    expect(begun).toEqual(['first', 'second', 'third']);
  });
});
