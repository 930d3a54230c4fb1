import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type FileSystem,
  nodeFileSystem,
  writeFully,
} from '../../../../src/store/json/disk/file-system.ts';
import { makeMemoryFileSystem } from '../../../../src/store/json/disk/memory-file-system.ts';
import { temporaryFolder } from '../../../support/disk/temporary-folder.ts';

/**
 * Both file systems must behave the same. Otherwise tests with one prove nothing about the other.
 */
describe.each<[string, () => FileSystem]>([
  ['the file system of the operating system', () => nodeFileSystem],
  ['the disk in memory', makeMemoryFileSystem],
])('%s', (_, make) => {
  const start = async () => {
    const disk = make();
    const folder = join(await temporaryFolder(), 'a', 'b');
    await disk.makeDirectory(folder);
    await disk.makeDirectory(folder);
    return { disk, folder, path: join(folder, 'file') };
  };
  const code = (wanted: string) => expect.objectContaining({ code: wanted });

  it('appends, reads, truncates', async () => {
    const { disk, folder, path } = await start();
    const file = await disk.create(path);
    await writeFully(file, Buffer.from('one two'));
    await file.datasync();
    await file.truncate(4);
    await writeFully(file, Buffer.from('three'));
    expect(await file.size()).toBe(9);
    await file.close();
    await disk.syncDirectory(folder);
    expect(await disk.sizeOf(path)).toBe(9);
    expect((await disk.readFile(path)).toString()).toBe('one three');
    const again = await disk.open(path, 'append');
    await writeFully(again, Buffer.from('x'.repeat(5000)));
    await again.close();
    const reading = await disk.open(path, 'read');
    const into = Buffer.alloc(6);
    expect([await reading.read(into, 4), into.toString()]).toEqual([6, 'threex']);
    expect(await reading.read(into, 5008)).toBe(1);
    expect(await reading.read(into, 9000)).toBe(0);
    await reading.close();
  });

  it('creates a file once, and opens only existing files', async () => {
    const { disk, path } = await start();
    await (await disk.create(path)).close();
    await expect(disk.create(path)).rejects.toEqual(code('EEXIST'));
    await expect(disk.open(`${path}2`, 'append')).rejects.toEqual(code('ENOENT'));
    await expect(disk.readFile(`${path}2`)).rejects.toEqual(code('ENOENT'));
    await expect(disk.unlink(`${path}2`)).rejects.toEqual(code('ENOENT'));
    await expect(disk.rename(`${path}2`, path)).rejects.toEqual(code('ENOENT'));
    expect(await disk.sizeOf(`${path}2`)).toBeUndefined();
  });

  it('renames over another file, and a reader keeps the file that it has opened', async () => {
    const { disk, folder, path } = await start();
    for (const name of ['file', 'new']) {
      const file = await disk.create(join(folder, name));
      await writeFully(file, Buffer.from(name));
      await file.close();
    }
    const reading = await disk.open(path, 'read');
    await disk.rename(join(folder, 'new'), path);
    const into = Buffer.alloc(4);
    await reading.read(into, 0);
    expect(into.toString()).toBe('file');
    await reading.close();
    expect((await disk.readFile(path)).toString()).toBe('new');
    expect(await disk.list(folder)).toEqual(['file']);
    await disk.unlink(path);
    expect(await disk.list(folder)).toEqual([]);
    expect(await disk.list(join(folder, 'missing'))).toEqual([]);
    expect(await disk.freeBytes(folder)).toBeGreaterThan(0);
  });
});
