// Restores damaged dumps. The full suite is archives.full.ts.
import { expect, it } from 'vitest';
import { fileMutations } from './file-mutations.ts';
import { fuzzRestore } from './fuzz-restore.ts';
import { mutations } from './mutations.ts';

it('restores a damaged backup identically, or refuses it with line and reason, without leaving files', {
  timeout: 120_000,
}, async () => {
  const { outcomes, messages, wrong } = await fuzzRestore({ seed: 'quick', count: 200 });
  expect(wrong).toEqual([]);
  expect(Object.keys(outcomes)).toHaveLength(
    Object.keys(mutations).length + Object.keys(fileMutations).length,
  );
  // Different reasons, so that not all dumps fail at the same check.
  expect(messages.size).toBeGreaterThan(15);
});
