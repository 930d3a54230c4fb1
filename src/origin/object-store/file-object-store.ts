import { type BigIntStats, constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import * as fs from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SignageError } from '../../domain/error.ts';
import { retryWhileInUse } from '../../domain/file-access.ts';
import { maxObjectBytes, type ObjectStore, type StoredObject } from './object-store.ts';

/** The functions of `node:fs/promises` that the store uses, so that tests can inject faults. */
type FileFunctions = Pick<typeof fs, 'mkdir' | 'open' | 'readdir' | 'rename' | 'stat' | 'unlink'>;

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';

async function unlessMissing<T, U>(work: Promise<T>, fallback: U): Promise<T | U> {
  return work.catch((error: unknown) => {
    if (isMissing(error)) return fallback;
    throw error;
  });
}

/** Returns an ETag that is unique for each `put`, because each `put` creates a new file. */
const etagOf = ({ ino, size, mtimeNs }: BigIntStats) => `${ino}.${size}.${mtimeNs}`;

async function readObject(
  fileSystem: FileFunctions,
  path: string,
): Promise<StoredObject | undefined> {
  const file = await unlessMissing(fileSystem.open(path, constants.O_RDONLY), undefined);
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

/**
 * Replaces a file atomically. It is not synced: the store has what a power cut may lose, and the
 * mirror writes it again.
 */
async function replace(
  fileSystem: FileFunctions,
  path: string,
  temporary: string,
  bytes: Uint8Array,
): Promise<void> {
  const file = await openTemporary(fileSystem, temporary);
  try {
    await file.writeFile(bytes);
    await file.close();
    await retryWhileInUse(() => fileSystem.rename(temporary, path));
  } catch (error) {
    await file.close().catch(() => undefined);
    await fileSystem.unlink(temporary).catch(() => undefined);
    throw error;
  }
}

/**
 * Opens a temporary file. Creates the folder only if the first attempt fails, because the folder
 * usually exists.
 */
async function openTemporary(fileSystem: FileFunctions, path: string): Promise<FileHandle> {
  const file = await unlessMissing(fileSystem.open(path, 'w', 0o600), undefined);
  if (file) return file;
  await fileSystem.mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return fileSystem.open(path, 'w', 0o600);
}

/**
 * A folder as an object store: keys are paths of files with mode 0600. The condition of `put` is
 * checked just before the write, so the check is not atomic. Of two concurrent writers, the later
 * one wins.
 */
export function makeFileObjectStore(folder: string, fileSystem: FileFunctions = fs): ObjectStore {
  let temporaryCount = 0;
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
    get: (key) => attempt('read', key, () => readObject(fileSystem, pathOf(key))),
    put: (key, bytes, expected) =>
      attempt('written', key, async () => {
        const path = pathOf(key);
        const found = await unlessMissing(fileSystem.stat(path, { bigint: true }), undefined);
        if ((found ? etagOf(found) : null) !== expected) return false;
        await replace(fileSystem, path, `${path}.${process.pid}-${++temporaryCount}.tmp`, bytes);
        return true;
      }),
    delete: (key) =>
      attempt('deleted', key, () => unlessMissing(fileSystem.unlink(pathOf(key)), undefined)),
    list: (folderKey) =>
      attempt('listed', folderKey, async () => {
        const names = await unlessMissing(fileSystem.readdir(pathOf(folderKey)), []);
        const complete = names.filter((name) => !name.endsWith('.tmp')).sort();
        return { keys: complete.map((name) => `${folderKey}/${name}`), next: null };
      }),
    async close() {},
  };
}
