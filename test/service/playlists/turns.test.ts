import { describe, expect, it } from 'vitest';
import { Turns } from '../../../src/service/playlists/turns.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** Begins turns that end at once, and returns the number of those that have ended. */
function begin(turns: Turns, count: number): () => number {
  let ended = 0;
  for (let n = 0; n < count; n++)
    void turns.begin().then(() => {
      ended++;
      turns.end();
    });
  return () => ended;
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('Turns', () => {
  it('begins a single turn at once', async () => {
    const ended = begin(new Turns(new ManualClock()), 1);
    await settle();
    expect(ended()).toBe(1);
  });

  it('begins at most 2,000 a second', async () => {
    const clock = new ManualClock();
    const ended = begin(new Turns(clock), 1000);
    for (let ms = 0; ms < 250; ms++) {
      clock.advance(1);
      await settle();
    }
    expect(ended()).toBeGreaterThan(450);
    expect(ended()).toBeLessThanOrEqual(511);
    for (let ms = 250; ms < 600; ms++) {
      clock.advance(1);
      await settle();
    }
    expect(ended()).toBe(1000);
  });

  it('begins all turns within a given time', async () => {
    const clock = new ManualClock();
    const turns = new Turns(clock);
    const ended = begin(turns, 50_000);
    turns.drainWithin(8000);
    for (let ms = 0; ms < 8100; ms += 5) {
      clock.advance(5);
      await settle();
    }
    expect(ended()).toBe(50_000);
  });

  it('begins no round before the turns of the round before have ended', async () => {
    const clock = new ManualClock();
    const turns = new Turns(clock);
    await turns.begin();
    const ended = begin(turns, 5);
    clock.advance(1000);
    await settle();
    expect(ended()).toBe(0);
    turns.end();
    clock.advance(5);
    await settle();
    expect(ended()).toBe(5);
  });
});
