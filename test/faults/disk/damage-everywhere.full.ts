import { expect, it } from 'vitest';
import { damageEverywhere } from './damage-everywhere.ts';

it.each([true, false])(
  'each file of a store with each byte changed, cut short at each, and gone (stopped before: %s)',
  async (clean) => {
    const began = performance.now();
    const { bad, ...report } = await damageEverywhere({ clean, everyBytes: 1 });
    const seconds = Math.round((performance.now() - began) / 1000);
    console.log(
      `damage, ${clean ? 'stopped' : 'crashed'} before: ${JSON.stringify({ ...report, bad: bad.length, seconds })}`,
    );
    expect(bad.slice(0, 10)).toEqual([]);
    if (clean) expect(report.earlier).toBe(0);
  },
);
