import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { partsFolder, readPartKey, readUploadName } from '../domain/media/media-keys.ts';

/** Space that uploads leave for events and changes, which share the disk. */
const reservedBytes = 64 * 1024 * 1024;

/** Folder of the files that are being written. */
export const incompleteFolder = 'incomplete';
/** The size in the name reserves the space of the whole file, for all instances of the folder. */
export const incompleteName = (unique: string, size: number) => `${unique}-${size}`;
export const isIncompleteName = (name: string) => /^[0-9a-f-]{36}-\d+$/.test(name);

const namesIn = (folder: string) => fs.readdir(folder).catch(() => []);

/** Returns how many bytes the files that are being written still lack. */
async function missingBytes(folder: string): Promise<number> {
  let missing = 0;
  for (const name of (await namesIn(folder)).filter(isIncompleteName)) {
    const size = Number(name.slice(name.lastIndexOf('-') + 1));
    const written = await fs.stat(join(folder, name)).catch(() => undefined);
    if (written && size > written.size) missing += size - written.size;
  }
  return missing;
}

/** Returns the sum of the sizes of all files whose parts arrive, except for one file. */
async function assemblyBytes(folder: string, exceptId: string): Promise<number> {
  let bytes = 0;
  for (const tenant of await namesIn(folder))
    for (const name of await namesIn(join(folder, tenant))) {
      const upload = readUploadName(name);
      if (upload && upload.id !== exceptId) bytes += upload.size;
    }
  return bytes;
}

/**
 * Returns whether the disk has space for a file that is being written: for the rest of all files
 * that are being written, and for the assembly of all uploads in parts. A first part needs space
 * for all other parts, too.
 */
export async function hasSpaceFor(folder: string, key: string): Promise<boolean> {
  const part = readPartKey(key);
  const ownBytes = part ? part.size + part.size - part.offset - part.length : 0;
  const needed =
    ownBytes +
    (await missingBytes(join(folder, incompleteFolder))) +
    (await assemblyBytes(join(folder, partsFolder), part?.id ?? key));
  const { bavail, bsize } = await fs.statfs(folder);
  return bavail * bsize >= needed + reservedBytes;
}
