import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { findWrittenPath } from './written-path.ts';

/** Code of the error for a path that is no regular file. */
export const notRegular = 'ENOTFILE';

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder, not a file';
  if (stats.isFIFO()) return 'a named pipe, not a file: pipe into stdin, and give /dev/stdin';
  if (stats.isSocket()) return 'a socket, not a file';
  return 'a device, not a file';
}

/** Throws an error with the code `notRegular` for everything that is no file. */
export function requireRegular(stats: Stats): void {
  if (!stats.isFile()) throw Object.assign(new Error(`is ${kindOf(stats)}`), { code: notRegular });
}

/**
 * Reads a regular file, or stdin by its name. Refuses everything else before it opens it: opening a
 * named pipe waits for a writer, no signal ends this wait, and a device may have no end.
 */
async function readExactly(path: string): Promise<Buffer> {
  const stats = await stat(path);
  if (path !== '/dev/stdin') requireRegular(stats);
  return readFile(path);
}

/** Like `readExactly`, for a file that a person named, maybe as another system does. */
export async function readRegularBytes(path: string): Promise<Buffer> {
  return readExactly(await findWrittenPath(path));
}

/** Like `readExactly`, for files that programs write in UTF-8. */
export async function readRegularFile(path: string): Promise<string> {
  return (await readExactly(path)).toString('utf8');
}
