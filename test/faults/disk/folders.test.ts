import { chmod, chown, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/store/open.ts';
import { fullStore } from '../../store/json/full-store.ts';
import { contentsOf } from '../../store/json/store-folder.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { startService } from '../kills/killed-service.ts';
import { copyInUse } from './copy-in-use.ts';
import { findTwoOwners } from './two-owners.ts';

const nobody = 65_534;
const isRoot = process.getuid?.() === 0;

/** Runs as a user without privileges. */
async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (!isRoot) return work();
  process.seteuid?.(nobody);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

/** Makes a folder and its files read-only. */
async function makeReadOnly(folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = [folder, ...names.map((entry) => join(entry.parentPath, entry.name))];
  for (const [index, path] of paths.entries()) {
    if (isRoot) await chown(path, nobody, nobody);
    await chmod(path, index === 0 || names[index - 1]?.isDirectory() ? 0o500 : 0o400);
  }
}

describe('a data folder', () => {
  it.skipIf(process.platform === 'win32')(
    'that may only be read is refused, and stays as it is (Windows has no such modes)',
    async () => {
      const { folder } = await fullStore();
      const before = await contentsOf(folder);
      await makeReadOnly(folder);
      await asNobody(async () => {
        await expect(openStore(folder)).rejects.toMatchObject({
          code: 'store_unusable',
          message: expect.stringContaining('EACCES'),
        });
      });
      await chmod(folder, 0o700);
      expect(await contentsOf(folder)).toEqual(before);
    },
  );

  it.skipIf(process.platform === 'win32')(
    'in which nothing can be made is refused (Windows has no such modes)',
    async () => {
      const folder = await temporaryFolder();
      await makeReadOnly(folder);
      await asNobody(async () => {
        await expect(openStore(join(folder, 'data'))).rejects.toMatchObject({
          code: 'store_unusable',
          message: expect.stringContaining('EACCES'),
          hint: `The service runs as user ${isRoot ? nobody : process.getuid?.()}, who may not create a folder in ${folder}. Choose a folder elsewhere, or create this one as root: install -d -o ${isRoot ? nobody : process.getuid?.()} -m 700 ${join(folder, 'data')}`,
        });
      });
      expect(await readdir(folder)).toEqual([]);
    },
  );

  it('has one process at a time, whose id the second one reports, and is free after a kill', {
    timeout: 300_000,
  }, async () => {
    const folder = join(await temporaryFolder(), 'data');
    await mkdir(folder);
    const token = `mak_${'TwoOwners'.repeat(3)}`;
    const first = await startService(folder, token);
    await expect(startService(folder, token)).rejects.toThrow(/in use by process \d+, since 20/);
    await first.kill();
    const next = await startService(folder, token);
    expect(await next.stop()).toBe(0);
  });

  it('has one owner at a time, also when the clock jumps', async () => {
    expect(await findTwoOwners()).toEqual([]);
  });

  it('that was copied while in use is refused, or equals the state after an earlier crash', {
    timeout: 300_000,
  }, async () => {
    const { bad, refused, earlier } = await copyInUse(100);
    expect(bad).toEqual([]);
    expect(refused).toBeGreaterThan(20);
    expect(earlier).toBeGreaterThan(3);
  });
});
