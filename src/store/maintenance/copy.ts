import { resolve } from 'node:path';
import { type Clock, iso, systemClock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { isDatabaseUrl } from '../../domain/store-url.ts';
import type { MediaStore } from '../../media/media-store.ts';
import { type AwsSettings, isBucket, openMediaStore } from '../../media/open-media-store.ts';
import { type DumpSource, dumpFormat, type SectionCounts } from '../dump/dump.ts';
import { dumpEnd, type Restored, restoreDump } from '../dump/restore-dump.ts';
import { writeDump } from '../dump/write-dump.ts';
import { nodeFileSystem } from '../json/disk/file-system.ts';
import { noData, readFolder } from '../json/dump/folder-state.ts';
import { contextOf, lockDataFolder, refuseUnfinished, requireEmptyFolder } from './data-folder.ts';
import { makeFileTarget } from './file-target.ts';
import { mediaIn, openTarget, type RestoreStoreOptions } from './restore.ts';

export interface CopyOptions extends RestoreStoreOptions {
  /**
   * Whether the bytes of media are copied, too, from the folder `media` of a data folder, or to it.
   * `media` names the folder or bucket of a database. Default: false.
   */
  withMedia?: boolean;
}

/**
 * Copies a whole store into an empty one: restores a dump of the one into the other, and compares
 * the dumps of both. `from` and `to` are each a data folder or a database URL. Both stay locked
 * during the copy: no service may run on either. An interrupted copy leaves nothing behind.
 *
 * Throws `store_locked`, `store_not_empty`, `folder_not_empty`, `restore_unfinished`,
 * `copy_differs` and the errors of opening a store.
 *
 * @example
 * const { counts } = await copyStore('./signage-data', 'postgres://signage@db/signage');
 */
export async function copyStore(
  from: string,
  to: string,
  { clock = systemClock, withMedia = false, media, aws, ...options }: CopyOptions = {},
): Promise<Restored> {
  requireDifferent(from, to);
  const { source, close } = await openSource(from);
  let reader: MediaStore | undefined;
  try {
    const folders = { from: mediaIn(from) ?? media, to: mediaIn(to) ?? media };
    if (withMedia && (folders.from === undefined || folders.from === folders.to))
      throw new SignageError(
        'invalid_option',
        'Name the media folder or bucket of the database with --media. Two databases share theirs: leave --with-media out.',
      );
    if (withMedia) reader = await openFiles(folders.from, clock, aws);
    const dump = writeDump(source, iso(clock.now()), reader);
    const files = makeFileTarget(folders.to, clock, aws);
    return await restoreDump(dump, await openTarget(to, clock), {
      ...options,
      files,
      name: from,
      isWhole: true,
    });
  } finally {
    await reader?.close();
    await close();
  }
}

/** Opens the place of media, unless it is a folder without files. */
async function openFiles(place: string | undefined, clock: Clock, aws: AwsSettings | undefined) {
  if (place === undefined) return undefined;
  if (!isBucket(place) && (await nodeFileSystem.list(place)).length === 0) return undefined;
  return openMediaStore(place, clock, aws);
}

/** Counts the records that `copyStore` would copy. Changes nothing. Throws the same errors. */
export async function planCopy(from: string, to: string): Promise<SectionCounts> {
  requireDifferent(from, to);
  if (isDatabaseUrl(to))
    await (await import('../postgres/dump/database-target.ts')).requireEmptyDatabase(to);
  else await requireEmptyFolder(resolve(to));
  const { source, close } = await openSource(from);
  try {
    return (await dumpEnd(source, { at: iso(0), format: dumpFormat })).counts;
  } finally {
    await close();
  }
}

function requireDifferent(from: string, to: string): void {
  const place = (location: string) => (isDatabaseUrl(location) ? location : resolve(location));
  if (place(from) === place(to))
    throw new SignageError(
      'invalid_option',
      'Source and target are the same store. Name two different stores.',
    );
}

async function openSource(
  location: string,
): Promise<{ source: DumpSource; close(): Promise<void> }> {
  if (isDatabaseUrl(location))
    return (await import('../postgres/dump/database-source.ts')).openDatabaseSource(location);
  const directory = resolve(location);
  if ((await nodeFileSystem.list(directory)).length === 0) throw noData(directory);
  const close = await lockDataFolder(directory);
  try {
    await refuseUnfinished(nodeFileSystem, directory);
    return { source: await readFolder(contextOf(directory)), close };
  } catch (error) {
    await close();
    throw error;
  }
}
