import { expect, it } from 'vitest';
import { copyInUse } from './copy-in-use.ts';

it('10,000 copies of a folder in use', async () => {
  const began = performance.now();
  const { bad, ...report } = await copyInUse(10_000);
  console.log(
    `copies in use: ${JSON.stringify({ ...report, bad: bad.length, seconds: Math.round((performance.now() - began) / 1000) })}`,
  );
  expect(bad.slice(0, 10)).toEqual([]);
});
