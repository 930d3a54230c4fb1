import { iso } from '../../../domain/clock.ts';
import { type FileSystem, withFile, writeFully } from '../disk/file-system.ts';
import type { PartContext } from '../disk/parts.ts';
import { replaceFile } from '../disk/replace-file.ts';
import { readAt } from './line-reader.ts';

/**
 * Damaged bytes at the end of a log's last file, left by a torn write that was never acknowledged.
 */
export interface TornTail {
  file: string;
  /** Length in bytes of the valid part at the start of the file. */
  size: number;
}

/**
 * Truncates a torn tail after saving it as `<file>.torn-<time>`. Deletes a file that has no record
 * left.
 */
export async function cutTornTail(
  { disk, clock, warn }: PartContext,
  directory: string,
  { file, size }: TornTail,
): Promise<void> {
  const path = `${directory}/${file}`;
  // Only the tail: a day file may be larger than memory.
  const torn = await withFile(disk, path, 'read', async (file) =>
    readAt(file, size, (await file.size()) - size),
  );
  if (torn.length > 0) {
    const copyPath = `${path}.torn-${iso(clock.now()).replaceAll(':', '-')}`;
    // An interrupted start may have saved the same bytes already.
    await replaceFile(disk, copyPath, (copy) => writeFully(copy, torn));
    await disk.syncDirectory(directory);
    warn(
      `${path} ended in ${torn.length} bytes of a record that was never acknowledged: they are kept in ${copyPath}`,
    );
  }
  if (size === 0) await disk.unlink(path);
  else await truncateFile(disk, path, size);
  await disk.syncDirectory(directory);
}

/** Truncates a file to `size` bytes and syncs it. The file must not be shorter. */
export function truncateFile(disk: FileSystem, path: string, size: number): Promise<void> {
  return withFile(disk, path, 'append', async (file) => {
    if ((await file.size()) === size) return;
    await file.truncate(size);
    await file.datasync();
  });
}
