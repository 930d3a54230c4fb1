import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'vitest';
import { restoreDump } from '../../../../src/store/dump/restore-dump.ts';
import { writeDump } from '../../../../src/store/dump/write-dump.ts';
import { checkFolder } from '../../../../src/store/json/check/check-folder.ts';
import type { FileSystem } from '../../../../src/store/json/disk/file-system.ts';
import { FolderTarget } from '../../../../src/store/json/dump/folder-target.ts';
import { openJsonStore } from '../../../../src/store/json/open.ts';
import { readDamagedFolder } from '../../../../src/store/json/repair/damaged-folder.ts';
import { FolderFindings } from '../../../../src/store/json/repair/finding.ts';
import { checkStore } from '../../../../src/store/maintenance/check.ts';
import { type RepairOptions, repairStore } from '../../../../src/store/maintenance/repair.ts';
import { temporaryFolder } from '../../../support/disk/temporary-folder.ts';
import type { ManualClock } from '../../../support/runtime/manual-clock.ts';
import { inStore } from '../../../support/service/in-store.ts';
import { holdings } from '../full-store.ts';
import { contextOn } from '../part-rig.ts';
import { contentsOf } from '../store-folder.ts';

export async function damageIn(folder: string) {
  return (await checkStore(folder)).filter(({ level }) => level === 'damage');
}

/**
 * Repairs a folder into a new one, which must be undamaged. The old one must stay as it is. `held`
 * is what a store that was opened in the new folder holds.
 */
export async function repairedCopy(folder: string, clock: ManualClock, options?: RepairOptions) {
  const before = await contentsOf(folder);
  const into = join(await temporaryFolder(), 'new');
  const findings = await repairStore(folder, into, { clock, ...options });
  expect(await contentsOf(folder)).toEqual(before);
  expect(await damageIn(into)).toEqual([]);
  return { into, findings, held: await inStore(into, holdings, { clock }) };
}

/** Repairs `/data` of a disk into `/new`. */
export async function repairedDisk(disk: FileSystem, clock: ManualClock) {
  const log = new FolderFindings();
  const options = { random: randomBytes };
  const { source } = await readDamagedFolder(contextOn(disk, clock), log, options);
  const into = contextOn(disk, clock, '/new');
  const dump = writeDump(source, new Date(clock.now()).toISOString());
  await restoreDump(dump, new FolderTarget(into, async () => {}));
  const store = await openJsonStore(into, randomBytes, async () => {});
  const held = await holdings(store);
  await store.close();
  return { held, findings: log.all, damage: await checkFolder(into) };
}
