import type { FileSystem, OpenFile } from './file-system.ts';

/** Writes a file whole or not at all: to a temporary file, synced, then renamed. The caller syncs the directory. */
export async function replaceFile<T>(
  disk: FileSystem,
  path: string,
  write: (file: OpenFile) => Promise<T>,
): Promise<T> {
  const temporary = `${path}.tmp`;
  // Left behind by an attempt that was cut short.
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
    // A full disk must not keep what is of no use.
    await disk.unlink(temporary).catch(() => undefined);
    throw error;
  }
}
