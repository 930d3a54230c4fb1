import { lstat, readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { openToOthers, othersCan, othersCanRead, othersCanWrite } from '../domain/file-access.ts';
import type { LogSink } from '../domain/log.ts';

interface DataAccess {
  /** Only warns of what others can change. */
  allowOpenData: boolean | undefined;
  log: LogSink;
}

/** Files that hold a secret. */
const secrets = ['secret', 'admin-token'];

/**
 * Looks at the modes of a data folder and of what stands in it. Throws `open_to_others` when others on the machine can change one of them, and warns once
 * when they can read one. Windows keeps no such modes.
 */
export async function checkDataAccess(
  location: string,
  { allowOpenData, log }: DataAccess,
): Promise<void> {
  const isFolder = !/^[a-z][a-z0-9+]+:/i.test(location);
  if (!isFolder || process.platform === 'win32') return;
  const folder = resolve(location);
  const modes = await modesIn(folder);
  const mend = `chmod -R go-rwx ${folder}`;
  const changeable = modes.find(({ mode }) => othersCanWrite(mode));
  if (changeable && !allowOpenData)
    throw openToOthers(changeable.path, changeable.mode, mend, 'Or allow it: --allow-open-data.');
  if (changeable)
    return log.warn(
      { path: changeable.path },
      othersCan('write', changeable.path, changeable.mode, mend),
    );
  const toRead = modes.find(
    ({ path, mode }) =>
      othersCanRead(mode) &&
      (path === folder || secrets.some((name) => path === join(folder, name))),
  );
  if (toRead) log.warn({ path: toRead.path }, othersCan('read', toRead.path, toRead.mode, mend));
}

/** The folder and its entries; none for a folder that is not there, or cannot be read: the store says why. */
async function modesIn(folder: string): Promise<{ path: string; mode: number }[]> {
  try {
    const modes = [{ path: folder, mode: (await stat(folder)).mode }];
    for (const name of await readdir(folder)) {
      const entry = await lstat(join(folder, name));
      // The modes of links and sockets say nothing.
      if (entry.isFile() || entry.isDirectory())
        modes.push({ path: join(folder, name), mode: entry.mode });
    }
    return modes;
  } catch {
    return [];
  }
}
