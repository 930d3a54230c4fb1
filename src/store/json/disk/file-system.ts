import { constants, readFile as readFileByCallback } from 'node:fs';
import * as fs from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

/** What the store needs of an open file. */
export interface OpenFile {
  /** Writes at the end (files opened to append), or at `position`. Returns how many bytes it took: it may be fewer. */
  write(bytes: Uint8Array, position?: number): Promise<number>;
  /** Reads into `into` from `position`; 0 at the end. */
  read(into: Uint8Array, position: number): Promise<number>;
  truncate(length: number): Promise<void>;
  /** `fdatasync`: contents and size are on the disk when it resolves. */
  datasync(): Promise<void>;
  size(): Promise<number>;
  close(): Promise<void>;
}

/** The disk as the store sees it: all its I/O goes through here, so that a test can stand between. */
export interface FileSystem {
  /** Creates a file that must not exist, readable by its owner alone (0600), for appending. */
  create(path: string): Promise<OpenFile>;
  /** Opens an existing file, to read or to append and truncate. */
  open(path: string, how: 'read' | 'append'): Promise<OpenFile>;
  readFile(path: string): Promise<Buffer>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Makes a folder and those above it (0700), and makes their names last. */
  makeDirectory(path: string): Promise<void>;
  /** Names in a folder; none when there is no such folder. */
  list(path: string): Promise<string[]>;
  /** Bytes of a file, `undefined` when there is none. */
  sizeOf(path: string): Promise<number | undefined>;
  /** Makes names that were made, renamed or unlinked in a folder last. */
  syncDirectory(path: string): Promise<void>;
  /** Free bytes on the file system of a path. */
  freeBytes(path: string): Promise<number>;
}

function wrap(file: fs.FileHandle): OpenFile {
  return {
    write: async (bytes, position) =>
      (await file.write(bytes, 0, bytes.length, position ?? null)).bytesWritten,
    read: async (into, position) => (await file.read(into, 0, into.length, position)).bytesRead,
    truncate: (length) => file.truncate(length),
    datasync: () => file.datasync(),
    size: async () => (await file.stat()).size,
    close: () => file.close(),
  };
}

function unlessMissing<T>(instead: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT') return instead;
    throw error;
  };
}

const readFile = promisify(readFileByCallback);

const appending = constants.O_WRONLY | constants.O_APPEND;

async function syncDirectory(path: string): Promise<void> {
  // Windows opens no folders; NTFS keeps names in its own journal.
  if (process.platform === 'win32') return;
  const directory = await fs.open(path, constants.O_RDONLY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Node's own `recursive` never comes back from where no folder can be made, such as /proc. */
async function makeDirectory(path: string): Promise<void> {
  try {
    await fs.mkdir(path, 0o700);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && (await fs.stat(path)).isDirectory()) return;
    if (code === 'EEXIST') throw new Error(`${path} is not a folder`);
    if (code !== 'ENOENT') throw error;
    await makeDirectory(dirname(path));
    await fs.mkdir(path, 0o700);
  }
  await syncDirectory(dirname(path));
}

/** The machine's own disk. */
export const nodeFileSystem: FileSystem = {
  create: async (path) =>
    wrap(await fs.open(path, appending | constants.O_CREAT | constants.O_EXCL, 0o600)),
  open: async (path, how) =>
    wrap(await fs.open(path, how === 'read' ? constants.O_RDONLY : appending)),
  // A start reads thousands of documents: with callbacks that takes two thirds of what it takes with promises.
  readFile,
  rename: (from, to) => fs.rename(from, to),
  unlink: (path) => fs.unlink(path),
  makeDirectory,
  list: (path) => fs.readdir(path).catch(unlessMissing<string[]>([])),
  sizeOf: (path) => fs.stat(path).then((stat) => stat.size, unlessMissing(undefined)),
  syncDirectory,
  async freeBytes(path) {
    const { bavail, bsize } = await fs.statfs(path);
    return bavail * bsize;
  },
};

/** Writes all of `bytes`, whatever the system takes at a time; a file that takes none is an error. */
export async function writeFully(file: OpenFile, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const took = await file.write(done === 0 ? bytes : bytes.subarray(done));
    if (took === 0) throw new Error(`only ${done} of ${bytes.length} bytes were written`);
    done += took;
  }
}

/** Makes last what a process that crashed had written and not yet synced. */
export async function syncFile(disk: FileSystem, path: string): Promise<void> {
  const file = await disk.open(path, 'append');
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
}
