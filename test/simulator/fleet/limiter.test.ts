import { expect, it } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { ConcurrencyLimiter, makeVirtualClock } from '../../../src/simulator/tv/virtual-clock.ts';
import { turns } from '../../support/runtime/turns.ts';

it('limits the number of busy TVs, and admits the others in order', async () => {
  const limiter = new ConcurrencyLimiter(2);
  const [begun, ends, busy]: [number[], (() => void)[], { now: number; most: number }] = [
    [],
    [],
    { now: 0, most: 0 },
  ];
  for (let tv = 1; tv <= 5; tv++) {
    const clock = makeVirtualClock({
      speed: Number.POSITIVE_INFINITY,
      startMs: 0,
      wall: systemClock,
      limiter,
    });
    const ask = async () => {
      begun.push(tv);
      busy.most = Math.max(busy.most, ++busy.now);
      await clock.hold(() => new Promise<void>((resolve) => ends.push(resolve)));
      busy.now--;
    };
    // Like a TV, whose loop wakes before it sends a request.
    clock.after(1, () => void Promise.resolve().then(ask));
  }
  await turns();
  expect(begun).toEqual([1, 2]);
  ends.shift()!();
  await turns();
  expect(begun).toEqual([1, 2, 3]);
  for (let round = 0; round < 4; round++) {
    for (const end of ends.splice(0)) end();
    await turns();
  }
  expect({ begun, busy }).toEqual({ begun: [1, 2, 3, 4, 5], busy: { now: 0, most: 2 } });
});

it('removes a cancelled step from the queue', async () => {
  const limiter = new ConcurrencyLimiter(1);
  limiter.enter();
  const stepped: string[] = [];
  const cancel = limiter.wait(() => stepped.push('cancelled'));
  limiter.wait(() => stepped.push('next'));
  cancel();
  limiter.leave();
  await turns();
  expect(stepped).toEqual(['next']);
  expect(limiter.isOpen).toBe(true);
});
