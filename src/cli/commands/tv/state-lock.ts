import { hash } from 'node:crypto';
import { realpath, stat, unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

export type Release = () => Promise<void>;

/**
 * Returns the name of the socket that locks the file. On Linux and Windows the operating system
 * frees the name when the process ends, even after a crash.
 */
async function socketName(file: string, platform: NodeJS.Platform): Promise<string> {
  const folder = await realpath(dirname(resolve(file)));
  const { dev, ino } = await stat(folder, { bigint: true });
  const id = hash('sha256', `${dev}-${ino}/${basename(file)}`).slice(0, 32);
  if (platform === 'linux') return `\0signage-kit/tv/${id}`;
  return platform === 'win32'
    ? `\\\\.\\pipe\\signage-kit-tv-${id}`
    : join(tmpdir(), `signage-tv-${id}.sock`);
}

function listen(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((done, fail) => {
    server.once('error', fail);
    server.listen({ path, exclusive: true }, () => {
      server.unref();
      done(server);
    });
  });
}

function answers(path: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(path, () => {
      socket.destroy();
      done(true);
    });
    socket.on('error', () => done(false));
  });
}

/**
 * Locks a state file for this process. Returns `undefined` if another process holds the lock. A
 * socket is the lock, because the file itself is replaced on each save, and a lock file would
 * remain after a power failure.
 */
export async function acquireLock(
  file: string,
  platform: NodeJS.Platform = process.platform,
): Promise<Release | undefined> {
  const path = await socketName(file, platform);
  const tryOnce = async () => {
    try {
      const server = await listen(path);
      return () => new Promise<void>((done) => server.close(() => done()));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      return undefined;
    }
  };
  const held = await tryOnce();
  if (held || (await answers(path))) return held;
  // A socket in the file system remains after its process ends.
  if (platform !== 'linux' && platform !== 'win32') await unlink(path).catch(() => {});
  return tryOnce();
}
