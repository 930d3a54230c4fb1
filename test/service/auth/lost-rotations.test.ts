import { expect, it } from 'vitest';
import { openStore } from '../../../src/store/open.ts';
import { rotateUnderLoss } from '../../faults/rotations/load.ts';
import { freshDatabase } from '../../support/postgres.ts';

// The full suite is test/faults/rotations.full.ts.
it.each([
  ['one store', async () => [await openStore('memory:')], 10],
  [
    'two stores on one database',
    async () =>
      Promise.all([await freshDatabase()].flatMap((url) => [openStore(url), openStore(url)])),
    2,
  ],
] as const)(
  'after rotations with half of the answers lost, each TV has exactly one working key: %s',
  async (_, open, tvs) => {
    const [store, other] = await open();
    const load = { tvs, rotations: 10, seed: Date.now() };
    const { rotations, wrong, lost, answers } = await rotateUnderLoss(store!, load, other);
    expect(wrong).toEqual([]);
    expect(rotations).toBe(tvs * 10);
    expect(lost / answers).toBeGreaterThan(0.3);
    for (const one of new Set([store, other])) await one?.close();
  },
);
