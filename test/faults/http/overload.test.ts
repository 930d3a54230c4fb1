// Under overload the goodput stays, and rejected clients are told when to retry (docs/protocol.md
// §1.8).
import { expect, it } from 'vitest';
import { modelOverload, varied } from './overload.ts';

it('keeps its goodput at five and ten times its capacity, and spreads the retries of rejected clients', async () => {
  expect(await modelOverload({ random: varied() })).toEqual([]);
});
