import { type BigIntStats, constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import * as nodeDisk from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SignageError } from '../../domain/error.ts';
import { maxObjectBytes, type ObjectStore, type StoredObject } from './object-store.ts';

/** The part of `node:fs/promises` that is needed, so that a test can stand between. */
type Disk = Pick<typeof nodeDisk, 'mkdir' | 'open' | 'readdir' | 'rename' | 'stat' | 'unlink'>;

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';

async function unlessMissing<T, U>(work: Promise<T>, instead: U): Promise<T | U> {
  return work.catch((error: unknown) => {
    if (isMissing(error)) return instead;
    throw error;
  });
}

/** Each `put` makes a new file. */
const etagOf = ({ ino, size, mtimeNs }: BigIntStats) => `${ino}.${size}.${mtimeNs}`;

async function readObject(disk: Disk, path: string): Promise<StoredObject | undefined> {
  const file = await unlessMissing(disk.open(path, constants.O_RDONLY), undefined);
  if (!file) return undefined;
  try {
    const found = await file.stat({ bigint: true });
    return {
      bytes: found.size > maxObjectBytes ? undefined : await file.readFile(),
      etag: etagOf(found),
    };
  } finally {
    await file.close();
  }
}

async function syncFolder(disk: Disk, path: string): Promise<void> {
  // Windows opens no folders.
  if (process.platform === 'win32') return;
  const folder = await disk.open(path, constants.O_RDONLY);
  await folder.sync().finally(() => folder.close());
}

/** Temporary file, sync, rename, sync of the folder: whole or not at all, and past a power cut. */
async function replace(
  disk: Disk,
  path: string,
  temporary: string,
  bytes: Uint8Array,
): Promise<void> {
  const file = await openTemporary(disk, temporary);
  try {
    await file.writeFile(bytes);
    await file.sync();
    await file.close();
    await disk.rename(temporary, path);
  } catch (error) {
    await file.close().catch(() => undefined);
    await disk.unlink(temporary).catch(() => undefined);
    throw error;
  }
  await syncFolder(disk, dirname(path));
}

/** Makes a folder and those above it, each name synced in the folder that it is in. */
async function makeFolder(disk: Disk, path: string): Promise<void> {
  const first = await disk.mkdir(path, { recursive: true, mode: 0o700 });
  for (let made = path; first !== undefined && made.length >= first.length; made = dirname(made))
    await syncFolder(disk, dirname(made));
}

/** Most objects come to a folder that is there. */
async function openTemporary(disk: Disk, path: string): Promise<FileHandle> {
  const file = await unlessMissing(disk.open(path, 'w', 0o600), undefined);
  if (file) return file;
  await makeFolder(disk, dirname(path));
  return disk.open(path, 'w', 0o600);
}

/**
 * A folder as an object store: readable files (0600) that are the objects, their paths the keys. The condition of `put` is looked at just before: of two
 * writers at the same moment the later one wins.
 */
export function makeFileObjectStore(folder: string, disk: Disk = nodeDisk): ObjectStore {
  let temporaries = 0;
  const pathOf = (key: string) => join(folder, key);

  async function attempt<T>(what: string, key: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      const { message } = cause as Error;
      throw new SignageError(
        'object_store_unreachable',
        `${pathOf(key)} cannot be ${what}: ${message}`,
        { cause },
      );
    }
  }

  return {
    location: pathToFileURL(folder).href,
    get: (key) => attempt('read', key, () => readObject(disk, pathOf(key))),
    put: (key, bytes, expected) =>
      attempt('written', key, async () => {
        const path = pathOf(key);
        const found = await unlessMissing(disk.stat(path, { bigint: true }), undefined);
        if ((found ? etagOf(found) : null) !== expected) return false;
        await replace(disk, path, `${path}.${process.pid}-${++temporaries}.tmp`, bytes);
        return true;
      }),
    delete: (key) =>
      attempt('deleted', key, async () => {
        const isGone = await unlessMissing(
          disk.unlink(pathOf(key)).then(() => true),
          false,
        );
        if (isGone) await syncFolder(disk, dirname(pathOf(key)));
      }),
    list: (folderKey) =>
      attempt('listed', folderKey, async () => {
        const names = await unlessMissing(disk.readdir(pathOf(folderKey)), []);
        const whole = names.filter((name) => !name.endsWith('.tmp')).sort();
        return { keys: whole.map((name) => `${folderKey}/${name}`), next: null };
      }),
    async close() {},
  };
}
