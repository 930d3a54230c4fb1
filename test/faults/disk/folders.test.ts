import { chmod, chown, cp, mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../../src/domain/clock.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { fullStore } from '../../store/json/full-store.ts';
import { contentsOf } from '../../store/json/store-folder.ts';
import { venueRow } from '../../store/sample-rows.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { startService } from '../kills/killed-service.ts';
import { copyInUse } from './copy-in-use.ts';
import { findTwoOwners } from './two-owners.ts';

const nobody = 65_534;
const isRoot = process.getuid?.() === 0;
/** The user of `asNobody`. */
const user = isRoot ? nobody : process.getuid?.();

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
          message: expect.stringContaining(`${folder} cannot be used as a data folder`),
          hint: `The service runs as user ${user}, and the folder belongs to user ${user}. If the folder is its own: chown -R ${user} ${folder}`,
          cause: { code: 'EACCES' },
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

  it('that was replaced while a service ran is not written to, and the service ends with the reason', {
    timeout: 300_000,
  }, async () => {
    const folder = join(await temporaryFolder(), 'data');
    const token = `mak_${'Replaced'.repeat(4)}`;
    const service = await startService(folder, token);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const create = (name: string) =>
      fetch(`${service.url}/v1/venues`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ name }),
      });
    expect((await create('Before')).status).toBe(201);
    await rename(folder, `${folder}.moved`);
    await cp((await fullStore()).folder, folder, { recursive: true });
    const before = await contentsOf(folder);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(503);
    expect(await service.ended).toBe(6);
    expect(service.err()).toContain('is not the folder that the service opened');
    expect(await contentsOf(folder)).toEqual(before);
    const store = await openStore(`${folder}.moved`);
    const { items } = await store.list('venues', { limit: 10 });
    expect(items.map(({ name }) => name)).toEqual(['Before']);
    await store.close();
  });

  it('that was replaced takes no change of an open store, nor its last checkpoint', async () => {
    const folder = join(await temporaryFolder(), 'data');
    const reasons: string[] = [];
    const onFailure = (reason: Error) => void reasons.push(reason.message);
    const clock = new ManualClock();
    const store = await openStore(folder, { clock, onFailure });
    await store.write((tx) => tx.put('venues', venueRow(1)));
    await rename(folder, `${folder}.moved`);
    await cp((await fullStore()).folder, folder, { recursive: true });
    const before = await contentsOf(folder);
    clock.advance(minuteMs);
    await expect.poll(() => reasons).toHaveLength(1);
    await expect(store.write((tx) => tx.put('venues', venueRow(2)))).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('moved away, deleted or replaced'),
    });
    await store.close();
    expect(reasons).toHaveLength(1);
    expect(await contentsOf(folder)).toEqual(before);
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
