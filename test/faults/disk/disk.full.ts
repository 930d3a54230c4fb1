import { expect, it } from 'vitest';
import { copyInUse } from './copy-in-use.ts';
import { damageEverywhere } from './damage-everywhere.ts';
import { failEverywhere } from './fail-everywhere.ts';
import { repairEverywhere } from './repair-everywhere.ts';
import { repairedCounts } from './repaired-counts.ts';

/** Runs a search, prints its report, and returns it. */
async function searched<R extends { bad: string[] }>(what: string, search: () => Promise<R>) {
  const began = performance.now();
  const report = await search();
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(`${what}: ${JSON.stringify({ ...report, bad: report.bad.length, seconds })}`);
  expect(report.bad.slice(0, 10)).toEqual([]);
  return report;
}

it.each([true, false])(
  'each file of a store with each byte changed, cut short at each, and gone (stopped before: %s)',
  async (clean) => {
    const what = `damage, ${clean ? 'stopped' : 'crashed'} before`;
    const { earlier } = await searched(what, () => damageEverywhere({ clean, everyBytes: 1 }));
    if (clean) expect(earlier).toBe(0);
  },
);

it('each disk operation fails in each possible way', () => searched('disk faults', failEverywhere));

it('1,000 damaged folders are repaired', () =>
  searched('repairs', () =>
    repairEverywhere({ folders: 1000, seed: process.env.FUZZ_SEED ?? 'repairs' }),
  ));

it('4,000 folders with damaged counts are repaired', () =>
  searched('repairs of counts', () => repairedCounts(4000, process.env.FUZZ_SEED)));

it('10,000 copies of a folder in use', () => searched('copies in use', () => copyInUse(10_000)));
