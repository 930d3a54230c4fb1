import type { SignageError } from '../../../domain/error.ts';
import { type FileSystem, type OpenFile, syncFile } from '../disk/file-system.ts';
import type { PartContext } from '../disk/parts.ts';
import { damageError } from './damage.ts';
import type { LogFilesPosition } from './day-files.ts';
import { GroupLog } from './group-log.ts';
import {
  checkedRecords,
  fileProblems,
  isUnneeded,
  type LogFiles,
  type LogFormat,
  type LogProblem,
  type LogRecord,
  listLog,
} from './log-records.ts';
import { cutTornTail, type TornTail, truncateFile } from './torn-tail.ts';

/** Snapshot of a log: its files, oldest first, and the length of the last file. */
export interface LogRange {
  names: readonly string[];
  end: { file: string | null; size: number };
}

/**
 * A log of framed records in several files, with group commit. It tracks three positions: the end,
 * the position in the manifest that is being written, and the position in the manifest on disk.
 * `hideBefore` hides old files: `names` no longer lists them. A hidden file is deleted once a start
 * from the manifest on disk does not need it.
 */
export class FramedLog<Head, Position extends LogFilesPosition> implements LogFiles {
  readonly disk: FileSystem;
  readonly directory: string;
  /** Position after the last durable record. */
  end: Position;
  /** Position in the manifest on disk. */
  committed: Position;
  readonly #context: PartContext;
  readonly #format: LogFormat<Head, Position>;
  readonly #lowWaterBytes: number;
  #prepared: Position;
  #names: string[] = [];
  /** Files hidden and waiting for deletion. */
  #pendingDeletes: string[] = [];
  /** Sizes in bytes of files that no longer grow. */
  #sizes = new Map<string, number>();
  #tornTail: TornTail | undefined;
  #group: GroupLog | undefined;
  /** Number of failed groups before `#group` was opened. */
  #failures = 0;

  /** @param lowWaterBytes appends fail while fewer bytes than this are free */
  constructor(
    context: PartContext,
    format: LogFormat<Head, Position>,
    lowWaterBytes = context.lowWaterBytes,
  ) {
    this.disk = context.disk;
    this.directory = `${context.directory}/${format.folder}`;
    this.#context = context;
    this.#format = format;
    this.#lowWaterBytes = lowWaterBytes;
    this.end = format.start;
    this.committed = format.start;
    this.#prepared = format.start;
  }

  /** Names of the readable files, oldest first. */
  get names(): readonly string[] {
    return this.#names;
  }

  /** The error after which the log accepts no more records. `undefined` if it accepts records. */
  get broken(): SignageError | undefined {
    return this.#group?.broken;
  }

  /** Number of failed groups (`GroupLog.failures`). */
  get failures(): number {
    return this.#failures + (this.#group?.failures ?? 0);
  }

  /** Whether hidden files are still on disk. */
  get hasPendingDeletes(): boolean {
    return this.#pendingDeletes.length > 0;
  }

  path(name: string): string {
    return `${this.directory}/${name}`;
  }

  /** Opens a file for reading. Returns `undefined` if it was purged. */
  async open(name: string): Promise<OpenFile | undefined> {
    return this.disk.open(this.path(name), 'read').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' && !this.#names.includes(name)) return undefined;
      throw error;
    });
  }

  /**
   * Lists the files at start, and checks their sizes. Hides obsolete files, which `begin` deletes.
   * Throws `store_damaged` if a file is missing or has an unexpected size.
   */
  async recover(position: Position, clean: boolean): Promise<void> {
    const { names, obsolete } = await listLog(this.#context, this.#format, position);
    this.#names = [...names];
    this.#pendingDeletes = obsolete;
    this.#sizes = new Map(Object.entries(position.files ?? {}));
    this.end = position;
    this.#prepared = position;
    this.committed = position;
    const [problem] = await fileProblems(this, position, clean ? 'stopped' : 'crashed');
    if (problem) throw this.#damage(problem);
  }

  /**
   * At start, reads and checks the records after the position, whose head is `before`. `begin` cuts
   * off a torn write at the end. Throws `store_damaged` for any other damage.
   */
  async replay(before: Head, take: (record: LogRecord<Head>) => void): Promise<void> {
    const { file } = this.committed;
    const names = this.#names.filter((name) => file === null || name >= file);
    const expected = { position: this.committed, before };
    const read = { disk: this.disk, directory: this.directory, names };
    for await (const found of checkedRecords(read, this.#format, expected)) {
      if ('what' in found) throw this.#damage(found);
      if ('line' in found) take(found);
      else this.#tornTail = found;
    }
    const newest = names.at(-1);
    if (newest !== undefined && newest !== this.end.file)
      this.#tornTail = { file: newest, size: 0 };
  }

  #damage({ file, what, offset }: LogProblem): SignageError {
    return damageError(this.path(file), what, offset ?? undefined);
  }

  /** Prepares the folder for appending, and syncs the data that a crashed process wrote. */
  async begin(): Promise<void> {
    await this.disk.makeDirectory(this.directory);
    await this.disk.syncDirectory(this.#context.directory);
    if (this.#tornTail) await cutTornTail(this.#context, this.directory, this.#tornTail);
    if (this.#tornTail?.size === 0) this.#remove(this.#tornTail.file);
    await this.deleteHidden();
    const { file, gone } = this.end;
    if (file === null || gone) return;
    await syncFile(this.disk, this.path(file));
    await this.disk.syncDirectory(this.directory);
  }

  /**
   * Appends a record, given in pieces. When the record is durable, `end` becomes the position after
   * it, and `onDurable` gets the length of the record in bytes. `members` are the members of this
   * position besides `file` and `size`.
   */
  append(
    file: string,
    pieces: readonly Uint8Array[],
    members: Omit<Position, 'file' | 'size' | 'gone' | 'files'>,
    onDurable: (length: number) => void,
  ): Promise<unknown> {
    return this.#openGroup().append(file, pieces, ({ offset, length }) => {
      if (this.#names.at(-1) !== file) this.#names.push(file);
      this.end = { file, size: offset + length, ...members } as Position;
      onDurable(length);
    });
  }

  #openGroup(): GroupLog {
    const { file, size, gone } = this.end;
    this.#group ??= new GroupLog({
      disk: this.disk,
      directory: this.directory,
      lowWaterBytes: this.#lowWaterBytes,
      ...(file !== null && !gone && { resume: { file, size } }),
    });
    return this.#group;
  }

  /** Throws `unavailable` if an append would fail. */
  checkWritable(): Promise<void> {
    return this.#openGroup().checkWritable();
  }

  /** Closes the file. The next append opens it again, unless a sync has failed. */
  async close(): Promise<void> {
    const group = this.#group;
    if (group && !group.broken) {
      this.#failures += group.failures;
      this.#group = undefined;
    }
    await group?.close();
  }

  /** Returns the position for the next manifest. */
  async prepare(): Promise<Position> {
    this.#prepared = this.#format.isCheckpointed
      ? this.end
      : { ...this.end, files: await this.#closedSizes() };
    return this.#prepared;
  }

  /** Returns the sizes of the files before the last one. */
  async #closedSizes(): Promise<Record<string, number>> {
    const sizes: Record<string, number> = {};
    const { file: last } = this.end;
    for (const name of this.#names.filter((one) => last !== null && one < last)) {
      const size = this.#sizes.get(name) ?? (await this.disk.sizeOf(this.path(name)));
      if (size === undefined) continue;
      this.#sizes.set(name, size);
      sizes[name] = size;
    }
    return sizes;
  }

  /**
   * Call when the manifest with the position of the last `prepare` is durable. Deletes files that
   * are no longer needed.
   */
  async commit(): Promise<void> {
    this.committed = this.#prepared;
    const { file } = this.committed;
    if (this.#format.isCheckpointed && file !== null) this.hideBefore(file);
    await this.deleteHidden();
  }

  /** Hides all files before `name`. `deleteHidden` deletes them. */
  hideBefore(name: string): void {
    for (const one of this.#names.filter((one) => one < name)) this.#pendingDeletes.push(one);
    this.#names = this.#names.filter((one) => one >= name);
    const { file } = this.end;
    if (file !== null && file < name) this.end = { ...this.end, gone: true };
  }

  /** Deletes the hidden files that a start from the committed position does not need. */
  async deleteHidden(): Promise<void> {
    for (const name of this.#pendingDeletes.filter((one) => isUnneeded(this.committed, one))) {
      await this.disk.unlink(this.path(name));
      this.#pendingDeletes = this.#pendingDeletes.filter((one) => one !== name);
      // Files are deleted one at a time, oldest first, because a crash must not leave a gap.
      await this.disk.syncDirectory(this.directory);
    }
  }

  /** Deletes everything on disk after the end. */
  async discardAfterEnd(): Promise<void> {
    const { file, size, gone } = this.end;
    if (file !== null && !gone) await truncateFile(this.disk, this.path(file), size);
    for (const name of this.#names.filter((one) => file === null || one > file)) {
      await this.disk.unlink(this.path(name));
      this.#remove(name);
    }
    await this.disk.syncDirectory(this.directory);
  }

  #remove(name: string): void {
    this.#names = this.#names.filter((one) => one !== name);
  }
}
