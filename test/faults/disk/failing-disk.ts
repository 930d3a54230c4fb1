import type { FileSystem, OpenFile } from '../../../src/store/json/disk/file-system.ts';

/** The way in which an operation fails. */
export type Failure =
  /** Once. */
  | 'EIO'
  /** From now on there is no space for some operations. */
  | 'ENOSPC'
  /** A write writes half of its bytes, without an error. */
  | 'short'
  /** The same, and then no space. */
  | 'short, then ENOSPC'
  /** All changes of the disk fail until the next start. */
  | 'dead';

const fullFor = 12;
const reads = new Set(['open', 'readFile', 'read', 'list', 'sizeOf', 'freeBytes']);
const growing = new Set(['create', 'write', 'makeDirectory']);

/** Returns the ways in which an operation can fail. */
export function failuresOf(operation: string): Failure[] {
  if (operation === 'write') return ['EIO', 'ENOSPC', 'short', 'short, then ENOSPC', 'dead'];
  if (reads.has(operation)) return ['EIO'];
  return growing.has(operation) ? ['EIO', 'ENOSPC', 'dead'] : ['EIO', 'dead'];
}

const failed = (code: string) => Object.assign(new Error(`${code}: seeded`), { code });

/** A disk on which one operation fails, counted from 1. */
export class FailingDisk {
  /** All operations, as `operation path`. */
  readonly operations: string[] = [];
  /** While set, operations are not counted and do not fail. */
  isQuiet = false;
  #at = Number.POSITIVE_INFINITY;
  #failure: Failure = 'EIO';
  #fullUntil = 0;
  #isDead = false;
  readonly #onFailure: (operation: string, path: string) => void;

  /** `onFailure` receives the failing operation. */
  constructor(onFailure: (operation: string, path: string) => void = () => {}) {
    this.#onFailure = onFailure;
  }

  failAt(number: number, failure: Failure): void {
    [this.#at, this.#failure] = [number, failure];
  }

  heal(): void {
    [this.#at, this.#fullUntil, this.#isDead] = [Number.POSITIVE_INFINITY, 0, false];
  }

  /** Returns the disk for a new process. */
  over(disk: FileSystem): FileSystem {
    this.#isDead = false;
    const call =
      <A extends unknown[], T>(operation: keyof FileSystem, work: (...args: A) => Promise<T>) =>
      async (...args: A): Promise<T> => {
        this.#before(operation, String(args[0]));
        return work(...args);
      };
    return {
      create: call('create', async (path) => this.#file(path, await disk.create(path))),
      open: call('open', async (path, how) => this.#file(path, await disk.open(path, how))),
      readFile: call('readFile', (path) => disk.readFile(path)),
      rename: call('rename', (from, to) => disk.rename(from, to)),
      unlink: call('unlink', (path) => disk.unlink(path)),
      makeDirectory: call('makeDirectory', (path) => disk.makeDirectory(path)),
      list: call('list', (path) => disk.list(path)),
      sizeOf: call('sizeOf', (path) => disk.sizeOf(path)),
      syncDirectory: call('syncDirectory', (path) => disk.syncDirectory(path)),
      freeBytes: call('freeBytes', (path) => disk.freeBytes(path)),
    };
  }

  #file(path: string, file: OpenFile): OpenFile {
    return {
      write: (bytes, position) => {
        const isShort = this.#before('write', path);
        return file.write(
          isShort ? bytes.subarray(0, Math.ceil(bytes.length / 2)) : bytes,
          position,
        );
      },
      read: async (into, position) => {
        this.#before('read', path);
        return file.read(into, position);
      },
      truncate: async (length) => {
        this.#before('truncate', path);
        await file.truncate(length);
      },
      datasync: async () => {
        this.#before('datasync', path);
        await file.datasync();
      },
      size: () => file.size(),
      close: () => file.close(),
    };
  }

  /** Throws if the operation must fail. Returns whether a write must be short. */
  #before(operation: string, path: string): boolean {
    if (this.isQuiet) return false;
    const number = this.operations.push(`${operation} ${path}`);
    if (number === this.#at) return this.#begin(operation, path, number);
    if (this.#isDead && !reads.has(operation)) throw failed('EIO');
    if (number <= this.#fullUntil && growing.has(operation)) throw failed('ENOSPC');
    return false;
  }

  #begin(operation: string, path: string, number: number): boolean {
    this.#onFailure(operation, path);
    const failure = this.#failure;
    if (failure === 'ENOSPC' || failure === 'short, then ENOSPC')
      this.#fullUntil = number + fullFor;
    if (failure === 'dead') this.#isDead = true;
    if (failure.startsWith('short')) return true;
    throw failed(failure === 'ENOSPC' ? 'ENOSPC' : 'EIO');
  }
}
