import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openStore } from '../../../src/store/open.ts';
import { type Action, scenarios, runRotations } from '../../faults/rotations/scenario.ts';

it('whatever order of rotations, old repeats and uses: what was replaced stays dead, and at most one key waits', async () => {
  const tell = async (actions: readonly Action[]) => {
    const store = await openStore('memory:');
    expect(await runRotations(actions, store)).toEqual([]);
    await store.close();
  };
  // More of them than dead keys are remembered, and then the first again.
  const many: Action[] = [0, 1, 2, 3, 4, 5, 0].map((secret) => ({ do: 'rotate', secret }));
  await fc.assert(fc.asyncProperty(scenarios, tell), { numRuns: 25, examples: [[many]] });
});
