import { hash } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import { type Clock, iso, type Random } from '../../../domain/clock.ts';
import { SignageError } from '../../../domain/error.ts';
import { holdSocketFile } from './lock-file.ts';
import { ask, HeldBy, type Holder, listen, type Release, stopListening } from './lock-socket.ts';

export interface LockContext {
  clock: Clock;
  random: Random;
  platform: NodeJS.Platform;
}

/** Holders may come and go while one tries. */
const tries = 5;

/**
 * Makes this process the one writer of a folder. The lock is a socket, so that the system frees it when the process ends, however it ends: a file with
 * a time stamp would be stolen at a clock's jump.
 *
 * Linux: an abstract socket named after the folder's device and inode, and then `lock.sock` in the folder, for containers that share the folder and not the
 * network. macOS and others: `lock.sock`. Windows: a named pipe of the real path.
 *
 * Throws `store_locked`, naming the holder, and `store_unusable` where no such socket can be made.
 */
export async function lockFolder(
  directory: string,
  { clock, random, platform }: LockContext,
): Promise<Release> {
  const nonce = Buffer.from(random(16)).toString('hex');
  const holder: Holder = { pid: process.pid, since: iso(clock.now()), nonce };
  const held: Release[] = [];
  const release = async () => {
    for (const one of held.splice(0).toReversed()) await one();
  };
  try {
    const name = await systemName(directory, platform);
    if (name !== undefined) held.push(await holdName(name, holder));
    if (platform !== 'win32') held.push(await holdSocketFile(directory, holder));
    return release;
  } catch (error) {
    await release();
    throw refusal(directory, error as Error);
  }
}

/** The name that the system keeps apart from files, if there is such a thing. */
export async function systemName(
  directory: string,
  platform: NodeJS.Platform,
): Promise<string | undefined> {
  if (platform === 'win32')
    return `\\\\.\\pipe\\signage-kit-${hash('sha256', await realpath(directory))}`;
  if (platform !== 'linux') return undefined;
  const { dev, ino } = await stat(directory, { bigint: true });
  return `\0signage-kit/${dev}-${ino}`;
}

/** Such a name is taken by one process at a time, and free as soon as that ends. */
async function holdName(name: string, holder: Holder): Promise<Release> {
  for (let left = tries; ; left--) {
    const server = await listen(name, holder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error;
      return undefined;
    });
    if (server) return () => stopListening(server);
    const other = await ask(name);
    if (other !== 'dead' || left <= 1) throw new HeldBy(other);
  }
}

function refusal(directory: string, error: Error): SignageError {
  if (error instanceof HeldBy) {
    return new SignageError(
      'store_locked',
      `${directory} is in use by ${error.message}: stop it first. Only one service may use a data folder.`,
    );
  }
  return new SignageError(
    'store_unusable',
    `${directory} cannot be locked (${error.message}): use a folder on a local disk.`,
    {
      cause: error,
    },
  );
}
