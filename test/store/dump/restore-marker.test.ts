import { cpSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/store/location/open.ts';
import { checkStore } from '../../../src/store/maintenance/check.ts';
import { copyStore } from '../../../src/store/maintenance/copy.ts';
import { repairStore } from '../../../src/store/maintenance/repair.ts';
import { restoreStore } from '../../../src/store/maintenance/restore.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { contentsOf } from '../json/store-folder.ts';
import { add, bytesOf, streamOf } from './backup-load.ts';

async function backup(): Promise<Uint8Array> {
  const clock = new ManualClock();
  const store = await openStore('memory:', { clock });
  await add(store, clock, 1);
  const bytes = await bytesOf(await store.backup());
  await store.close();
  return bytes;
}

/** The folder after a process was killed during a restore. */
async function killed(): Promise<string> {
  const folder = await temporaryFolder();
  const copy = await temporaryFolder();
  let isCopied = false;
  await restoreStore(streamOf(await backup()), folder, {
    onProgress() {
      if (isCopied) return;
      isCopied = true;
      cpSync(folder, copy, {
        recursive: true,
        filter: (path) => !path.includes('lock.sock'),
      });
    },
  });
  return copy;
}

describe('the folder of a killed restore', () => {
  it.each([
    ['an opening', (folder: string) => openStore(folder)],
    ['a check', (folder: string) => checkStore(folder)],
    [
      'a repair',
      async (folder: string) => repairStore(folder, join(await temporaryFolder(), 'new')),
    ],
    [
      'a copy',
      async (folder: string) =>
        copyStore(folder, join(await temporaryFolder(), 'new'), { clock: new ManualClock() }),
    ],
    ['another restore', async (folder: string) => restoreStore(streamOf(await backup()), folder)],
  ])('is rejected by %s, with a hint and without changes', async (_what, use) => {
    const folder = await killed();
    const before = await contentsOf(folder);
    await expect(use(folder)).rejects.toMatchObject({
      code: 'restore_unfinished',
      message: `${folder}: a restore into it was not finished. Empty the folder, then run the same command again.`,
    });
    expect(await contentsOf(folder)).toEqual(before);
  });

  it('accepts a backup again once it is empty', async () => {
    const folder = await killed();
    for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
    await restoreStore(streamOf(await backup()), folder);
    expect(await checkStore(folder)).toEqual([]);
  });
});
