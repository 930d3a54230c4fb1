import { expect, it } from 'vitest';
import { forEachBounded } from '../../src/domain/concurrency.ts';

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
