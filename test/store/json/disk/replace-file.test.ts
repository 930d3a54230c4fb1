import { describe, expect, it } from 'vitest';
import { makeMemoryFileSystem } from '../../../../src/store/json/disk/memory-file-system.ts';
import { replaceContents } from '../../../../src/store/json/disk/replace-file.ts';
import { faultyDisk } from '../../../support/disk/faulty-disk.ts';

/** A disk on which the first `failures` renames fail, as on Windows while the file is open. */
function busyDisk(failures: number, code: string) {
  const disk = faultyDisk(makeMemoryFileSystem());
  let left = failures;
  disk.fault = (operation) => {
    if (operation === 'rename' && left-- > 0)
      throw Object.assign(new Error(`${code}: file in use`), { code });
  };
  return disk;
}

const path = '/folder/manifest.json';

describe('replacing a file', () => {
  it.each(['EPERM', 'EBUSY'])(
    'succeeds when another program closes the file (%s)',
    async (code) => {
      const disk = busyDisk(3, code);
      await replaceContents(disk, path, Buffer.from('new'));
      expect((await disk.readFile(path)).toString()).toBe('new');
    },
  );

  it('fails after 7 attempts, and leaves the old file and no temporary one', async () => {
    const disk = busyDisk(0, 'EPERM');
    await replaceContents(disk, path, Buffer.from('old'));
    const busy = busyDisk(Number.POSITIVE_INFINITY, 'EPERM');
    const both = { ...disk, rename: busy.rename };
    await expect(replaceContents(both, path, Buffer.from('new'))).rejects.toThrow('file in use');
    expect(busy.calls).toHaveLength(7);
    expect((await disk.readFile(path)).toString()).toBe('old');
    expect(await disk.list('/folder')).toEqual(['manifest.json']);
  });

  it('fails at once for other errors', async () => {
    const disk = busyDisk(1, 'EIO');
    await expect(replaceContents(disk, path, Buffer.from('new'))).rejects.toThrow('EIO');
    expect(disk.calls.filter((call) => call.startsWith('rename'))).toHaveLength(1);
  });
});
