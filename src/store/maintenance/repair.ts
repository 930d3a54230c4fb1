import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { type Clock, systemClock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { refuseUnfinished } from '../json/copy/copy-marker.ts';
import { nodeFileSystem } from '../json/disk/file-system.ts';
import { lockFolder } from '../json/lock/folder-lock.ts';
import { openJsonStore } from '../json/open.ts';
import type { PartContext } from '../json/parts.ts';
import { repairFolder } from '../json/repair/repair-folder.ts';
import { type RepairedItem, RepairLog } from '../json/repair/repair-log.ts';
import { lockStopped, requireDataFolder } from './check.ts';
import { requireEmptyFolder } from './restore.ts';

/**
 * Writes everything readable from a damaged data folder into another folder, which must be empty or
 * missing. Then opens the new folder once to prove that it starts. The damaged folder is not
 * changed. Returns what was left out or replaced; `repair-<time>.json` in the new folder has the
 * same list.
 *
 * Throws `store_locked` while either folder is in use, `folder_not_empty`, `copy_unfinished` and
 * `restore_unfinished`. Throws `invalid_option` for a folder that is not a data folder, and
 * `store_damaged` when nothing can be recovered.
 *
 * @example
 * const mended = await repairStore('./signage-data', './repaired');
 * const isComplete = mended.every(({ lost }) => lost === 0);
 */
export async function repairStore(
  folder: string,
  into: string,
  clock: Clock = systemClock,
): Promise<RepairedItem[]> {
  const disk = nodeFileSystem;
  const log = new RepairLog();
  const contextOf = (directory: string): PartContext => ({
    disk,
    directory,
    clock,
    lowWaterBytes: 0,
    warn: () => {},
  });
  const from = contextOf(resolve(folder));
  const to = contextOf(resolve(into));
  await requireDataFolder(from.directory);
  const releaseFrom = await lockStopped(from.directory);
  let releaseTo = async () => {};
  try {
    await refuseUnfinished(disk, from.directory);
    await disk.makeDirectory(to.directory);
    releaseTo = await lockFolder(to.directory, {
      clock: systemClock,
      random: randomBytes,
      platform: process.platform,
    });
    await requireEmptyFolder(to.directory);
    await repairFolder({ from, into: to, log }, randomBytes);
    await (await openJsonStore(to, randomBytes, releaseTo)).close();
    return log.entries;
  } catch (error) {
    if (error instanceof SignageError) throw error;
    const { message } = error as Error;
    throw new SignageError(
      'store_unusable',
      `${from.directory} cannot be repaired into ${to.directory}: ${message}`,
      { cause: error },
    );
  } finally {
    await releaseTo();
    await releaseFrom();
  }
}
