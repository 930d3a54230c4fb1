import { randomBytes } from 'node:crypto';
import { rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { systemClock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { type Restored, type RestoreTarget, restoreBackup } from '../json/backup/restore.ts';
import { refuseUnfinishedRestore } from '../json/backup/restore-marker.ts';
import { nodeFileSystem } from '../json/disk/file-system.ts';
import { lockFolder } from '../json/lock/folder-lock.ts';

/** What may lie in a folder that is as good as empty: a file system's own, and folders of a restore that was cut short. */
const harmless = /^(\..*|lost\+found|lock\.sock.*)$/;

/**
 * Puts a backup (the tar that `Store.backup` gave) into a folder that is empty, or is made; a store opens from it as it was when the backup was taken.
 *
 * Throws `folder_not_empty`, `restore_unfinished`, `store_locked`, `store_unusable`, and `backup_unusable` for what is no backup, cut short or damaged.
 * Nothing is left behind then: no file, and no folder that was not there before.
 *
 * @example
 * const { at } = await restoreStore(createReadStream('monday.tar'), './signage-data');
 */
export async function restoreStore(
  backup: AsyncIterable<Uint8Array>,
  folder: string,
  options: Pick<RestoreTarget, 'name' | 'onProgress'> = {},
): Promise<Restored> {
  const directory = resolve(folder);
  const disk = nodeFileSystem;
  const source = backup[Symbol.asyncIterator]();
  const made = new MadeFolders(directory);
  let release = async () => {};
  try {
    await made.make();
    release = await lockFolder(directory, {
      clock: systemClock,
      random: randomBytes,
      platform: process.platform,
    });
    await refuseUnfinishedRestore(disk, directory);
    await refuseContents(directory);
    const restored = await restoreBackup(
      { [Symbol.asyncIterator]: () => source },
      { disk, directory, ...options },
    );
    await release();
    return restored;
  } catch (error) {
    await made.removeInner();
    await release();
    await made.removeOuter();
    if (error instanceof SignageError) throw error;
    const { message } = error as Error;
    throw new SignageError(
      'store_unusable',
      `The backup cannot be restored into ${directory}: ${message}`,
      { cause: error },
    );
  } finally {
    // It may have more to say: nobody listens any more.
    await source.return?.();
  }
}

/** The target folder, and what was not there before: that is removed again when the restore fails, as far as it is empty. */
class MadeFolders {
  readonly #directory: string;
  /** The folder and those above it that are not there, the innermost first. */
  readonly #missing: string[] = [];
  #before: readonly string[] = [];

  constructor(directory: string) {
    this.#directory = directory;
  }

  async make(): Promise<void> {
    const disk = nodeFileSystem;
    this.#before = await disk.list(this.#directory);
    for (let path = this.#directory; (await disk.sizeOf(path)) === undefined; path = dirname(path))
      this.#missing.push(path);
    await disk.makeDirectory(this.#directory);
  }

  async removeInner(): Promise<void> {
    const names = await nodeFileSystem.list(this.#directory).catch(() => []);
    await removeEmpty(
      names
        .filter((name) => !this.#before.includes(name))
        .map((name) => join(this.#directory, name)),
    );
  }

  /** Once nothing is in it any more, the lock included. */
  removeOuter(): Promise<void> {
    return removeEmpty(this.#missing);
  }
}

/** Removes empty folders, and leaves everything else alone. */
async function removeEmpty(paths: readonly string[]): Promise<void> {
  for (const path of paths) await rmdir(path).catch(() => undefined);
}

/** Throws `folder_not_empty` for a folder that is not as good as empty. */
export async function refuseContents(directory: string): Promise<void> {
  for (const name of await nodeFileSystem.list(directory)) {
    if (harmless.test(name)) continue;
    const inside = await nodeFileSystem.list(`${directory}/${name}`).catch(() => [name]);
    if (inside.length === 0) continue;
    throw new SignageError(
      'folder_not_empty',
      `${directory} is not empty (${name}): name a folder that is. Nothing was changed.`,
    );
  }
}
