import { resolve } from 'node:path';
import { type Clock, iso, systemClock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { isDatabaseUrl } from '../../domain/store-url.ts';
import type { DumpSource, SectionCounts } from '../dump/dump.ts';
import { dumpEnd, type Restored, type RestoreOptions, restoreDump } from '../dump/restore-dump.ts';
import { writeDump } from '../dump/write-dump.ts';
import { nodeFileSystem } from '../json/disk/file-system.ts';
import { noData, readFolder } from '../json/dump/folder-state.ts';
import { contextOf, lockDataFolder, refuseUnfinished, requireEmptyFolder } from './data-folder.ts';
import { openTarget } from './restore.ts';

export type CopyOptions = RestoreOptions & {
  /** Clock for the time of the copy, and for a data folder as the target. */
  clock?: Clock;
};

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
  { clock = systemClock, ...options }: CopyOptions = {},
): Promise<Restored> {
  requireDifferent(from, to);
  const { source, close } = await openSource(from);
  try {
    const dump = writeDump(source, iso(clock.now()));
    return await restoreDump(dump, await openTarget(to, clock), { ...options, name: from });
  } finally {
    await close();
  }
}

/** Counts the records that `copyStore` would copy. Changes nothing. Throws the same errors. */
export async function planCopy(from: string, to: string): Promise<SectionCounts> {
  requireDifferent(from, to);
  if (isDatabaseUrl(to))
    await (await import('../postgres/dump/database-target.ts')).requireEmptyDatabase(to);
  else await requireEmptyFolder(resolve(to));
  const { source, close } = await openSource(from);
  try {
    return (await dumpEnd(source, iso(0))).counts;
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
    return (await import('../postgres/dump/open-source.ts')).openDatabaseSource(location);
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
