import { open, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { minuteMs } from '../../../src/domain/clock.ts';
import { SignageError } from '../../../src/domain/error.ts';
import type { lockFolder } from '../../../src/store/json/lock/folder-lock.ts';

/** A lock file with a timestamp. An old one counts as abandoned. */
export const lockByTime: typeof lockFolder = async (directory, { clock }) => {
  const path = join(directory, 'lock');
  const since = Number(await readFile(path, 'utf8').catch(() => '0'));
  if (clock.now() - since < minuteMs)
    throw new SignageError('store_locked', `${directory} is in use since ${since}.`);
  await unlink(path).catch(() => undefined);
  await (await open(path, 'wx')).close();
  await writeFile(path, String(clock.now()));
  return () => unlink(path).catch(() => undefined);
};
