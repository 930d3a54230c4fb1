import { expect, it } from 'vitest';
import { damageEverywhere } from './damage-everywhere.ts';
import { failEverywhere } from './fail-everywhere.ts';
import { repairEverywhere } from './repair-everywhere.ts';
import { repairedCounts } from './repaired-counts.ts';

// disk.full.ts damages every byte and fails every operation.
it('damage of a store after a clean stop is reported or harmless', async () => {
  const { bad, earlier, ...report } = await damageEverywhere({ clean: true, everyBytes: 331 });
  expect([bad, earlier]).toEqual([[], 0]);
  expect(report.files).toBeGreaterThan(15);
  expect(report.refused).toBeGreaterThan(100);
});

it('damage of a store after a crash is reported, harmless, or equal to an earlier crash', async () => {
  const { bad, earlier, damages } = await damageEverywhere({ clean: false, everyBytes: 331 });
  expect(bad).toEqual([]);
  expect(earlier).toBeLessThan(damages / 5);
});

it('a repair of a damaged store keeps every whole line, invents nothing, and reports what is lost', async () => {
  const { bad, ...report } = await repairEverywhere({ folders: 40 });
  expect(bad).toEqual([]);
  expect(report.folders).toBe(40);
  expect(report.whole).toBeGreaterThan(5);
  expect(report.lost).toBeGreaterThan(10);
});

it('a repair counts no play twice, and says where it may have lost some', async () => {
  const { bad, exact, reported } = await repairedCounts(40);
  expect(bad).toEqual([]);
  expect(exact).toBeGreaterThan(15);
  expect(reported).toBeGreaterThan(3);
});

it('a failing disk operation loses no acknowledged data, and the store works again when the disk does', async () => {
  const { bad, lives, operations } = await failEverywhere({ every: 149, first: 5 });
  expect(bad).toEqual([]);
  expect(lives).toBeGreaterThan(7);
  expect(operations).toBeGreaterThan(700);
});
