import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Returns the size of all files in a folder, in bytes. */
export async function folderBytes(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  let bytes = 0;
  for (const name of names) {
    const entry = await lstat(join(folder, name));
    if (entry.isFile()) bytes += entry.size;
  }
  return bytes;
}
