import { join, resolve } from 'node:path';
import { type Clock, systemClock } from '../../domain/clock.ts';
import { mediaFolder } from '../../domain/media/media-keys.ts';
import { isDatabaseUrl } from '../../domain/store-url.ts';
import type { AwsSettings } from '../../media/open-media-store.ts';
import {
  type DumpTarget,
  type Restored,
  type RestoreOptions,
  restoreDump,
} from '../dump/restore-dump.ts';
import { manifestName, storeFolders } from '../json/checkpoint/manifest.ts';
import { nodeFileSystem } from '../json/disk/file-system.ts';
import { FolderTarget } from '../json/dump/folder-target.ts';
import {
  asUnusable,
  contextOf,
  lockDataFolder,
  missingFolders,
  refuseUnfinished,
  removeEmpty,
  requireEmptyFolder,
} from './data-folder.ts';
import { makeFileTarget } from './file-target.ts';

/** Free bytes that a restore leaves on the disk. */
const lowWaterBytes = 16 * 1024 * 1024;

export interface RestoreStoreOptions extends Omit<RestoreOptions, 'files'> {
  clock?: Clock;
  /**
   * The folder or bucket for the bytes of media that the backup has. Default: `media` in a data
   * folder. A database has no default.
   */
  media?: string | undefined;
  /** Settings of a bucket. */
  aws?: AwsSettings;
}

/**
 * Restores a backup, the dump of `Store.backup`, into a folder that is empty or missing, or into an
 * empty database. A store opened there has the state at the time of the backup.
 *
 * Throws `folder_not_empty`, `store_not_empty`, `restore_unfinished`, `store_locked`,
 * `store_unusable`, `store_unreachable`, and `backup_unusable` for a stream that is damaged,
 * truncated or not a dump. On an error it deletes everything it created. The bytes of media are
 * optional in a backup: `missingFiles` names those that it does not have.
 *
 * @example
 * const { at } = await restoreStore(createReadStream('monday.dump'), './signage-data');
 */
export async function restoreStore(
  backup: AsyncIterable<Uint8Array>,
  location: string,
  { media, aws, ...options }: RestoreStoreOptions = {},
): Promise<Restored> {
  const { clock = systemClock } = options;
  try {
    const target = await openTarget(location, clock);
    const files = makeFileTarget(media ?? mediaIn(location), clock, aws);
    return await restoreDump(backup, target, { ...options, files, isBackup: true });
  } catch (error) {
    throw asUnusable(error, `The backup cannot be restored into ${location}`);
  }
}

/** Returns the media folder of a data folder. `undefined` for a database. */
export const mediaIn = (location: string): string | undefined =>
  isDatabaseUrl(location) ? undefined : join(resolve(location), mediaFolder);

/** Opens an empty folder or database to restore into. Creates a missing folder. */
export async function openTarget(
  location: string,
  clock: Clock = systemClock,
): Promise<DumpTarget> {
  if (isDatabaseUrl(location))
    return (await import('../postgres/dump/database-target.ts')).openDatabaseTarget(location);
  const directory = resolve(location);
  const disk = nodeFileSystem;
  const namesBefore = await disk.list(directory);
  const missing = await missingFolders(directory);
  let unlock = async () => {};
  const release = async () => {
    const isStore = (await disk.sizeOf(join(directory, manifestName))) !== undefined;
    const added = storeFolders.filter((name) => !namesBefore.includes(name));
    if (!isStore) await removeEmpty(added.map((name) => join(directory, name)));
    await unlock();
    if (!isStore) await removeEmpty(missing);
  };
  try {
    await disk.makeDirectory(directory);
    unlock = await lockDataFolder(directory);
    await refuseUnfinished(disk, directory);
    await requireEmptyFolder(directory);
    return new FolderTarget({ ...contextOf(directory, clock), lowWaterBytes }, release);
  } catch (error) {
    await release();
    throw error;
  }
}
