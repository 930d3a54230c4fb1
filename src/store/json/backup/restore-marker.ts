import { SignageError } from '../../../domain/error.ts';
import { type FileSystem, writeFully } from '../disk/file-system.ts';
import { writeNewFile } from '../disk/replace-file.ts';

/**
 * Marks a folder during a restore. A process killed meanwhile leaves an incomplete store behind.
 */
export const restoreMarker = 'restore.unfinished';

const text =
  'A restore into this folder was not finished. Empty the folder, then run signage data restore again.\n';

export async function writeRestoreMarker(disk: FileSystem, directory: string): Promise<void> {
  await writeNewFile(disk, `${directory}/${restoreMarker}`, (file) =>
    writeFully(file, Buffer.from(text)),
  );
  await disk.syncDirectory(directory);
}

/** Throws `restore_unfinished` for a folder with an incomplete restore. */
export async function refuseUnfinishedRestore(disk: FileSystem, directory: string): Promise<void> {
  if ((await disk.sizeOf(`${directory}/${restoreMarker}`)) === undefined) return;
  throw new SignageError(
    'restore_unfinished',
    `${directory}: a restore into it was not finished. Empty the folder, then run signage data restore again.`,
  );
}
