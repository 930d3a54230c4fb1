import { expect, it } from 'vitest';
import { failEverywhere } from './fail-everywhere.ts';

it('each disk operation fails in each possible way', async () => {
  const began = performance.now();
  const { bad, ...report } = await failEverywhere();
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(`disk faults: ${JSON.stringify({ ...report, bad: bad.length, seconds })}`);
  expect(bad.slice(0, 10)).toEqual([]);
});
