import { lstat, readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  describeOthersAccess,
  openToOthersError,
  othersCanRead,
  othersCanWrite,
} from '../domain/file-access.ts';
import type { LogSink } from '../domain/log.ts';
import { isFolder } from '../store/location/open.ts';

interface DataAccess {
  /** If true, files that others can change only cause a warning. */
  allowOpenData: boolean | undefined;
  log: LogSink;
}

/** Files that contain a secret. */
const secrets = ['secret', 'admin-token'];

/**
 * Checks the modes of a data folder and its entries. Throws `open_to_others` if other users of the
 * machine can change one of them. With `allowOpenData`, only warns. Also warns if other users can
 * read the folder or a secret. Does nothing on Windows, which has no such modes.
 */
export async function checkDataAccess(
  location: string,
  { allowOpenData, log }: DataAccess,
): Promise<void> {
  if (!isFolder(location) || process.platform === 'win32') return;
  const folder = resolve(location);
  const modes = await modesIn(folder);
  const fix = `chmod -R go-rwx ${folder}`;
  const changeable = modes.find(({ mode }) => othersCanWrite(mode));
  if (changeable && !allowOpenData)
    throw openToOthersError(
      changeable.path,
      changeable.mode,
      fix,
      'Or allow it: --allow-open-data.',
    );
  if (changeable)
    return log.warn(
      { path: changeable.path },
      describeOthersAccess('write', changeable.path, changeable.mode, fix),
    );
  const readableEntry = modes.find(
    ({ path, mode }) =>
      othersCanRead(mode) &&
      (path === folder || secrets.some((name) => path === join(folder, name))),
  );
  if (readableEntry)
    log.warn(
      { path: readableEntry.path },
      describeOthersAccess('read', readableEntry.path, readableEntry.mode, fix),
    );
}

/**
 * Returns the modes of the folder and its entries. Returns an empty list if the folder is missing
 * or unreadable, because the store reports this error.
 */
async function modesIn(folder: string): Promise<{ path: string; mode: number }[]> {
  try {
    const modes = [{ path: folder, mode: (await stat(folder)).mode }];
    for (const name of await readdir(folder)) {
      const entry = await lstat(join(folder, name));
      // The modes of links and sockets have no meaning.
      if (entry.isFile() || entry.isDirectory())
        modes.push({ path: join(folder, name), mode: entry.mode });
    }
    return modes;
  } catch {
    return [];
  }
}
