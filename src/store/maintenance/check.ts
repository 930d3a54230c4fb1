import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { systemClock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { refuseUnfinishedRestore, restoreMarker } from '../json/backup/restore-marker.ts';
import { checkFolder } from '../json/check/check-folder.ts';
import type { Finding } from '../json/check/finding.ts';
import { copyMarker } from '../json/copy/copy-marker.ts';
import { nodeFileSystem } from '../json/disk/file-system.ts';
import { lockFolder } from '../json/lock/folder-lock.ts';
import { manifestCopy, manifestName } from '../json/manifest.ts';

/**
 * Reads all files of a stopped service's data folder and returns what is wrong. Changes nothing.
 *
 * Throws `store_locked` while the folder is in use, `store_too_new`, `copy_unfinished`,
 * `restore_unfinished`, and `invalid_option` for a folder that is not a data folder.
 *
 * @example
 * const findings = await checkStore('./signage-data');
 * const isIntact = findings.every(({ level }) => level === 'note');
 */
export async function checkStore(folder: string): Promise<Finding[]> {
  const directory = resolve(folder);
  await requireDataFolder(directory);
  const context = {
    disk: nodeFileSystem,
    directory,
    clock: systemClock,
    lowWaterBytes: 0,
    warn: () => {},
  };
  const release = await lockStopped(directory);
  try {
    await refuseUnfinishedRestore(nodeFileSystem, directory);
    return await checkFolder(context);
  } finally {
    await release();
  }
}

/** Throws `invalid_option` unless the folder contains a file of a store. */
export async function requireDataFolder(directory: string): Promise<void> {
  const names = await nodeFileSystem.list(directory);
  const knownNames = [
    manifestName,
    manifestCopy,
    copyMarker,
    restoreMarker,
    'secret',
    'journal',
    'documents',
  ];
  if (names.some((name) => knownNames.includes(name))) return;
  throw new SignageError(
    'invalid_option',
    `${directory} is not a data folder: it has no ${manifestName}.`,
  );
}

/** Locks a data folder. Throws `store_locked`, with a hint for the operator. */
export async function lockStopped(directory: string): Promise<() => Promise<void>> {
  try {
    return await lockFolder(directory, {
      clock: systemClock,
      random: randomBytes,
      platform: process.platform,
    });
  } catch (error) {
    if (!(error instanceof SignageError) || error.code !== 'store_locked') throw error;
    const hint =
      'Stop the service first. Or take a backup (signage data backup), restore it elsewhere, and use that copy.';
    throw new SignageError('store_locked', `${error.message} ${hint}`, { cause: error });
  }
}
