import { SignageError } from '../../../domain/error.ts';
import { type FileSystem, type OpenFile, writeFully } from '../disk/file-system.ts';

/** One record on its way to the disk. */
interface Pending {
  file: string;
  pieces: readonly Uint8Array[];
  length: number;
  landed: ((at: LogPlace) => void) | undefined;
  settle: { resolve: (at: LogPlace) => void; reject: (error: unknown) => void };
}

/** Where a record came to lie. */
export interface LogPlace {
  file: string;
  offset: number;
  /** Its bytes. */
  length: number;
}

export interface GroupLogOptions {
  disk: FileSystem;
  /** The folder of its files. */
  directory: string;
  /** Writes are refused while fewer bytes than this are free, or soon after. */
  lowWaterBytes: number;
  /** Appending goes on at the end of this file, which exists. */
  resume?: { file: string; size: number };
  /** Called when a group has failed, before its callers hear of it: everything staged on top of it has failed as well. */
  onFailure?: () => void;
}

/** So much of the low-water mark may be written between two looks: each costs as much as to read a batch of events. */
const unaskedShare = 1 / 16;
/** Room for groups up to this size is kept: to get it anew for each, and to have it cleared and collected, costs four times as much as to fill it. */
const mostKeptBytes = 4 * 1024 * 1024;

/**
 * An append-only log in several files, with group commit: records that come while the disk is busy share the next write and `fdatasync`.
 * A record is on the disk, and its file's name in the folder, when `append` resolves; records resolve in order.
 *
 * When a group fails, so do all records behind it. What a failed write left is truncated before anything else is appended. After a failed
 * `fdatasync` nothing is acknowledged again: what the disk holds is not known any more. Both reject with `unavailable`.
 */
export class GroupLog {
  readonly #options: GroupLogOptions;
  #queue: Pending[] = [];
  #running: Promise<void> | undefined;
  #file: OpenFile | undefined;
  #name: string | undefined;
  #size = 0;
  /** Bytes past `#size` may be left of a failed write. */
  #dirty = false;
  #broken: SignageError | undefined;
  /** Bytes that may be written before the disk is asked again how much is free. */
  #unasked = 0;
  /** Where groups are put together, one after the other. */
  #space: Uint8Array = new Uint8Array();
  /** Files that were begun, and have no record yet. */
  readonly #empty = new Set<string>();

  constructor(options: GroupLogOptions) {
    this.#options = options;
    this.#name = options.resume?.file;
    this.#size = options.resume?.size ?? 0;
  }

  /** Why nothing can be appended any more, if so. */
  get broken(): SignageError | undefined {
    return this.#broken;
  }

  /** A record is given in pieces. `landed` is called as soon as it is on the disk, before anyone who waits for it goes on. */
  append(
    file: string,
    pieces: readonly Uint8Array[],
    landed?: (at: LogPlace) => void,
  ): Promise<LogPlace> {
    if (this.#broken) return Promise.reject(this.#broken);
    const length = lengthOf(pieces);
    return new Promise((resolve, reject) => {
      this.#queue.push({ file, pieces, length, landed, settle: { resolve, reject } });
      this.#running ??= this.#run();
    });
  }

  /** Throws `unavailable` while too little space is left. */
  async checkSpace(): Promise<void> {
    const free = await this.#options.disk.freeBytes(this.#options.directory);
    if (free < this.#options.lowWaterBytes)
      throw unavailable('The disk is full: free some space on it, then try again.');
  }

  /** Waits for what is under way, cuts off what a failed write left, then closes the file. What never got a record goes: the next start would wonder at it. */
  async close(): Promise<void> {
    await this.#running;
    const [broken, file] = [this.#broken, this.#file];
    this.#broken ??= unavailable('The store is closed.');
    this.#file = undefined;
    try {
      if (file && !broken) await this.#cutBack(file);
    } finally {
      await file?.close();
    }
    await this.#removeEmpty();
  }

  async #removeEmpty(): Promise<void> {
    const { disk, directory } = this.#options;
    for (const name of this.#empty) await disk.unlink(`${directory}/${name}`);
    if (this.#empty.size > 0) await disk.syncDirectory(directory);
  }

  async #run(): Promise<void> {
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const group = this.#takeGroup();
      try {
        let offset = await this.#write(group);
        for (const { file, length, landed, settle } of group) {
          const place = { file, offset, length };
          landed?.(place);
          settle.resolve(place);
          offset += length;
        }
      } catch (error) {
        this.#fail(group, error);
      }
    }
    this.#running = undefined;
  }

  /** As many of the first records as go to one file. */
  #takeGroup(): Pending[] {
    const file = this.#queue[0]?.file;
    const end = this.#queue.findIndex((record) => record.file !== file);
    return this.#queue.splice(0, end < 0 ? this.#queue.length : end);
  }

  #fail(group: Pending[], error: unknown): void {
    const failure =
      error instanceof SignageError
        ? error
        : unavailable('The disk did not take the change; nothing was changed.', error);
    const failed = [...group, ...this.#queue.splice(0)];
    this.#unasked = 0;
    this.#options.onFailure?.();
    for (const { settle } of failed) settle.reject(failure);
  }

  async #write(group: Pending[]): Promise<number> {
    const bytes = this.#gathered(group);
    if (bytes.length > this.#unasked) {
      await this.checkSpace();
      this.#unasked = this.#options.lowWaterBytes * unaskedShare;
    }
    this.#unasked -= bytes.length;
    const file = await this.#fileFor(group[0]?.file ?? '');
    if (this.#dirty) await file.truncate(this.#size);
    this.#dirty = true;
    await writeFully(file, bytes);
    await this.#sync(file);
    this.#dirty = false;
    this.#empty.delete(this.#name as string);
    const start = this.#size;
    this.#size += bytes.length;
    return start;
  }

  /** All of a group in one; only good until the next one. */
  #gathered(group: readonly Pending[]): Uint8Array {
    const [only] = group;
    if (group.length === 1 && only?.pieces.length === 1) return only.pieces[0] as Uint8Array;
    const length = group.reduce((sum, record) => sum + record.length, 0);
    const space = this.#spaceFor(length);
    let at = 0;
    for (const { pieces } of group) {
      for (const piece of pieces) {
        space.set(piece, at);
        at += piece.length;
      }
    }
    return space.subarray(0, length);
  }

  #spaceFor(length: number): Uint8Array {
    if (length > mostKeptBytes) return Buffer.allocUnsafeSlow(length);
    if (length > this.#space.length)
      this.#space = Buffer.allocUnsafeSlow(Math.min(2 * length, mostKeptBytes));
    return this.#space;
  }

  async #sync(file: OpenFile): Promise<void> {
    try {
      await file.datasync();
    } catch (error) {
      this.#broken = unavailable(
        'The disk failed to keep a change: restart the service once the disk is well.',
        error,
      );
      // What was refused should not come back at the next start; whether it does is not known any more.
      await file.truncate(this.#size).catch(() => undefined);
      throw this.#broken;
    }
  }

  /** Only the last file of a log may end in a torn record: the cut must be on the disk before another file is begun. */
  async #cutBack(file: OpenFile): Promise<void> {
    if (!this.#dirty) return;
    await file.truncate(this.#size);
    await this.#sync(file);
    this.#dirty = false;
  }

  async #fileFor(name: string): Promise<OpenFile> {
    const before = this.#file;
    if (before && this.#name === name) return before;
    if (before) await this.#cutBack(before);
    const { disk, directory } = this.#options;
    const path = `${directory}/${name}`;
    const found = await disk.sizeOf(path);
    const resumed = this.#name === name;
    const file =
      found === undefined && !resumed ? await disk.create(path) : await disk.open(path, 'append');
    if (!found && !resumed) this.#empty.add(name);
    try {
      // Also for a file that is there: an earlier attempt may have made it and failed here.
      await disk.syncDirectory(directory);
    } catch (error) {
      await file.close();
      throw error;
    }
    const size = resumed ? this.#size : (found ?? 0);
    [this.#file, this.#name, this.#size, this.#dirty] = [file, name, size, size !== (found ?? 0)];
    await before?.close();
    return file;
  }
}

function lengthOf(pieces: readonly Uint8Array[]): number {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  return length;
}

export function unavailable(message: string, cause?: unknown): SignageError {
  return new SignageError('unavailable', message, { cause, retryAfterSeconds: 5 });
}
