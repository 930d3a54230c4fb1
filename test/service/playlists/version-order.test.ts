import fc from 'fast-check';
import { describe, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { runScenario, scenario, ttlsMs, withoutRestarts } from '../version-story.ts';

// The full suite is test/faults/version-order.full.ts.
describe('the playlist version of a TV', () => {
  it('never decreases, and never has two contents, with any failures in any order', async () => {
    const property = fc.asyncProperty(scenario, ttlsMs, (steps, ttlMs) =>
      runScenario('memory:', ttlMs, withoutRestarts(steps)),
    );
    await fc.assert(property, { numRuns: 15 });
  }, 60_000);

  it('never decreases across restarts on a data folder', async () => {
    const property = fc.asyncProperty(scenario, ttlsMs, async (steps, ttlMs) =>
      runScenario(await temporaryFolder(), ttlMs, steps),
    );
    await fc.assert(property, { numRuns: 2 });
  }, 60_000);
});
