import { expect, it } from 'vitest';
import { runHostileUploads } from './hostile-uploads.ts';

it('60 hostile uploads: each gets its status, and nothing is served as another type', async () => {
  const { wrong, outcomes } = await runHostileUploads(1, 60);
  expect(wrong).toEqual([]);
  expect(Object.keys(outcomes).length).toBeGreaterThan(5);
});
