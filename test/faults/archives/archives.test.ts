// Archives with something wrong in them are restored; many more of them in archives.full.ts.
import { expect, it } from 'vitest';
import { fuzzRestore } from './fuzz-restore.ts';
import { mutations } from './mutations.ts';

it('restores a backup as it was, or refuses it in one line and leaves nothing behind', {
  timeout: 120_000,
}, async () => {
  const { outcomes, messages, wrong } = await fuzzRestore({ seed: 'quick', count: 300 });
  expect(wrong).toEqual([]);
  expect(Object.keys(outcomes)).toHaveLength(Object.keys(mutations).length);
  for (const sound of [
    'the right size in base-256',
    'a PAX header that tells what is so',
    'zeros after the end',
  ])
    expect(outcomes[sound], sound).toMatchObject({ refused: 0 });
  // Refusals that are all for one reason would prove nothing.
  expect(messages.size).toBeGreaterThan(20);
});
