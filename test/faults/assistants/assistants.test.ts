import { expect, it } from 'vitest';
import { changeNothing } from './checker.ts';

// assistants.full.ts makes 500 calls of another seed each time.
it('80 generated calls change nothing', async () => {
  expect(await changeNothing(80, 20261130)).toMatchObject({ plans: expect.any(Number) });
});
