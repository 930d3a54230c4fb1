import { join } from 'node:path';
import { expect } from 'vitest';
import { checkStore } from '../../../../src/store/maintenance/check.ts';
import { repairStore } from '../../../../src/store/maintenance/repair.ts';
import { temporaryFolder } from '../../../support/disk/temporary-folder.ts';
import type { ManualClock } from '../../../support/runtime/manual-clock.ts';
import { inStore } from '../../../support/service/in-store.ts';
import { holdings } from '../full-store.ts';
import { contentsOf } from '../store-folder.ts';

export async function damageIn(folder: string) {
  return (await checkStore(folder)).filter(({ level }) => level === 'damage');
}

/**
 * Repairs a folder into a new one, which must be undamaged. The old one must stay as it is. `held`
 * is what a store that was opened in the new folder holds.
 */
export async function repairedCopy(folder: string, clock: ManualClock) {
  const before = await contentsOf(folder);
  const into = join(await temporaryFolder(), 'new');
  const mended = await repairStore(folder, into, clock);
  expect(await contentsOf(folder)).toEqual(before);
  expect(await damageIn(into)).toEqual([]);
  return { into, mended, held: await inStore(into, holdings, { clock }) };
}
