import { hash } from 'node:crypto';
import { link, mkdtemp, realpath, rename, rm, stat, symlink, unlink } from 'node:fs/promises';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, iso, type Random } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { ask, type Holder, listen, stopListening } from './holder-socket.ts';

export interface LockContext {
  clock: Clock;
  random: Random;
  platform: NodeJS.Platform;
}

/** A socket's path is cut silently when it is longer (103 bytes on macOS). */
const longestPath = 100;
/** Holders may come and go while one tries. */
const tries = 5;
/** Those who found a dead socket at the same moment have taken their steps by then. */
const settledMs = 100;

/**
 * Makes this process the one writer of a folder; the answer gives it up again. The lock is a socket, so that the system frees it when the process ends,
 * however it ends: a file with a time stamp would be stolen at a clock's jump.
 *
 * Linux: an abstract socket named after the folder's device and inode, and then `lock.sock` in the folder, for containers that share the folder and not the
 * network. macOS and others: `lock.sock`. Windows: a named pipe of the real path.
 *
 * Throws `store_locked`, naming the holder, and `store_unusable` where no such socket can be made.
 */
export async function lockFolder(directory: string, { clock, random, platform }: LockContext): Promise<() => Promise<void>> {
  const nonce = Buffer.from(random(16)).toString('hex');
  const holder: Holder = { pid: process.pid, since: iso(clock.now()), nonce };
  const servers: Server[] = [];
  const release = async () => {
    for (const server of servers.toReversed()) await stopListening(server);
  };
  try {
    const name = await systemName(directory, platform);
    if (name !== undefined) servers.push(await holdName(directory, name, holder));
    if (platform !== 'win32') servers.push(await holdSocketFile(directory, holder));
    return release;
  } catch (error) {
    await release();
    if (error instanceof SignageError) throw error;
    throw new SignageError('store_unusable', `${directory} cannot be locked (${(error as Error).message}): use a folder on a local disk.`, { cause: error });
  }
}

/** The name that the system keeps apart from files, if there is such a thing. */
export async function systemName(directory: string, platform: NodeJS.Platform): Promise<string | undefined> {
  if (platform === 'win32') return `\\\\.\\pipe\\signage-kit-${hash('sha256', await realpath(directory))}`;
  if (platform !== 'linux') return undefined;
  const { dev, ino } = await stat(directory, { bigint: true });
  return `\0signage-kit/${dev}-${ino}`;
}

/** Such a name is taken by one process at a time, and free as soon as that ends. */
async function holdName(directory: string, name: string, holder: Holder): Promise<Server> {
  for (let left = tries; ; left--) {
    const server = await listenUnlessTaken(name, holder);
    if (server) return server;
    const other = await ask(name);
    if (other !== 'dead' || left <= 1) throw locked(directory, other);
  }
}

async function holdSocketFile(directory: string, holder: Holder): Promise<Server> {
  const { path, forget } = await shortPath(directory);
  try {
    for (let left = tries; ; left--) {
      const server = await listenUnlessTaken(path, holder);
      if (server) return await confirm(directory, path, server, holder, left < tries);
      const other = await ask(path);
      if (other !== 'dead' || left <= 1) throw locked(directory, other);
      await moveAway(directory, path, holder);
    }
  } finally {
    await forget();
  }
}

/** Another may have moved the dead socket away already, and what is moved here is its living one: then it is put back. */
async function moveAway(directory: string, path: string, { nonce }: Holder): Promise<void> {
  const aside = `${path}.${nonce.slice(0, 8)}`;
  const isMoved = await rename(path, aside).then(() => true, unlessCode('ENOENT', false));
  if (!isMoved) return;
  const other = await ask(aside);
  // Not by renaming: that would take the place of one that was made meanwhile.
  if (other !== 'dead') await link(aside, path).catch(unlessCode('EEXIST', undefined));
  await unlink(aside);
  if (other !== 'dead') throw locked(directory, other);
}

/** Whoever calls the folder's socket must reach this process; where a dead one was found, also once all who found it have done what they do about it. */
async function confirm(directory: string, path: string, server: Server, { nonce }: Holder, foundDead: boolean): Promise<Server> {
  for (const waitMs of foundDead ? [0, settledMs] : [0]) {
    await sleep(waitMs);
    const answer = await ask(path);
    if (typeof answer === 'object' && answer.nonce === nonce) continue;
    await stopListening(server);
    throw locked(directory, answer);
  }
  return server;
}

function unlessCode<T>(code: string, instead: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === code) return instead;
    throw error;
  };
}

async function listenUnlessTaken(path: string, holder: Holder): Promise<Server | undefined> {
  try {
    return await listen(path, holder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
}

/** The folder's socket by a path that is short enough, if need be through a symbolic link in the temporary folder. */
async function shortPath(directory: string): Promise<{ path: string; forget: () => Promise<void> }> {
  const path = join(directory, 'lock.sock');
  if (Buffer.byteLength(path) <= longestPath - 10) return { path, forget: async () => {} };
  const temporary = await mkdtemp(join(tmpdir(), 'signage-lock-'));
  await symlink(directory, join(temporary, 'd'));
  return { path: join(temporary, 'd', 'lock.sock'), forget: () => rm(temporary, { recursive: true, force: true }) };
}

function locked(directory: string, holder: Holder | 'dead' | 'silent'): SignageError {
  const who = typeof holder === 'object' ? `process ${holder.pid}, since ${holder.since}` : 'another process, which does not answer';
  return new SignageError('store_locked', `${directory} is in use by ${who}: stop it first. Only one service may use a data folder.`);
}
