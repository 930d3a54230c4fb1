import { cp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const passing = /lock\.sock|\.tmp$/;

/** What tells one state of a folder from another: its files with their sizes and times. */
async function stateOf(folder: string): Promise<string> {
  const names = (await readdir(folder, { recursive: true }))
    .filter((name) => !passing.test(name))
    .sort();
  const states = names.map(async (name) => {
    const { size, mtimeNs, ino } = await stat(join(folder, name), { bigint: true });
    return `${name} ${ino} ${size} ${mtimeNs}`;
  });
  return (await Promise.all(states)).join('\n');
}

async function copyOnce(folder: string, copy: string): Promise<boolean> {
  try {
    const before = await stateOf(folder);
    await cp(folder, copy, { recursive: true, filter: (path) => !passing.test(path) });
    return (await stateOf(folder)) === before;
  } catch (error) {
    // A file was there when its folder was read, and is gone: the store writes its documents, and
    // deletes the journal that they replace.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/**
 * Copies a data folder as it is at one moment, as a crash of its process would leave it: again for
 * as long as the store changes it meanwhile.
 */
export async function crashCopy(folder: string, copy: string): Promise<void> {
  while (!(await copyOnce(folder, copy))) {
    await rm(copy, { recursive: true, force: true });
    await sleep(20);
  }
}
