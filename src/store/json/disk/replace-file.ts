import { dirname } from 'node:path';
import { retryWhileInUse } from '../../../domain/file-access.ts';
import { type FileSystem, type OpenFile, writeFully } from './file-system.ts';

/** Creates a file, writes and syncs it. The caller syncs the folder. */
export async function writeNewFile<T>(
  disk: FileSystem,
  path: string,
  write: (file: OpenFile) => Promise<T>,
): Promise<T> {
  const file = await disk.create(path);
  try {
    const result = await write(file);
    await file.datasync();
    return result;
  } finally {
    await file.close();
  }
}

/**
 * Replaces a file atomically: writes a temporary file, syncs it and renames it. The caller syncs
 * the folder.
 */
export async function replaceFile<T>(
  disk: FileSystem,
  path: string,
  write: (file: OpenFile) => Promise<T>,
): Promise<T> {
  const temporary = `${path}.tmp`;
  // An interrupted attempt may have left the temporary file behind.
  if ((await disk.sizeOf(temporary)) !== undefined) await disk.unlink(temporary);
  try {
    const result = await writeNewFile(disk, temporary, write);
    await retryWhileInUse(() => disk.rename(temporary, path));
    return result;
  } catch (error) {
    // Frees the space of the incomplete file, because the disk may be full.
    await disk.unlink(temporary).catch(() => undefined);
    throw error;
  }
}

/** Replaces a file atomically with these bytes, and syncs its folder. */
export async function replaceContents(
  disk: FileSystem,
  path: string,
  bytes: Uint8Array,
): Promise<void> {
  await replaceFile(disk, path, (file) => writeFully(file, bytes));
  await disk.syncDirectory(dirname(path));
}
