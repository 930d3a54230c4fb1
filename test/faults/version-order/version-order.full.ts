import fc from 'fast-check';
import { it } from 'vitest';
import { runScenario, scenario, ttlsMs, withoutRestarts } from '../../service/version-story.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';

it('the version that a TV gets never goes down, in 1,000 scenarios of faults', async () => {
  const property = fc.asyncProperty(scenario, ttlsMs, (steps, ttlMs) =>
    runScenario('memory:', ttlMs, withoutRestarts(steps)),
  );
  await fc.assert(property, { numRuns: 1000 });
});

it('the version that a TV gets never goes down across restarts, in 100 scenarios', async () => {
  const property = fc.asyncProperty(scenario, ttlsMs, async (steps, ttlMs) =>
    runScenario(await temporaryFolder(), ttlMs, steps),
  );
  await fc.assert(property, { numRuns: 100 });
});
