// Histories of concurrent calls about a screen must be linearizable, also across power cuts.
import { describe, expect, it } from 'vitest';
import { onCrashingDisk, onDatabase } from './fixture.ts';
import { runBindingScenario } from './scenario.ts';

const size = { instances: 1, screens: 2, clients: 5, calls: 8, cuts: 2 };

describe('concurrent codes, registrations, revocations and fetches of one screen', () => {
  it.each(Array.from({ length: 8 }, (_, n) => `scenario ${n}`))(
    'have an order, with power cuts between: %s',
    async (seed) => {
      expect((await runBindingScenario(seed, onCrashingDisk(), size)).found).toEqual([]);
    },
  );

  it('are linearizable on three instances and one database', async () => {
    expect(
      (
        await runBindingScenario('three instances', await onDatabase(), {
          ...size,
          instances: 3,
          cuts: 0,
        })
      ).found,
    ).toEqual([]);
  });
});
