import { cp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const temporary = /lock\.sock|\.tmp$/;

/** Returns the files of a folder with their sizes and times. */
async function stateOf(folder: string): Promise<string> {
  const names = (await readdir(folder, { recursive: true }))
    .filter((name) => !temporary.test(name))
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
    await cp(folder, copy, { recursive: true, filter: (path) => !temporary.test(path) });
    return (await stateOf(folder)) === before;
  } catch (error) {
    // The store deleted a file after its folder was listed, such as an old journal segment.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/**
 * Copies a data folder as a crash of its process would leave it. Repeats the copy until the store
 * has changed nothing meanwhile.
 */
export async function crashCopy(folder: string, copy: string): Promise<void> {
  while (!(await copyOnce(folder, copy))) {
    await rm(copy, { recursive: true, force: true });
    await sleep(20);
  }
}
