import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openStore } from '../../../src/store/location/open.ts';
import { type Action, runRotations, scenarios } from '../../faults/rotations/scenario.ts';

it('in any order of rotations, repeats and uses, replaced keys stay revoked and at most one key is pending', async () => {
  const tell = async (actions: readonly Action[]) => {
    const store = await openStore('memory:');
    expect(await runRotations(actions, store)).toEqual([]);
    await store.close();
  };
  // More rotations than revoked keys are kept, and then the first again.
  const many: Action[] = [0, 1, 2, 3, 4, 5, 0].map((secret) => ({ do: 'rotate', secret }));
  await fc.assert(fc.asyncProperty(scenarios, tell), { numRuns: 10, examples: [[many]] });
});
