import {
  copyUnfinishedError,
  requireSameOrigin,
  storeNotEmptyError,
} from '../../copy/copy-progress.ts';
import type { CopyProgress, StoreSource } from '../../copy/transfer.ts';
import { refuseUnfinishedRestore } from '../backup/restore-marker.ts';
import type { DocumentEntry } from '../checkpoint/document-file.ts';
import { type FileSystem, nodeFileSystem } from '../disk/file-system.ts';
import { replaceContents } from '../disk/replace-file.ts';
import type { BulkEnd } from '../log/bulk-log.ts';
import { damageError } from '../log/damage.ts';
import { frame, isValidRecord } from '../log/frame.ts';

/**
 * Content of `copy.json`. The file marks a folder with an unfinished copy, which no service may
 * open.
 */
export interface FolderProgress extends CopyProgress {
  logs: { events: BulkEnd; audit: BulkEnd };
  documents: Record<string, DocumentEntry>;
}

export const copyMarker = 'copy.json';
/** Names that may exist in an "empty" folder. */
const ignoredNames = /^(\..*|lost\+found|lock\.sock.*|copy\.json\.tmp)$/;

/**
 * Returns the progress of the copy into a folder, or `undefined` if the folder has no copy marker.
 */
export async function readMarker(
  disk: FileSystem,
  directory: string,
): Promise<FolderProgress | undefined> {
  const path = `${directory}/${copyMarker}`;
  if ((await disk.sizeOf(path)) === undefined) return undefined;
  const bytes = await disk.readFile(path);
  if (!isValidRecord(bytes.subarray(0, -1)))
    throw damageError(path, 'its contents are not what was written');
  const { crc: _crc, ...progress } = JSON.parse(bytes.toString());
  return progress;
}

export async function writeMarker(
  disk: FileSystem,
  directory: string,
  progress: FolderProgress,
): Promise<void> {
  const bytes = frame(JSON.stringify(progress).slice(1));
  await replaceContents(disk, `${directory}/${copyMarker}`, bytes);
}

export async function removeMarker(disk: FileSystem, directory: string): Promise<void> {
  await disk.unlink(`${directory}/${copyMarker}`);
  await disk.syncDirectory(directory);
}

/**
 * Throws `copy_unfinished` or `restore_unfinished` for a folder with an unfinished copy or restore.
 */
export async function refuseUnfinished(disk: FileSystem, directory: string): Promise<void> {
  await refuseUnfinishedRestore(disk, directory);
  if ((await disk.sizeOf(`${directory}/${copyMarker}`)) !== undefined)
    throw copyUnfinishedError(directory);
}

/**
 * Returns the progress of this source's copy into the folder, or `undefined` if the folder is empty
 * or missing. Throws `store_not_empty` for any other folder.
 */
export async function findUnfinishedCopy(
  disk: FileSystem,
  directory: string,
  source: StoreSource,
): Promise<FolderProgress | undefined> {
  const progress = await readMarker(disk, directory);
  if (progress) {
    requireSameOrigin(progress, source, directory);
    return progress;
  }
  for (const name of await disk.list(directory)) {
    if (ignoredNames.test(name)) continue;
    const inside = await disk.list(`${directory}/${name}`).catch(() => [name]);
    if (inside.length > 0) throw storeNotEmptyError(directory, `it is not empty (${name})`);
  }
  return undefined;
}

export function examineFolder(
  directory: string,
  source: StoreSource,
): Promise<CopyProgress | undefined> {
  return findUnfinishedCopy(nodeFileSystem, directory, source);
}
