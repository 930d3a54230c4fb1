import { describe, expect, it } from 'vitest';
import { coalesced, forEachBounded, mapInTurn } from '../../src/domain/concurrency.ts';

const soon = () => new Promise<void>((done) => setImmediate(done));

it('processes all items in order, up to the limit at a time', async () => {
  const [begun, busy]: [number[], { now: number; most: number }] = [[], { now: 0, most: 0 }];
  await forEachBounded([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    begun.push(item);
    busy.most = Math.max(busy.most, ++busy.now);
    await soon();
    busy.now--;
  });
  expect(begun).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(busy).toEqual({ now: 0, most: 3 });
});

it('starts nothing more after an error, and waits for pending work', async () => {
  const [begun, ended]: number[][] = [[], []];
  const work = forEachBounded([1, 2, 3, 4, 5], 2, async (item) => {
    begun!.push(item);
    if (item === 1) throw new Error('one');
    await soon();
    ended!.push(item);
  });
  await expect(work).rejects.toThrow('one');
  expect({ begun, ended }).toEqual({ begun: [1, 2], ended: [2] });
});

it('resolves for no items', async () => {
  await forEachBounded([], 4, () => Promise.reject(new Error('never')));
});

it('returns the results of work that runs one item after the other', async () => {
  const steps: string[] = [];
  const results = await mapInTurn([1, 2], async (item) => {
    steps.push(`${item} begins`);
    await soon();
    steps.push(`${item} ends`);
    return 10 * item;
  });
  expect(results).toEqual([10, 20]);
  expect(steps).toEqual(['1 begins', '1 ends', '2 begins', '2 ends']);
});

describe('repeated work', () => {
  it('runs once more for calls during a run, whenever they come', async () => {
    let changes = 0;
    let seen = 0;
    const { run } = coalesced(async () => {
      const now = changes;
      await null;
      seen = now;
    });
    for (let delay = 0; delay < 20; delay++) {
      changes++;
      const first = run();
      for (let turn = 0; turn < delay; turn++) await null;
      changes++;
      await run();
      await first;
      expect(seen, `after ${delay} turns`).toBe(changes);
    }
  });

  it('passes a failure on, and runs again at the next call', async () => {
    let runs = 0;
    const { run, idle } = coalesced(async () => {
      runs++;
      if (runs === 1) throw new Error('broken');
    });
    const failing = run();
    await idle();
    await expect(failing).rejects.toThrow('broken');
    await run();
    expect(runs).toBe(2);
  });
});
