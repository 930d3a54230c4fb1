import * as callbacks from 'node:fs';
import * as fs from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const { constants } = callbacks;
// FileHandle has these as methods, but Yarn Plug'n'Play replaces it with a class that lacks them.
const sync = promisify(callbacks.fsync);
const datasync = promisify(callbacks.fdatasync);
// The start reads thousands of documents. The callback API takes a third less time than promises.
const readFile = promisify(callbacks.readFile);

export interface OpenFile {
  /**
   * Writes at the end of the file. Linux ignores `position` on files opened for appending. Returns
   * the number of bytes written, which may be fewer than given.
   */
  write(bytes: Uint8Array, position?: number): Promise<number>;
  /** Reads into `into` from `position`. Returns the number of bytes read; 0 at the end. */
  read(into: Uint8Array, position: number): Promise<number>;
  truncate(length: number): Promise<void>;
  /** `fdatasync`: contents and size are on disk when it resolves. */
  datasync(): Promise<void>;
  size(): Promise<number>;
  close(): Promise<void>;
}

/** The store reads and writes its data only through this interface, so tests can inject faults. */
export interface FileSystem {
  /** Creates a file for appending, with mode 0600. Fails if it exists. */
  create(path: string): Promise<OpenFile>;
  /** Opens an existing file, either to read or to append and truncate. */
  open(path: string, how: 'read' | 'append'): Promise<OpenFile>;
  readFile(path: string): Promise<Buffer>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Creates a folder and its parents with mode 0700, and syncs their names to disk. */
  makeDirectory(path: string): Promise<void>;
  /** Lists the names in a folder. Returns an empty list if there is no such folder. */
  list(path: string): Promise<string[]>;
  /** Returns the size of a file in bytes, or `undefined` if it does not exist. */
  sizeOf(path: string): Promise<number | undefined>;
  /** Syncs a folder: created, renamed and unlinked names survive a power cut. */
  syncDirectory(path: string): Promise<void>;
  /** Returns the free bytes of the file system that holds a path. */
  freeBytes(path: string): Promise<number>;
}

function wrap(file: fs.FileHandle): OpenFile {
  return {
    write: async (bytes, position) =>
      (await file.write(bytes, 0, bytes.length, position ?? null)).bytesWritten,
    read: async (into, position) => (await file.read(into, 0, into.length, position)).bytesRead,
    truncate: (length) => file.truncate(length),
    datasync: () => datasync(file.fd),
    size: async () => (await file.stat()).size,
    close: () => file.close(),
  };
}

function unlessMissing<T>(fallback: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT') return fallback;
    throw error;
  };
}

const appending = constants.O_WRONLY | constants.O_APPEND;

async function syncDirectory(path: string): Promise<void> {
  // Windows cannot sync folders. NTFS journals names itself.
  if (process.platform === 'win32') return;
  const directory = await fs.open(path, constants.O_RDONLY);
  try {
    await sync(directory.fd);
  } finally {
    await directory.close();
  }
}

/**
 * Creates parents one by one: Node's `recursive` option hangs where no folder can be created, such
 * as /proc.
 */
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

/** The file system of the operating system. */
export const nodeFileSystem: FileSystem = {
  create: async (path) =>
    wrap(await fs.open(path, appending | constants.O_CREAT | constants.O_EXCL, 0o600)),
  open: async (path, how) =>
    wrap(await fs.open(path, how === 'read' ? constants.O_RDONLY : appending)),
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

/** Writes all of `bytes`, retrying short writes. A write of 0 bytes is an error. */
export async function writeFully(file: OpenFile, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const written = await file.write(done === 0 ? bytes : bytes.subarray(done));
    if (written === 0) throw new Error(`only ${done} of ${bytes.length} bytes were written`);
    done += written;
  }
}

/** Syncs data that a crashed process wrote but did not sync. */
export function syncFile(disk: FileSystem, path: string): Promise<void> {
  return withFile(disk, path, 'append', (file) => file.datasync());
}

/** Opens a file for the work, and closes it afterwards. */
export async function withFile<T>(
  disk: FileSystem,
  path: string,
  how: 'read' | 'append',
  work: (file: OpenFile) => Promise<T>,
): Promise<T> {
  const file = await disk.open(path, how);
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}
