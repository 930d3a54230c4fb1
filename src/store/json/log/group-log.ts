import { SignageError } from '../../../domain/error.ts';
import { unavailable } from '../../unavailable.ts';
import { type FileSystem, type OpenFile, writeFully } from '../disk/file-system.ts';
import { replaceFile } from '../disk/replace-file.ts';

interface PendingRecord {
  file: string;
  pieces: readonly Uint8Array[];
  length: number;
  onDurable: ((at: LogPlace) => void) | undefined;
  settle: { resolve: (at: LogPlace) => void; reject: (error: unknown) => void };
}

/** Location of a written record. */
export interface LogPlace {
  file: string;
  offset: number;
  /** In bytes. */
  length: number;
}

export interface GroupLogOptions {
  disk: FileSystem;
  /** The folder of the log's files. */
  directory: string;
  /**
   * Writes fail while fewer bytes than this are free. The free space is checked again whenever a
   * sixteenth of this has been written.
   */
  lowWaterBytes: number;
  /**
   * The last file of the log, and the length of its valid part in bytes. The next append to this
   * file truncates the rest. Absent: the log has no file to continue.
   */
  resume?: { file: string; size: number };
}

const notRemoved =
  'A change could neither be stored on disk nor removed from it, and may be there after a restart: repair the disk, then restart the service, and look.';

/**
 * Share of the low-water mark that may be written between two checks of the free space. A check
 * costs as much as reading a batch of events.
 */
const uncheckedShare = 1 / 16;
/**
 * Largest group buffer that is reused, in bytes. Allocating and collecting a buffer costs four
 * times as much as filling it.
 */
const maxBufferBytes = 4 * 1024 * 1024;

/**
 * An append-only log in several files, with group commit: records that arrive while the disk is
 * busy share the next write and `fdatasync`. When `append` resolves, the record and its file's name
 * are on disk. The promises of `append` resolve in order.
 *
 * When a group fails, the records waiting behind it fail too, with `unavailable`. The bytes of a
 * failed write are truncated before that, or else before the next append. After a failed
 * `fdatasync` the state of the disk is unknown, and every later append is rejected.
 */
export class GroupLog {
  readonly #options: GroupLogOptions;
  #queue: PendingRecord[] = [];
  #running: Promise<void> | undefined;
  #file: OpenFile | undefined;
  #name: string | undefined;
  #size = 0;
  /** Whether bytes of a failed write may follow `#size`. */
  #dirty = false;
  #broken: SignageError | undefined;
  #failures = 0;
  #hasFailed = false;
  /** Bytes that may be written before the next check of the free space. */
  #uncheckedBytes = 0;
  /** Reused buffer in which a group is assembled. */
  #buffer: Uint8Array = new Uint8Array();
  /** Names of new files that have no durable record yet. `close` deletes these files. */
  readonly #empty = new Set<string>();

  constructor(options: GroupLogOptions) {
    this.#options = options;
    this.#name = options.resume?.file;
    this.#size = options.resume?.size ?? 0;
  }

  /** The error after which the log accepts no more records. `undefined` if it accepts records. */
  get broken(): SignageError | undefined {
    return this.#broken;
  }

  /**
   * Number of failed groups. It counts before the callers are rejected. All records that were not
   * durable then are lost, and all that was staged on top of them.
   */
  get failures(): number {
    return this.#failures;
  }

  /**
   * Appends a record, given in pieces. `onDurable` is called when the record is on disk, just
   * before the promise resolves, so that nothing runs between a record and its effects.
   */
  append(
    file: string,
    pieces: readonly Uint8Array[],
    onDurable?: (at: LogPlace) => void,
  ): Promise<LogPlace> {
    if (this.#broken) return Promise.reject(this.#broken);
    const length = lengthOf(pieces);
    return new Promise((resolve, reject) => {
      this.#queue.push({ file, pieces, length, onDurable, settle: { resolve, reject } });
      this.#running ??= this.#run();
    });
  }

  /**
   * Throws `unavailable` if an append would fail. After a failed group, it writes a small file: a
   * read-only disk or an exceeded quota still has free space.
   */
  async checkWritable(): Promise<void> {
    if (this.#broken) throw this.#broken;
    await this.checkSpace();
    if (!this.#hasFailed) return;
    const { disk, directory } = this.#options;
    const path = `${directory}/probe`;
    try {
      await replaceFile(disk, path, (file) => writeFully(file, Buffer.of(0)));
      await disk.unlink(path);
    } catch (error) {
      throw unavailable(
        'The disk accepts no changes: it may be read-only, or a quota is used up.',
        error,
      );
    }
  }

  /** Throws `unavailable` if the free space is below the low-water mark. */
  async checkSpace(): Promise<void> {
    const free = await this.#options.disk.freeBytes(this.#options.directory);
    if (free < this.#options.lowWaterBytes)
      throw unavailable('The disk is full: free some space on it, then try again.');
  }

  /**
   * Waits for pending writes, truncates the bytes of a failed write or sync, and closes the file.
   * Deletes files that never got a record: the next start would report them as damaged.
   */
  async close(): Promise<void> {
    await this.#running;
    const broken = this.#broken;
    const file = this.#file;
    this.#broken ??= unavailable('The store is closed.');
    this.#file = undefined;
    try {
      if (file && !broken) await this.#truncateFailedWrite(file);
      else if (file && this.#dirty) await this.#removeRejected(file);
    } finally {
      await file?.close();
    }
    await this.#removeEmpty();
  }

  async #removeEmpty(): Promise<void> {
    const { disk, directory } = this.#options;
    for (const name of this.#empty) await disk.unlink(`${directory}/${name}`);
    if (this.#empty.size > 0) await disk.syncDirectory(directory);
    this.#empty.clear();
  }

  async #run(): Promise<void> {
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const group = this.#takeGroup();
      try {
        let offset = await this.#write(group);
        this.#hasFailed = false;
        for (const { file, length, onDurable, settle } of group) {
          const place = { file, offset, length };
          onDurable?.(place);
          settle.resolve(place);
          offset += length;
        }
      } catch (error) {
        this.#fail(group, error);
      }
    }
    this.#running = undefined;
  }

  /** Takes the leading records that go to one file. */
  #takeGroup(): PendingRecord[] {
    const file = this.#queue[0]?.file;
    const end = this.#queue.findIndex((record) => record.file !== file);
    return this.#queue.splice(0, end < 0 ? this.#queue.length : end);
  }

  #fail(group: PendingRecord[], error: unknown): void {
    const failure =
      error instanceof SignageError
        ? error
        : unavailable('The change could not be written to disk; nothing was changed.', error);
    const failed = [...group, ...this.#queue.splice(0)];
    this.#uncheckedBytes = 0;
    this.#failures++;
    this.#hasFailed = true;
    for (const { settle } of failed) settle.reject(failure);
  }

  async #write(group: PendingRecord[]): Promise<number> {
    const bytes = this.#concat(group);
    if (bytes.length > this.#uncheckedBytes) {
      await this.checkSpace();
      this.#uncheckedBytes = this.#options.lowWaterBytes * uncheckedShare;
    }
    this.#uncheckedBytes -= bytes.length;
    const file = await this.#fileFor(group[0]?.file ?? '');
    if (this.#dirty) await file.truncate(this.#size);
    this.#dirty = true;
    await writeFully(file, bytes).catch((error) => this.#removeFailedWrite(file, error));
    await this.#sync(file);
    this.#dirty = false;
    this.#empty.delete(this.#name as string);
    const start = this.#size;
    this.#size += bytes.length;
    return start;
  }

  /** Returns the bytes of a group. Valid until the next call. */
  #concat(group: readonly PendingRecord[]): Uint8Array {
    const [only] = group;
    if (group.length === 1 && only?.pieces.length === 1) return only.pieces[0] as Uint8Array;
    const length = group.reduce((sum, record) => sum + record.length, 0);
    const buffer = this.#bufferFor(length);
    let at = 0;
    for (const { pieces } of group) {
      for (const piece of pieces) {
        buffer.set(piece, at);
        at += piece.length;
      }
    }
    return buffer.subarray(0, length);
  }

  #bufferFor(length: number): Uint8Array {
    if (length > maxBufferBytes) return Buffer.allocUnsafeSlow(length);
    if (length > this.#buffer.length)
      this.#buffer = Buffer.allocUnsafeSlow(Math.min(2 * length, maxBufferBytes));
    return this.#buffer;
  }

  async #sync(file: OpenFile): Promise<void> {
    try {
      await file.datasync();
    } catch (error) {
      // A start would replay the rejected records. If this fails, `close` tries again.
      const isRemoved = await this.#removeRejected(file);
      this.#broken = unavailable(
        isRemoved
          ? 'A change could not be synced to disk: repair the disk, then restart the service.'
          : notRemoved,
        error,
      );
      throw this.#broken;
    }
  }

  /** Removes the records of a failed sync. Returns whether that succeeded. */
  #removeRejected(file: OpenFile): Promise<boolean> {
    return file.truncate(this.#size).then(
      () => true,
      () => false,
    );
  }

  /** A start would replay the whole records among the bytes of a failed write. */
  async #removeFailedWrite(file: OpenFile, cause: unknown): Promise<never> {
    await this.#truncateFailedWrite(file).catch((error) => {
      throw error instanceof SignageError ? error : unavailable(notRemoved, cause);
    });
    throw cause;
  }

  /**
   * Only the last file of a log may end in a torn record: sync the truncation before another file
   * is started.
   */
  async #truncateFailedWrite(file: OpenFile): Promise<void> {
    if (!this.#dirty) return;
    await file.truncate(this.#size);
    await this.#sync(file);
    this.#dirty = false;
  }

  async #fileFor(name: string): Promise<OpenFile> {
    const before = this.#file;
    if (before && this.#name === name) return before;
    if (before) await this.#truncateFailedWrite(before);
    const { disk, directory } = this.#options;
    const path = `${directory}/${name}`;
    const found = await disk.sizeOf(path);
    const resumed = this.#name === name;
    const file =
      found === undefined && !resumed ? await disk.create(path) : await disk.open(path, 'append');
    if (!found && !resumed) this.#empty.add(name);
    try {
      // Syncs the folder even if the file exists: an earlier attempt may have created the file and
      // failed here.
      await disk.syncDirectory(directory);
    } catch (error) {
      await file.close();
      throw error;
    }
    const size = resumed ? this.#size : (found ?? 0);
    this.#file = file;
    this.#name = name;
    this.#size = size;
    this.#dirty = size !== (found ?? 0);
    await before?.close();
    return file;
  }
}

function lengthOf(pieces: readonly Uint8Array[]): number {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  return length;
}
