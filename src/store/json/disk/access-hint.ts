import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { shellQuote } from '../../../domain/file-access.ts';

/**
 * Returns advice for the operator about a folder that the system refuses, such as a bind mount of a
 * container. `undefined`: the error has another cause.
 */
export async function accessHint(
  error: NodeJS.ErrnoException,
  directory: string,
): Promise<string | undefined> {
  const { code, syscall, path } = error;
  if (code === 'ENOSPC') return 'Free some space on its disk, then try again.';
  if (code === 'EROFS') return 'Its file system is read-only. Choose a folder elsewhere.';
  const uid = process.geteuid?.();
  if (code !== 'EACCES' || uid === undefined) return undefined;
  const who = `The service runs as user ${uid}`;
  if (syscall === 'mkdir' && path !== undefined)
    return `${who}, who may not create a folder in ${dirname(path)}. Choose a folder elsewhere, or create this one as root: install -d -o ${uid} -m 700 ${shellQuote(directory)}`;
  const owner = await stat(directory).then(
    (found) => `, and the folder belongs to user ${found.uid}`,
    () => '',
  );
  return `${who}${owner}. If the folder is its own: chown -R ${uid} ${shellQuote(directory)}`;
}
