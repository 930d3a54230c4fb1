import { randomBytes } from 'node:crypto';
import { rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Clock, systemClock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { manifestCopy, manifestName, restoreMarker } from '../json/checkpoint/manifest.ts';
import { type FileSystem, nodeFileSystem } from '../json/disk/file-system.ts';
import type { PartContext } from '../json/disk/parts.ts';
import { lockFolder } from '../json/lock/folder-lock.ts';

/** Names that may exist in an "empty" folder. */
const ignoredNames = /^([.@#].*|lost\+found|lock\.sock.*)$/;

/** Returns the context of a data folder on which no service runs. */
export function contextOf(directory: string, clock: Clock = systemClock): PartContext {
  return { disk: nodeFileSystem, directory, clock, lowWaterBytes: 0, warn: () => {} };
}

/** Locks a folder. Throws `store_locked`. Returns a function that releases it. */
export function lockDataFolder(directory: string): Promise<() => Promise<void>> {
  const { platform } = process;
  return lockFolder(directory, { clock: systemClock, random: randomBytes, platform });
}

/** Throws `invalid_option` unless the folder contains a file of a store. */
async function requireDataFolder(directory: string): Promise<void> {
  const names = await nodeFileSystem.list(directory);
  const knownNames = [manifestName, manifestCopy, restoreMarker, 'secret', 'journal', 'documents'];
  if (names.some((name) => knownNames.includes(name))) return;
  throw new SignageError(
    'invalid_option',
    `${directory} is not a data folder: it has no ${manifestName}.`,
  );
}

/** Locks a data folder. Throws `store_locked`, with a hint for the operator. */
async function lockStopped(directory: string): Promise<() => Promise<void>> {
  try {
    return await lockDataFolder(directory);
  } catch (error) {
    if (!(error instanceof SignageError) || error.code !== 'store_locked') throw error;
    const hint =
      'Stop the service first. Or take a backup (signage data backup), restore it elsewhere, and use that copy.';
    throw new SignageError('store_locked', `${error.message} ${hint}`, { cause: error });
  }
}

/**
 * Locks the data folder of a stopped service during the work. Throws `store_locked`,
 * `restore_unfinished`, and `invalid_option` for a folder that is not a data folder.
 */
export async function whileStopped<T>(directory: string, work: () => Promise<T>): Promise<T> {
  await requireDataFolder(directory);
  const release = await lockStopped(directory);
  try {
    await refuseUnfinished(nodeFileSystem, directory);
    return await work();
  } finally {
    await release();
  }
}

/** Throws `restore_unfinished` for a folder with an unfinished restore. */
export async function refuseUnfinished(disk: FileSystem, directory: string): Promise<void> {
  if ((await disk.sizeOf(`${directory}/${restoreMarker}`)) === undefined) return;
  throw new SignageError(
    'restore_unfinished',
    `${directory}: a restore into it was not finished. Empty the folder, then run the same command again.`,
  );
}

/**
 * Throws `folder_not_empty` if the folder has a name that is neither ignored nor an empty folder.
 */
export async function requireEmptyFolder(directory: string): Promise<void> {
  for (const name of await nodeFileSystem.list(directory)) {
    if (ignoredNames.test(name)) continue;
    const inside = await nodeFileSystem.list(`${directory}/${name}`).catch(() => [name]);
    if (inside.length > 0)
      throw new SignageError(
        'folder_not_empty',
        `${directory} is not empty (${name}). Choose an empty folder. Nothing was changed.`,
      );
  }
}

/** Returns the missing folders on a path, innermost first. */
export async function missingFolders(path: string): Promise<string[]> {
  const missing: string[] = [];
  for (let at = path; (await nodeFileSystem.sizeOf(at)) === undefined; at = dirname(at))
    missing.push(at);
  return missing;
}

/** Removes the folders that are empty. */
export async function removeEmpty(paths: readonly string[]): Promise<void> {
  for (const path of paths) await rmdir(path).catch(() => undefined);
}

/** Returns a `SignageError` unchanged, and any other error as `store_unusable`. */
export function asUnusable(error: unknown, problem: string, hint?: string): SignageError {
  if (error instanceof SignageError) return error;
  const { message } = error as Error;
  return new SignageError('store_unusable', `${problem}: ${message}`, {
    cause: error,
    ...(hint !== undefined && { hint }),
  });
}
