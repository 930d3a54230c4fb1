import { dayMs } from '../../../src/domain/clock.ts';
import { type serve, serveOn } from '../../../src/serve.ts';
import { openStore } from '../../../src/store/location/open.ts';
import type { Store } from '../../../src/store/store.ts';

/** Makes a service believe jumps of its clock at once, as if it had run meanwhile. */
export function believeClock(store: Store): Promise<void> {
  return store.write((tx) =>
    tx.put('clocks', {
      id: 'clock',
      confirmedAt: tx.now + 1000 * dayMs,
      steadySince: null,
      ranMs: 0,
      wentBack: false,
      lookedAt: tx.now,
      setAt: null,
    }),
  );
}

/** Like `serve`, for tests that move the clock by hours or days at once. */
export const serveBelieving: typeof serve = (options = {}) =>
  serveOn(async (...given) => {
    const store = await openStore(...given);
    await believeClock(store);
    return store;
  }, options);
