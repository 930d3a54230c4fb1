import { expect, it } from 'vitest';
import { runHostileFiles } from './run-hostile-files.ts';

it('200 hostile files stay within the limits, and healthy ones are accepted', async () => {
  const { wrong, outcomes } = await runHostileFiles(1, 200);
  expect(wrong).toEqual([]);
  expect(Object.keys(outcomes).length).toBeGreaterThan(10);
});
