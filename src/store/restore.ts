import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { systemClock } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import { nodeFileSystem } from './json/file-system.ts';
import { lockFolder } from './json/folder-lock.ts';
import { type Restored, type RestoreTarget, restoreBackup } from './json/restore-backup.ts';

/** What may lie in a folder that is as good as empty: a file system's own, and folders of a restore that was cut short. */
const harmless = /^(\..*|lost\+found|lock\.sock.*)$/;

/**
 * Puts a backup (the tar that `Store.backup` gave) into a folder that is empty, or is made; a store opens from it as it was when the backup was taken.
 *
 * Throws `folder_not_empty`, `store_locked`, `backup_unusable` for what is no backup, cut short or damaged; nothing
 * is left behind then.
 *
 * @example
 * const { at } = await restoreStore(Readable.toWeb(createReadStream('monday.tar')), './signage-data');
 */
export async function restoreStore(
  backup: ReadableStream<Uint8Array>,
  folder: string,
  onProgress?: RestoreTarget['onProgress'],
): Promise<Restored> {
  const directory = resolve(folder);
  const disk = nodeFileSystem;
  let release = async () => {};
  try {
    await disk.makeDirectory(directory);
    release = await lockFolder(directory, { clock: systemClock, random: randomBytes, platform: process.platform });
    await refuseContents(directory);
    return await restoreBackup(backup, { disk, directory, ...(onProgress && { onProgress }) });
  } catch (error) {
    await backup.cancel().catch(() => undefined);
    if (error instanceof SignageError) throw error;
    const { message } = error as Error;
    throw new SignageError('store_unusable', `The backup cannot be restored into ${directory}: ${message}`, { cause: error });
  } finally {
    await release();
  }
}

/** Throws `folder_not_empty` for a folder that is not as good as empty. */
export async function refuseContents(directory: string): Promise<void> {
  for (const name of await nodeFileSystem.list(directory)) {
    if (harmless.test(name)) continue;
    const inside = await nodeFileSystem.list(`${directory}/${name}`).catch(() => [name]);
    if (inside.length === 0) continue;
    throw new SignageError('folder_not_empty', `${directory} is not empty (${name}): name a folder that is. Nothing was changed.`);
  }
}
