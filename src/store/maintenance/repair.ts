import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { type Clock, systemClock } from '../../domain/clock.ts';
import { nodeFileSystem } from '../json/disk/file-system.ts';
import { openJsonStore } from '../json/open.ts';
import { repairFolder } from '../json/repair/repair-folder.ts';
import { type RepairedItem, RepairLog } from '../json/repair/repair-log.ts';
import {
  asUnusable,
  contextOf,
  lockDataFolder,
  lockStopped,
  refuseUnfinished,
  requireDataFolder,
  requireEmptyFolder,
} from './data-folder.ts';

/**
 * Writes everything readable from a damaged data folder into another folder, which must be empty or
 * missing. Then opens the new folder once to prove that it starts. The damaged folder is not
 * changed. Returns the list of everything that was left out or replaced. `repair-<time>.json` in
 * the new folder has the same list.
 *
 * Throws `store_locked` while either folder is in use, `folder_not_empty` and
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
  const log = new RepairLog();
  const from = contextOf(resolve(folder), clock);
  const to = contextOf(resolve(into), clock);
  await requireDataFolder(from.directory);
  const releaseFrom = await lockStopped(from.directory);
  let releaseTo = async () => {};
  try {
    await refuseUnfinished(nodeFileSystem, from.directory);
    await nodeFileSystem.makeDirectory(to.directory);
    releaseTo = await lockDataFolder(to.directory);
    await requireEmptyFolder(to.directory);
    await repairFolder({ from, into: to, log }, randomBytes);
    await (await openJsonStore(to, randomBytes, releaseTo)).close();
    return log.entries;
  } catch (error) {
    throw asUnusable(error, `${from.directory} cannot be repaired into ${to.directory}`);
  } finally {
    await releaseTo();
    await releaseFrom();
  }
}
