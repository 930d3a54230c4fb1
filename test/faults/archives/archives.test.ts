// Restores damaged archives. The full suite is archives.full.ts.
import { expect, it } from 'vitest';
import { fuzzRestore } from './fuzz-restore.ts';
import { mutations } from './mutations.ts';

it('restores a damaged backup identically, or refuses it in one line without leaving files', {
  timeout: 120_000,
}, async () => {
  const { outcomes, messages, wrong } = await fuzzRestore({ seed: 'quick', count: 150 });
  expect(wrong).toEqual([]);
  expect(Object.keys(outcomes)).toHaveLength(Object.keys(mutations).length);
  for (const sound of [
    'the right size in base-256',
    'a PAX header that tells what is so',
    'zeros after the end',
  ])
    expect(outcomes[sound], sound).toMatchObject({ refused: 0 });
  // Different reasons, so that not all archives fail at the same check.
  expect(messages.size).toBeGreaterThan(20);
});
