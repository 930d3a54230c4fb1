import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { hourMs } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import { retryWhileInUse } from '../domain/file-access.ts';
import type { ByteRange } from '../domain/media/media.ts';
import { mediaPath } from '../domain/media/media-path.ts';
import type { MediaStore, StoredFile } from './media-store.ts';

/** Space that uploads leave for events and changes, which share the disk. */
const reservedBytes = 64 * 1024 * 1024;
/** Large reads cost less CPU for each byte. Every response in progress holds one. */
const chunkBytes = 256 * 1024;
const incompleteFolder = 'incomplete';

const isMissing = (error: unknown) =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
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
  now: () => number;
}

/**
 * A folder of media files: `ab/abcd…` for the file whose SHA-256 begins with `ab`. A file is
 * written to `incomplete/`, synced and renamed, so a name never stands for incomplete content.
 */
class FolderMediaStore implements MediaStore {
  readonly #folder: string;
  readonly #now: () => number;
  /** Names in `incomplete/` that this process writes. */
  readonly #writing = new Set<string>();

  constructor(folder: string, now: () => number) {
    this.#folder = folder;
    this.#now = now;
  }

  #pathOf(key: string): string {
    return join(this.#folder, key.includes('/') ? key : mediaPath(key));
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

  async #checkSpace(size: number): Promise<void> {
    const { bavail, bsize } = await fs.statfs(this.#folder);
    if (bavail * bsize >= size + reservedBytes) return;
    throw new SignageError(
      'unavailable',
      'The disk of the media folder has too little space for this file: free some space.',
      { retryAfterSeconds: 60 },
    );
  }

  async #write(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const file = await fs.open(path, 'wx', 0o600);
    try {
      // What `content` throws is no failure of the disk.
      for await (const chunk of content)
        await this.#attempt('written', () => file.writeFile(chunk));
      await this.#attempt('written', async () => {
        const time = this.#now() / 1000;
        await file.utimes(time, time);
        await file.sync();
      });
    } finally {
      await file.close();
    }
  }

  async put(key: string, size: number, content: AsyncIterable<Uint8Array>): Promise<void> {
    const name = randomUUID();
    const incomplete = join(this.#folder, incompleteFolder, name);
    await this.#attempt('written', () => this.#checkSpace(size));
    this.#writing.add(name);
    try {
      await this.#write(incomplete, content);
      await this.#attempt('written', () => this.#publish(incomplete, this.#pathOf(key)));
    } catch (error) {
      await fs.unlink(incomplete).catch(() => undefined);
      throw error;
    } finally {
      this.#writing.delete(name);
    }
  }

  async #publish(incomplete: string, path: string): Promise<void> {
    const made = await fs.mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await retryWhileInUse(() => fs.rename(incomplete, path));
    await syncFolder(dirname(path));
    if (made !== undefined) await syncFolder(dirname(made));
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
      return found && { key, bytes: found.size, modifiedAt: found.mtimeMs };
    });
  }

  async delete(key: string): Promise<void> {
    await this.#attempt('changed', async () => {
      const path = this.#pathOf(key);
      await unlessMissing(fs.unlink(path));
      // Folders of parts go with their last part.
      for (let parent = dirname(path); key.includes('/') && parent !== this.#folder; ) {
        if (
          !(await fs.rmdir(parent).then(
            () => true,
            () => false,
          ))
        )
          return;
        parent = dirname(parent);
      }
    });
  }

  async *list(folder: string): AsyncGenerator<string> {
    const root = join(this.#folder, folder);
    const entries = await this.#attempt('read', () =>
      unlessMissing(fs.readdir(root, { recursive: true, withFileTypes: true })),
    );
    for (const entry of entries ?? []) {
      const path = relative(this.#folder, join(entry.parentPath, entry.name));
      if (entry.isFile()) yield path.split(sep).join('/');
    }
  }

  async sweep(): Promise<void> {
    await this.#attempt('changed', async () => {
      const incomplete = join(this.#folder, incompleteFolder);
      for (const name of await fs.readdir(incomplete)) {
        if (this.#writing.has(name)) continue;
        const path = join(incomplete, name);
        const found = await unlessMissing(fs.stat(path));
        if (found && found.mtimeMs < this.#now() - hourMs) await unlessMissing(fs.unlink(path));
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
  { isShared, now }: FolderMediaStoreOptions,
): Promise<MediaStore> {
  const incomplete = join(folder, incompleteFolder);
  const store = new FolderMediaStore(folder, now);
  try {
    if (!isShared) await fs.rm(incomplete, { recursive: true, force: true });
    await fs.mkdir(incomplete, { recursive: true, mode: 0o700 });
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
