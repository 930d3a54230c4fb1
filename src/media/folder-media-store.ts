import { randomUUID } from 'node:crypto';
import { constants, type Dir, type Dirent } from 'node:fs';
import * as fs from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { SignageError } from '../domain/error.ts';
import { retryWhileInUse } from '../domain/file-access.ts';
import type { ByteRange } from '../domain/media/media.ts';
import { mediaFilePath, partsFolder, readUploadName } from '../domain/media/media-keys.ts';
import { Unchanged } from '../domain/media/unchanged.ts';
import { makeTurns } from '../domain/turns/turns.ts';
import { hasSpaceFor, incompleteFolder, incompleteName, isIncompleteName } from './folder-space.ts';
import type { MediaStore, StoredFile } from './media-store.ts';

/** Every response in progress holds a chunk. A slow client must take each within its time limit. */
const chunkBytes = 64 * 1024;
/** Entries of a folder that are read at a time. */
const stepEntries = 256;
/** Tries to give a file its name, while deletions remove the folder that was just made for it. */
const maxTries = 10;
/** Number of sweeps that must find an incomplete file unchanged before one deletes it. */
const sweepsUnchanged = 3;

const isMissing = (error: unknown) =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
}

/** Removes a folder. Returns `false` if it is not empty, or is gone. */
function isRemoved(folder: string): Promise<boolean> {
  return fs.rmdir(folder).then(
    () => true,
    () => false,
  );
}

/** Reads the next entries of a folder, at most `stepEntries`. */
async function stepOf(folder: Dir): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  while (entries.length < stepEntries) {
    const entry = await folder.read();
    if (!entry) break;
    entries.push(entry);
  }
  return entries;
}

/** Persists new names in a folder. */
async function syncFolder(path: string): Promise<void> {
  const folder = await fs.open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } catch (error) {
    // Windows cannot sync folders, and does not need it.
    if (!['EPERM', 'EISDIR', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw error;
  } finally {
    await folder.close();
  }
}

/** Reads a file, which is closed at the end, or when the iterator is returned, even unused. */
function chunksOf(file: fs.FileHandle, { start, end }: ByteRange): AsyncIterable<Uint8Array> {
  async function* read() {
    try {
      for (let position = start; position <= end; ) {
        const wanted = Math.min(chunkBytes, end + 1 - position);
        const { bytesRead, buffer } = await file.read(
          Buffer.allocUnsafe(wanted),
          0,
          wanted,
          position,
        );
        if (bytesRead === 0) throw new Error('The file is shorter than it was.');
        position += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    } finally {
      await file.close();
    }
  }
  const chunks = read();
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => chunks.next(),
      async return() {
        await file.close();
        return { done: true, value: undefined };
      },
    }),
  };
}

export interface FolderMediaStoreOptions {
  /** Whether other instances use the folder, so that a start must not delete what they write. */
  isShared: boolean;
}

/**
 * A folder of media files: `ab/abcd…` for the file whose SHA-256 begins with `ab`. A file is
 * written to `incomplete/`, synced and renamed, so a name never stands for incomplete content.
 */
class FolderMediaStore implements MediaStore {
  readonly #folder: string;
  /** Names in `incomplete/` that this process writes. */
  readonly #writing = new Set<string>();
  readonly #inTurn = makeTurns();
  readonly #abandoned = new Unchanged(sweepsUnchanged);

  constructor(folder: string) {
    this.#folder = folder;
  }

  #pathOf(key: string): string {
    return join(this.#folder, key.includes('/') ? key : mediaFilePath(key));
  }

  async #attempt<T>(what: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      if (cause instanceof SignageError) throw cause;
      const { code, message } = cause as NodeJS.ErrnoException;
      throw new SignageError(
        'unavailable',
        `The media folder cannot be ${what} (${code ?? message}). Nothing has changed. Retry later, or tell the operator.`,
        { cause, retryAfterSeconds: 30 },
      );
    }
  }

  /**
   * Makes a file whose name reserves its space. Throws `unavailable` if too little is free. Makes
   * one file at a time, so that files that arrive together do not all count each other.
   */
  #reserve(path: string, key: string): Promise<fs.FileHandle> {
    return this.#inTurn('', async () => {
      const file = await fs.open(path, 'wx', 0o600);
      if (await hasSpaceFor(this.#folder, key)) return file;
      await file.close();
      await fs.unlink(path);
      throw new SignageError(
        'unavailable',
        'The disk of the media folder has too little space for this file: free some space.',
        { retryAfterSeconds: 60 },
      );
    });
  }

  async #write(path: string, key: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const written = <T>(work: () => Promise<T>) => this.#attempt('written', work);
    const file = await written(() => this.#reserve(path, key));
    try {
      // What `content` throws is no failure of the disk.
      for await (const chunk of content) await written(() => file.writeFile(chunk));
      await written(() => file.sync());
    } finally {
      await written(() => file.close());
    }
  }

  async put(key: string, size: number, content: AsyncIterable<Uint8Array>): Promise<void> {
    const name = incompleteName(randomUUID(), size);
    const incomplete = join(this.#folder, incompleteFolder, name);
    this.#writing.add(name);
    try {
      await this.#write(incomplete, key, content);
      await this.#attempt('written', () => this.#publish(incomplete, this.#pathOf(key)));
    } catch (error) {
      await fs.unlink(incomplete).catch(() => undefined);
      throw error;
    } finally {
      this.#writing.delete(name);
    }
  }

  async #publish(incomplete: string, path: string): Promise<void> {
    let made: string | undefined;
    for (let tries = 1; ; tries++) {
      try {
        made = await fs.mkdir(dirname(path), { recursive: true, mode: 0o700 });
        await retryWhileInUse(() => fs.rename(incomplete, path));
        break;
      } catch (error) {
        if (!isMissing(error) || tries === maxTries) throw error;
      }
    }
    // The end of an upload may have deleted its last part meanwhile, and the folder with it.
    await unlessMissing(syncFolder(dirname(path)));
    if (made !== undefined) await unlessMissing(syncFolder(dirname(made)));
  }

  open(key: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined> {
    return this.#attempt('read', async () => {
      const file = await unlessMissing(fs.open(this.#pathOf(key), constants.O_RDONLY));
      if (!file) return undefined;
      try {
        const last = (await file.stat()).size - 1;
        if (!range || range.end <= last) return chunksOf(file, range ?? { start: 0, end: last });
      } catch (error) {
        await file.close();
        throw error;
      }
      await file.close();
      return undefined;
    });
  }

  find(key: string): Promise<StoredFile | undefined> {
    return this.#attempt('read', async () => {
      const found = await unlessMissing(fs.stat(this.#pathOf(key)));
      return found && { key, bytes: found.size };
    });
  }

  async delete(key: string): Promise<void> {
    await this.#attempt('changed', async () => {
      const path = this.#pathOf(key);
      await unlessMissing(fs.unlink(path));
      // Folders of parts go with their last part.
      for (let parent = dirname(path); key.includes('/') && parent !== this.#folder; ) {
        if (!(await isRemoved(parent))) return;
        parent = dirname(parent);
      }
    });
  }

  async *list(prefix: string, signal?: AbortSignal): AsyncGenerator<string> {
    const nameAt = prefix.lastIndexOf('/') + 1;
    const folder = prefix.slice(0, nameAt);
    for await (const step of this.#steps(folder, signal))
      for (const entry of step) {
        if (!entry.name.startsWith(prefix.slice(nameAt))) continue;
        const key = folder + entry.name;
        if (entry.isDirectory()) yield* this.list(`${key}/`, signal);
        else yield key;
      }
  }

  async *folders(folder: string, signal?: AbortSignal): AsyncGenerator<string> {
    for await (const step of this.#steps(folder, signal))
      for (const entry of step) if (entry.isDirectory()) yield entry.name;
  }

  /** Reads a folder in steps. A folder that is missing, or vanishes meanwhile, has no more. */
  async *#steps(folder: string, signal?: AbortSignal): AsyncGenerator<Dirent[]> {
    const read = <T>(work: () => Promise<T>) => this.#attempt('read', () => unlessMissing(work()));
    const path = join(this.#folder, folder);
    const opened = await read(() => fs.opendir(path, { bufferSize: stepEntries }));
    try {
      while (opened) {
        signal?.throwIfAborted();
        const step = (await read(() => stepOf(opened))) ?? [];
        yield step;
        if (step.length < stepEntries) return;
        // Other requests have their turn.
        await setImmediate();
      }
    } finally {
      await opened?.close();
    }
  }

  async sweep(): Promise<void> {
    await this.#attempt('changed', async () => {
      const incomplete = join(this.#folder, incompleteFolder);
      const states = new Map<string, string>();
      for (const name of (await fs.readdir(incomplete)).filter(isIncompleteName)) {
        const path = join(incomplete, name);
        const found = this.#writing.has(name) ? undefined : await unlessMissing(fs.stat(path));
        if (found) states.set(path, `${found.size} ${found.mtimeMs}`);
      }
      for (const path of this.#abandoned.round(states)) await unlessMissing(fs.unlink(path));
      // A crash may leave folders without parts.
      const parts = join(this.#folder, partsFolder);
      for (const tenant of (await unlessMissing(fs.readdir(parts))) ?? []) {
        const uploads = (await unlessMissing(fs.readdir(join(parts, tenant)))) ?? [];
        const own = uploads.filter(readUploadName);
        for (const upload of own) await isRemoved(join(parts, tenant, upload));
        if (/^[0-9a-f-]{36}$/.test(tenant)) await isRemoved(join(parts, tenant));
      }
    });
  }

  async close(): Promise<void> {}
}

/**
 * Opens a folder for media, and creates it if it is missing. Deletes what a killed process left
 * incomplete. Throws `invalid_option` if the folder cannot be used.
 */
export async function openFolderMediaStore(
  folder: string,
  { isShared }: FolderMediaStoreOptions,
): Promise<MediaStore> {
  const incomplete = join(folder, incompleteFolder);
  const store = new FolderMediaStore(folder);
  try {
    await fs.mkdir(incomplete, { recursive: true, mode: 0o700 });
    for (const name of isShared ? [] : await fs.readdir(incomplete))
      if (isIncompleteName(name)) await fs.rm(join(incomplete, name));
    await store.sweep();
  } catch (cause) {
    throw new SignageError(
      'invalid_option',
      `The media folder ${folder} cannot be used: ${(cause as Error).message}`,
      { cause },
    );
  }
  return store;
}
