import { mkdtemp, readlink, rename, rm, symlink, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Answer,
  ask,
  HeldBy,
  type Holder,
  listen,
  type Release,
  stopListening,
} from './lock-socket.ts';

/** A socket's path is cut silently when it is longer (macOS: 103 bytes). */
const longestPath = 103;
/** Holders may come and go while one tries. */
const tries = 5;
/** Those who found a dead socket at the same moment have taken their steps by then. */
const settledMs = 100;

const fileName = 'lock.sock';

/**
 * Holds `lock.sock` in a folder: a link to this process's own socket `lock.sock.<nonce>`. A link is made or not made in one step, when there is already
 * somebody to answer behind it; binding and unlinking `lock.sock` itself gave two owners now and then.
 */
export async function holdSocketFile(directory: string, holder: Holder): Promise<Release> {
  const own = `${fileName}.${holder.nonce.slice(0, 8)}`;
  const reach = await shortFolder(directory, own);
  try {
    const server = await listen(join(reach.folder, own), holder);
    const release = async () => {
      if ((await readlink(join(directory, fileName)).catch(() => undefined)) === own)
        await remove(join(directory, fileName));
      await stopListening(server);
      await remove(join(directory, own));
    };
    try {
      await takePlace(reach.folder, own, holder);
      return release;
    } catch (error) {
      await release();
      throw error;
    }
  } finally {
    await reach.forget();
  }
}

/** Whoever calls the folder's socket must reach this process; where a dead one was found, once all who found it have done what they do about it. */
async function takePlace(folder: string, own: string, { nonce }: Holder): Promise<void> {
  const path = join(folder, fileName);
  for (let left = tries; ; left--) {
    await symlink(own, path).catch(unlessCode('EEXIST', undefined));
    if (left < tries) await sleep(settledMs);
    const answer = await ask(path);
    if (isBy(answer, nonce)) return;
    if (answer !== 'dead' || left <= 1) throw new HeldBy(answer);
    await moveAway(folder, nonce);
  }
}

/** Another may have moved the dead one away already, and what is moved here is the living one in its place: then it is put back. */
async function moveAway(folder: string, nonce: string): Promise<void> {
  const path = join(folder, fileName);
  const aside = `${path}.${nonce.slice(0, 8)}.dead`;
  const isMoved = await rename(path, aside).then(() => true, unlessCode('ENOENT', false));
  if (!isMoved) return;
  const answer = await ask(aside);
  const target = await readlink(aside).catch(unlessCode('EINVAL', undefined));
  if (answer === 'dead') {
    if (target !== undefined) await remove(join(folder, target));
    return remove(aside);
  }
  // Not by renaming: that would take the place of one that was made meanwhile.
  await symlink(target ?? basename(aside), path).catch(unlessCode('EEXIST', undefined));
  if (target !== undefined) await remove(aside);
  if (!isBy(answer, nonce)) throw new HeldBy(answer);
}

function isBy(answer: Answer, nonce: string): boolean {
  return typeof answer === 'object' && answer.nonce === nonce;
}

/** The folder itself, or a symbolic link to it in the temporary folder when sockets in it would have too long a path. */
async function shortFolder(
  directory: string,
  name: string,
): Promise<{ folder: string; forget: Release }> {
  if (Buffer.byteLength(join(directory, name)) <= longestPath)
    return { folder: directory, forget: async () => {} };
  const temporary = await mkdtemp(join(tmpdir(), 'signage-lock-'));
  await symlink(directory, join(temporary, 'd'));
  return {
    folder: join(temporary, 'd'),
    forget: () => rm(temporary, { recursive: true, force: true }),
  };
}

function remove(path: string): Promise<void> {
  return unlink(path).catch(unlessCode('ENOENT', undefined));
}

function unlessCode<T>(code: string, instead: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === code) return instead;
    throw error;
  };
}
