import { rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type Restored, type RestoreTarget, restoreBackup } from '../json/backup/restore.ts';
import { nodeFileSystem } from '../json/disk/file-system.ts';
import {
  asUnusable,
  lockDataFolder,
  refuseUnfinishedRestore,
  requireEmptyFolder,
} from './data-folder.ts';

/**
 * Restores a backup, the tar of `Store.backup`, into a folder that is empty or missing. A store
 * opened there has the state at the time of the backup.
 *
 * Throws `folder_not_empty`, `restore_unfinished`, `store_locked`, `store_unusable`, and
 * `backup_unusable` for a stream that is damaged, truncated or not a backup. On an error it deletes
 * every file and folder it created.
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
  /** Missing folders on the path, innermost first. */
  const missing: string[] = [];
  let namesBefore: readonly string[] = [];
  let release = async () => {};
  try {
    namesBefore = await disk.list(directory);
    for (let path = directory; (await disk.sizeOf(path)) === undefined; path = dirname(path))
      missing.push(path);
    await disk.makeDirectory(directory);
    release = await lockDataFolder(directory);
    await refuseUnfinishedRestore(disk, directory);
    await requireEmptyFolder(directory);
    const restored = await restoreBackup(
      { [Symbol.asyncIterator]: () => source },
      { disk, directory, ...options },
    );
    await release();
    return restored;
  } catch (error) {
    const names = await disk.list(directory).catch(() => []);
    const added = names.filter((name) => !namesBefore.includes(name));
    await removeEmpty(added.map((name) => join(directory, name)));
    await release();
    await removeEmpty(missing);
    throw asUnusable(error, `The backup cannot be restored into ${directory}`);
  } finally {
    // Closes a source that was not read to its end.
    await source.return?.();
  }
}

/** Removes the folders that are empty. */
async function removeEmpty(paths: readonly string[]): Promise<void> {
  for (const path of paths) await rmdir(path).catch(() => undefined);
}
