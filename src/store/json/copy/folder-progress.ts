import { requireSameOrigin, storeNotEmptyError } from '../../copy/copy-progress.ts';
import type { CopyProgress, StoreSource } from '../../copy/transfer.ts';
import { foreignName } from '../../maintenance/data-folder.ts';
import type { DocumentEntry } from '../checkpoint/document-file.ts';
import { type FileSystem, nodeFileSystem } from '../disk/file-system.ts';
import { replaceContents } from '../disk/replace-file.ts';
import type { BulkEnd } from '../log/bulk-log.ts';
import { frame } from '../log/frame.ts';
import { copyMarker, readRecordFile } from '../manifest.ts';

/**
 * Content of `copy.json`. The file marks a folder with an unfinished copy. No service may open such
 * a folder.
 */
export interface FolderProgress extends CopyProgress {
  logs: { events: BulkEnd; audit: BulkEnd };
  documents: Record<string, DocumentEntry>;
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
 * Returns the progress of this source's copy into the folder, or `undefined` if the folder is empty
 * or missing. Throws `store_not_empty` for any other folder.
 */
export async function findUnfinishedCopy(
  disk: FileSystem,
  directory: string,
  source: StoreSource,
): Promise<FolderProgress | undefined> {
  const progress = await readRecordFile<FolderProgress>(disk, `${directory}/${copyMarker}`);
  if (progress) {
    requireSameOrigin(progress, source, directory);
    return progress;
  }
  const name = await foreignName(disk, directory);
  if (name !== undefined) throw storeNotEmptyError(directory, `it is not empty (${name})`);
  return undefined;
}

export function examineFolder(
  directory: string,
  source: StoreSource,
): Promise<CopyProgress | undefined> {
  return findUnfinishedCopy(nodeFileSystem, directory, source);
}
