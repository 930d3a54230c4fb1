import { hash } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import { type Clock, iso, type Random } from '../../../domain/clock.ts';
import { SignageError } from '../../../domain/error.ts';
import { accessHint } from '../disk/access-hint.ts';
import {
  announceHolder,
  type Holder,
  holdSocketFile,
  LockHeldError,
  maxAttempts,
  queryHolder,
  type Release,
  stopListening,
} from './lock-file.ts';

export interface LockContext {
  clock: Clock;
  random: Random;
  platform: NodeJS.Platform;
}

/**
 * Locks a folder for this process, its only writer. The lock is a socket: the system releases it
 * when the process ends, even after a crash. A lock file with a timestamp could be stolen when the
 * clock jumps.
 *
 * Linux: an abstract socket named after the folder's device and inode, plus `lock.sock` in the
 * folder. `lock.sock` also keeps out containers that share the folder but not the network
 * namespace. macOS and others: `lock.sock`. Windows: a named pipe, named after the real path.
 *
 * Throws `store_locked`, naming the holder, or `store_unusable` if the folder cannot hold a socket.
 */
export async function lockFolder(
  directory: string,
  { clock, random, platform }: LockContext,
): Promise<Release> {
  const nonce = Buffer.from(random(16)).toString('hex');
  const holder: Holder = { pid: process.pid, since: iso(clock.now()), nonce };
  const releases: Release[] = [];
  const release = async () => {
    for (const releaseOne of releases.splice(0).toReversed()) await releaseOne();
  };
  try {
    const name = await systemName(directory, platform);
    if (name !== undefined) releases.push(await bindName(name, holder));
    if (platform !== 'win32') releases.push(await holdSocketFile(directory, holder));
    return release;
  } catch (error) {
    await release();
    throw await lockError(directory, error as Error);
  }
}

/**
 * Returns the name of the abstract socket on Linux, or of the named pipe on Windows. Returns
 * `undefined` on other platforms.
 */
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

/**
 * Binds the name. Only one process at a time can bind it. The system frees it when the process
 * ends.
 */
async function bindName(name: string, holder: Holder): Promise<Release> {
  for (let attemptsLeft = maxAttempts; ; attemptsLeft--) {
    const server = await announceHolder(name, holder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error;
      return undefined;
    });
    if (server) return () => stopListening(server);
    const other = await queryHolder(name);
    if (other !== 'dead' || attemptsLeft <= 1) throw new LockHeldError(other);
  }
}

async function lockError(directory: string, error: Error): Promise<SignageError> {
  if (error instanceof LockHeldError) {
    return new SignageError(
      'store_locked',
      `${directory} is in use by ${error.message}. Stop it first, or use another folder.`,
    );
  }
  const hint = await accessHint(error, directory);
  if (hint !== undefined) {
    return new SignageError(
      'store_unusable',
      `${directory} cannot be used as a data folder: ${error.message}`,
      { cause: error, hint },
    );
  }
  return new SignageError(
    'store_unusable',
    `${directory} cannot be locked (${error.message}): its file system may lack sockets or symbolic links, as exFAT, FAT and some shared folders do. Use a folder on a local disk with ext4, XFS, Btrfs or APFS.`,
    {
      cause: error,
    },
  );
}
