import { mkdtemp, readlink, rename, rm, symlink, unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryParseJson } from '../../../domain/json/try-parse-json.ts';

/** The lock holder, as it identifies itself to other processes. */
export interface Holder {
  pid: number;
  /** Time at which it took the lock, as ISO 8601. */
  since: string;
  /** Unique for each holder. */
  nonce: string;
}

export type Release = () => Promise<void>;

/** `dead`: nothing listens. `silent`: something listens but sends no valid holder. */
export type HolderStatus = Holder | 'dead' | 'silent';

/** Another process holds the lock of the folder. */
export class LockHeldError extends Error {
  constructor(other: HolderStatus) {
    super(
      typeof other === 'object'
        ? `process ${other.pid}, since ${other.since}`
        : 'another process, which does not answer',
    );
  }
}

/**
 * Timeout of a query, in milliseconds. A holder that accepts but does not reply is alive but busy.
 */
const queryTimeoutMs = 2000;

/**
 * Listens, and sends the holder to every client. Rejects with `EADDRINUSE` if the name is taken.
 */
export function announceHolder(path: string, holder: Holder): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(`${JSON.stringify(holder)}\n`);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // Without `exclusive`, a cluster's primary would share the name among its workers.
    server.listen({ path, exclusive: true }, () => {
      server.off('error', reject);
      // Later errors concern one connection, not the lock.
      server.on('error', () => {});
      server.unref();
      resolve(server);
    });
  });
}

export function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

/** Asks the process that listens on `path` for the holder of the lock. */
export function queryHolder(path: string): Promise<HolderStatus> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(path);
    socket.setTimeout(queryTimeoutMs, () => {
      resolve('silent');
      socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) =>
      resolve(['ECONNREFUSED', 'ENOENT'].includes(error.code ?? '') ? 'dead' : 'silent'),
    );
    socket.on('data', (bytes) => {
      text += bytes.toString();
    });
    socket.on('end', () => resolve((tryParseJson(text) as Holder | undefined) ?? 'silent'));
  });
}

/**
 * Maximum length of a socket path in bytes, as on macOS. The system silently truncates longer
 * paths.
 */
const maxPathBytes = 103;
/** Maximum number of attempts to take the lock. A holder may exit between two attempts. */
export const maxAttempts = 5;
/**
 * Delay after the removal of a lock whose holder is `dead`, in milliseconds. By its end, every
 * process that found the lock at the same moment has finished removing it.
 */
const settledMs = 100;

const fileName = 'lock.sock';

/**
 * Locks a folder with `lock.sock`: a symbolic link to this process's own socket,
 * `lock.sock.<nonce>`. Creating a link is atomic, and the target already accepts connections.
 * Binding and unlinking `lock.sock` directly has a race that can produce two owners.
 */
export async function holdSocketFile(directory: string, holder: Holder): Promise<Release> {
  const own = `${fileName}.${holder.nonce.slice(0, 8)}`;
  const shortPath = await shortFolder(directory, own);
  try {
    const server = await announceHolder(join(shortPath.folder, own), holder).catch(
      async (error) => {
        // exFAT makes a file before it refuses the socket.
        await remove(join(directory, own));
        throw error;
      },
    );
    const release = async () => {
      if ((await readlink(join(directory, fileName)).catch(() => undefined)) === own)
        await remove(join(directory, fileName));
      await stopListening(server);
      await remove(join(directory, own));
    };
    try {
      await claimLink(shortPath.folder, own, holder);
      return release;
    } catch (error) {
      await release();
      throw error;
    }
  } finally {
    await shortPath.cleanUp();
  }
}

/**
 * Links `lock.sock` to this process, or throws `LockHeldError`. After removing a link to a `dead`
 * holder, it waits and checks that `lock.sock` still leads to this process.
 */
async function claimLink(folder: string, own: string, { nonce }: Holder): Promise<void> {
  const path = join(folder, fileName);
  for (let attemptsLeft = maxAttempts; ; attemptsLeft--) {
    await symlink(own, path).catch(unlessCode('EEXIST', undefined));
    if (attemptsLeft < maxAttempts) await sleep(settledMs);
    const status = await queryHolder(path);
    if (isHeldBy(status, nonce)) return;
    if (status !== 'dead' || attemptsLeft <= 1) throw new LockHeldError(status);
    await removeDeadLink(folder, nonce);
  }
}

/**
 * Removes a `lock.sock` whose holder is `dead`. If another process has replaced it with a valid
 * link meanwhile, restores that link and throws `LockHeldError`.
 */
async function removeDeadLink(folder: string, nonce: string): Promise<void> {
  const path = join(folder, fileName);
  const movedPath = `${path}.${nonce.slice(0, 8)}.dead`;
  const isMoved = await rename(path, movedPath).then(() => true, unlessCode('ENOENT', false));
  if (!isMoved) return;
  const status = await queryHolder(movedPath);
  const target = await readlink(movedPath).catch(unlessCode('EINVAL', undefined));
  if (status === 'dead') {
    if (target !== undefined) await remove(join(folder, target));
    return remove(movedPath);
  }
  // Do not rename: that would replace a link created meanwhile.
  await symlink(target ?? basename(movedPath), path).catch(unlessCode('EEXIST', undefined));
  if (target !== undefined) await remove(movedPath);
  if (!isHeldBy(status, nonce)) throw new LockHeldError(status);
}

function isHeldBy(status: HolderStatus, nonce: string): boolean {
  return typeof status === 'object' && status.nonce === nonce;
}

/**
 * Returns the folder. If a socket path in it would be too long, returns a symbolic link to it in
 * the temporary folder.
 */
async function shortFolder(
  directory: string,
  name: string,
): Promise<{ folder: string; cleanUp: Release }> {
  if (Buffer.byteLength(join(directory, name)) <= maxPathBytes)
    return { folder: directory, cleanUp: async () => {} };
  const temporary = await mkdtemp(join(tmpdir(), 'signage-lock-'));
  await symlink(directory, join(temporary, 'd'));
  return {
    folder: join(temporary, 'd'),
    cleanUp: () => rm(temporary, { recursive: true, force: true }),
  };
}

function remove(path: string): Promise<void> {
  return unlink(path).catch(unlessCode('ENOENT', undefined));
}

function unlessCode<T>(code: string, fallback: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === code) return fallback;
    throw error;
  };
}
