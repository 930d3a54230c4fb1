import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';

/** Code of the error for a path that is no regular file. */
export const notRegular = 'ENOTFILE';

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder, not a file';
  if (stats.isFIFO()) return 'a named pipe, not a file: pipe into stdin, and give /dev/stdin';
  if (stats.isSocket()) return 'a socket, not a file';
  return 'a device, not a file';
}

/**
 * Reads a regular file, or stdin by its name. Refuses everything else before it opens it: opening a
 * named pipe waits for a writer, no signal ends this wait, and a device may have no end.
 */
export async function readRegularBytes(path: string): Promise<Buffer> {
  const stats = await stat(path);
  if (stats.isFile() || path === '/dev/stdin') return readFile(path);
  throw Object.assign(new Error(`is ${kindOf(stats)}`), { code: notRegular });
}

/** Like `readRegularBytes`, for files that programs write in UTF-8. */
export async function readRegularFile(path: string): Promise<string> {
  return (await readRegularBytes(path)).toString('utf8');
}
