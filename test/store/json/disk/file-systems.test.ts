import { execFile } from 'node:child_process';
import { mkdir, readdir, truncate, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../../../src/store/json/disk/file-system.ts';
import { openStore } from '../../../../src/store/location/open.ts';
import { temporaryFolder } from '../../../support/disk/temporary-folder.ts';

const fs = process.getBuiltinModule('node:fs/promises');
const run = promisify(execFile);

describe.skipIf(process.platform !== 'linux')('network file systems (known on Linux only)', () => {
  const { statfs } = fs;
  afterEach(() => {
    fs.statfs = statfs;
    syncBuiltinESMExports();
  });

  /** Makes all folders seem to be on a file system of this type. */
  function pretend(type: number): void {
    const pretended = async (path: string) => Object.assign(await statfs(path), { type });
    fs.statfs = pretended as typeof statfs;
    syncBuiltinESMExports();
  }

  it.each([
    ['NFS', 0x6969],
    ['CIFS', 0xff534d42],
    ['SMB', 0xfe534d42],
    ['CephFS', 0xc36400],
  ])('%s is refused, and nothing is written', async (name, type) => {
    const folder = await temporaryFolder();
    pretend(type);
    await expect(openStore(folder)).rejects.toMatchObject({
      code: 'store_unusable',
      message: expect.stringContaining(`${folder} is on a network file system (${name})`),
    });
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([
    ['ext4', 0xef53],
    ['XFS', 0x58465342],
    ['Btrfs', 0x9123683e],
    ['overlayfs', 0x794c7630],
    ['FUSE', 0x65735546],
  ])('%s is accepted', async (_, type) => {
    pretend(type);
    const store = await openStore(await temporaryFolder());
    await store.close();
  });
});

it('a file that cannot be reached does not count as missing', async () => {
  const folder = await temporaryFolder();
  const file = join(folder, 'file');
  await writeFile(file, '');
  expect(await nodeFileSystem.list(join(folder, 'none'))).toEqual([]);
  expect(await nodeFileSystem.sizeOf(join(folder, 'none'))).toBeUndefined();
  await expect(nodeFileSystem.list(file)).rejects.toMatchObject({ code: 'ENOTDIR' });
  await expect(nodeFileSystem.sizeOf(join(file, 'x'))).rejects.toMatchObject({ code: 'ENOTDIR' });
});

/** Mounts a new exFAT file system. Returns the reason why that is not possible here, if any. */
async function mountExfat(folder: string): Promise<string | undefined> {
  const image = `${folder}.img`;
  try {
    await mkdir(folder);
    await writeFile(image, '');
    await truncate(image, 16 * 1024 * 1024);
    await run('mkfs.exfat', [image]);
    await run('mount', ['-t', 'exfat,exfat-fuse', '-o', 'loop', image, folder]);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('exFAT', () => {
  let folder = '';
  let whyNot: string | undefined;
  beforeAll(async () => {
    folder = join(await temporaryFolder(), 'mounted');
    whyNot = await mountExfat(folder);
    return async () => {
      if (whyNot === undefined) await run('umount', [folder]);
    };
  });

  it('is refused with an error that names it, and no file is left behind', async (test) => {
    test.skip(whyNot !== undefined, `no exFAT file system can be mounted: ${whyNot}`);
    const data = join(folder, 'data');
    await expect(openStore(data)).rejects.toMatchObject({
      code: 'store_unusable',
      message: expect.stringMatching(/cannot be locked .* exFAT, FAT and some shared folders/),
    });
    expect(await readdir(data)).toEqual([]);
  });
});
