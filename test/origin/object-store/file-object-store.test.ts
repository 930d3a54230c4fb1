import * as disk from 'node:fs/promises';
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFileObjectStore } from '../../../src/origin/object-store/file-object-store.ts';
import { diskFull } from '../../support/disk/faulty-disk.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';

const { signal } = new AbortController();
const bytes = (text: string) => Buffer.from(text);
const unreachable = expect.objectContaining({ code: 'object_store_unreachable' });

/** The real file system, of which some calls can fail. */
function watchedDisk(fails: (call: string) => Error | undefined) {
  const note = (call: string) => {
    const error = fails(call);
    if (error) throw error;
  };
  const open: typeof disk.open = async (path, ...rest) => {
    note(`open ${path}`);
    const file = await disk.open(path, ...rest);
    const own = file.writeFile.bind(file);
    file.writeFile = async (...given) => {
      note(`writeFile ${path}`);
      await own(...given);
    };
    return file;
  };
  const rename: typeof disk.rename = async (from, to) => {
    note(`rename ${to}`);
    await disk.rename(from, to);
  };
  return { ...disk, open, rename };
}

describe('a folder as an object store', () => {
  it('writes readable files that other users cannot read', async () => {
    const folder = join(await temporaryFolder(), 'mirror');
    await makeFileObjectStore(folder).put(
      'tenant/playlists/screen.json',
      bytes('{}'),
      null,
      signal,
    );
    expect(await readFile(join(folder, 'tenant/playlists/screen.json'), 'utf8')).toBe('{}');
    expect((await stat(join(folder, 'tenant/playlists/screen.json'))).mode & 0o777).toBe(0o600);
    for (const path of ['', 'tenant', 'tenant/playlists'])
      expect((await stat(join(folder, path))).mode & 0o777).toBe(0o700);
  });

  it.each(['writeFile', 'rename'])('changes nothing when the disk is full at %s', async (at) => {
    const folder = await temporaryFolder();
    await makeFileObjectStore(folder).put('a/one.json', bytes('old'), null, signal);
    const full = watchedDisk((call) => (call.startsWith(`${at} `) ? diskFull() : undefined));
    const store = makeFileObjectStore(folder, full);
    const etag = (await store.get('a/one.json', signal))?.etag ?? null;
    await expect(store.put('a/one.json', bytes('new'), etag, signal)).rejects.toEqual(unreachable);
    expect(await readdir(join(folder, 'a'))).toEqual(['one.json']);
    expect(await readFile(join(folder, 'a/one.json'), 'utf8')).toBe('old');
  });

  it('ignores temporary files left by a crash', async () => {
    const folder = await temporaryFolder();
    const store = makeFileObjectStore(folder);
    await store.put('a/one.json', bytes('{}'), null, signal);
    await writeFile(join(folder, 'a/two.json.77-1.tmp'), '{');
    expect(await store.list('a', null, signal)).toEqual({ keys: ['a/one.json'], next: null });
  });

  it.each(['get', 'put', 'delete', 'list'] as const)(
    'fails to %s if a file is in place of a folder',
    async (how) => {
      const folder = await temporaryFolder();
      await writeFile(join(folder, 'a'), '');
      const store = makeFileObjectStore(folder);
      const calls = {
        get: () => store.get('a/one.json', signal),
        put: () => store.put('a/one.json', bytes('{}'), null, signal),
        delete: () => store.delete('a/one.json', signal),
        list: () => store.list('a', null, signal),
      };
      await expect(calls[how]()).rejects.toEqual(unreachable);
    },
  );

  it.skipIf(process.getuid?.() === 0)(
    'fails if the folder is not writable (skipped as root)',
    async () => {
      const folder = await temporaryFolder();
      await chmod(folder, 0o500);
      await expect(
        makeFileObjectStore(folder).put('a/one.json', bytes('{}'), null, signal),
      ).rejects.toEqual(unreachable);
    },
  );
});
