import type { FileSystem, OpenFile } from '../../../src/store/json/disk/file-system.ts';
import { around } from '../crashes/recorded-disk.ts';

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
    return around(disk, async (operation, args, go) => {
      const path = String(args[0]);
      this.#before(operation, path);
      const made = await go(args);
      return operation === 'create' || operation === 'open' ? this.#file(path, made) : made;
    });
  }

  #file(path: string, file: OpenFile): OpenFile {
    return around(file, async (operation, args, go) => {
      const isCounted = operation !== 'size' && operation !== 'close';
      const isShort = isCounted && this.#before(operation, path);
      const [bytes, ...others] = args as [Uint8Array];
      return isShort ? go([bytes.subarray(0, Math.ceil(bytes.length / 2)), ...others]) : go(args);
    });
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
