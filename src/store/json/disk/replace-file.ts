import type { FileSystem, OpenFile } from './file-system.ts';

/**
 * Replaces a file atomically: writes a temporary file, syncs it and renames it. The caller syncs
 * the directory.
 */
export async function replaceFile<T>(
  disk: FileSystem,
  path: string,
  write: (file: OpenFile) => Promise<T>,
): Promise<T> {
  const temporary = `${path}.tmp`;
  // Left behind by an interrupted attempt.
  if ((await disk.sizeOf(temporary)) !== undefined) await disk.unlink(temporary);
  const file = await disk.create(temporary);
  try {
    const result = await write(file);
    await file.datasync();
    await file.close();
    await disk.rename(temporary, path);
    return result;
  } catch (error) {
    await file.close().catch(() => undefined);
    // Frees the space of the incomplete file, because the disk may be full.
    await disk.unlink(temporary).catch(() => undefined);
    throw error;
  }
}
