import { setTimeout as sleep } from 'node:timers/promises';
import type { FileSystem, OpenFile } from '../../../src/store/json/disk/file-system.ts';

type Operation =
  | 'create'
  | 'open'
  | 'readFile'
  | 'rename'
  | 'unlink'
  | 'makeDirectory'
  | 'syncDirectory'
  | 'write'
  | 'truncate'
  | 'datasync'
  | 'close';

export interface FaultyDisk extends FileSystem {
  /** All calls, as `operation path`. */
  readonly calls: string[];
  /**
   * Called before each operation. It may throw or wait. If it returns a number, a write writes only
   * that many bytes.
   */
  fault: (operation: Operation, path: string) => number | undefined | void | Promise<void>;
  free: number;
}

export function diskFull(): Error {
  return Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
}

/** Returns a disk on which any operation can be made to fail. */
export function faultyDisk(disk: FileSystem): FaultyDisk {
  const before = async (operation: Operation, path: string) => {
    self.calls.push(`${operation} ${path}`);
    return self.fault(operation, path);
  };
  /** Returns the same function with `before`. Default of `place`: its first argument. */
  const faulty =
    <A extends unknown[], R>(
      operation: Operation,
      work: (...args: A) => Promise<R>,
      place?: string,
    ) =>
    async (...args: A): Promise<R> => {
      await before(operation, place ?? String(args[0]));
      return work(...args);
    };
  const wrapped = (path: string, file: OpenFile): OpenFile => ({
    async write(bytes, position) {
      const take = await before('write', path);
      return file.write(typeof take === 'number' ? bytes.subarray(0, take) : bytes, position);
    },
    read: (into, position) => file.read(into, position),
    truncate: faulty('truncate', file.truncate.bind(file), path),
    datasync: faulty('datasync', file.datasync.bind(file), path),
    size: () => file.size(),
    close: faulty('close', file.close.bind(file), path),
  });
  const self: FaultyDisk = {
    calls: [],
    fault: () => undefined,
    free: Number.POSITIVE_INFINITY,
    create: faulty('create', async (path) => wrapped(path, await disk.create(path))),
    open: faulty('open', async (path, how) => wrapped(path, await disk.open(path, how))),
    readFile: faulty('readFile', disk.readFile.bind(disk)),
    rename: faulty('rename', disk.rename.bind(disk)),
    unlink: faulty('unlink', disk.unlink.bind(disk)),
    makeDirectory: faulty('makeDirectory', disk.makeDirectory.bind(disk)),
    list: (path) => disk.list(path),
    sizeOf: (path) => disk.sizeOf(path),
    syncDirectory: faulty('syncDirectory', disk.syncDirectory.bind(disk)),
    freeBytes: async (path) => Math.min(self.free, await disk.freeBytes(path)),
  };
  return self;
}

export interface HeldDisk extends FileSystem {
  /** Delay of each `fdatasync`. */
  holdMs: number;
  /** Whether each `fdatasync` fails after the delay. */
  failing: boolean;
}

/** Returns a disk whose `fdatasync` can be delayed or made to fail. */
export function heldDisk(disk: FileSystem): HeldDisk {
  const self = Object.assign(faultyDisk(disk), { holdMs: 0, failing: false });
  self.fault = async (operation) => {
    if (operation !== 'datasync') return;
    await sleep(self.holdMs);
    if (self.failing) throw Object.assign(new Error('EIO: injected'), { code: 'EIO' });
  };
  return self;
}
