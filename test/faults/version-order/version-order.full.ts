import fc from 'fast-check';
import { it } from 'vitest';
import { playStory, story, ttlsMs, withoutRestarts } from '../../service/version-story.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

it('the version that a TV gets never goes down, in 1,000 scenarios of faults', async () => {
  const property = fc.asyncProperty(story, ttlsMs, (steps, ttlMs) =>
    playStory('memory:', ttlMs, withoutRestarts(steps)),
  );
  await fc.assert(property, { numRuns: 1000 });
});

it('nor across restarts, in 100', async () => {
  const property = fc.asyncProperty(story, ttlsMs, async (steps, ttlMs) =>
    playStory(await temporaryFolder(), ttlMs, steps),
  );
  await fc.assert(property, { numRuns: 100 });
});
