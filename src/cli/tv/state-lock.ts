import { hash } from 'node:crypto';
import { realpath, stat, unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

/** Gives the name up again. */
export type Release = () => Promise<void>;

/** Where the system keeps a name for one process at a time, and frees it when that ends, however it ends. */
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
 * Holds a file for this process, though the file itself is replaced again and again; `undefined` when another process has it. It is a socket, for a
 * lock file would stay behind when the power goes.
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
  // Of a socket in the file system the name outlives the process.
  if (platform !== 'linux' && platform !== 'win32') await unlink(path).catch(() => {});
  return tryOnce();
}
