// More requests than get through: as many are answered as ever, and the others are told when to
// come again (docs/protocol.md §1.8).
import { expect, it } from 'vitest';
import { modelOverload, varied } from './overload.ts';

it('answers as much as ever under five and ten times as much, and tells the others to come again at different times', async () => {
  expect(await modelOverload({ random: varied() })).toEqual([]);
});
