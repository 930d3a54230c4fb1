import { dayOf } from '../../../domain/records/report.ts';
import type { FileSystem, OpenFile } from '../disk/file-system.ts';
import { damageError } from './damage.ts';

const namePattern = /^\d{4}-\d{2}-\d{2}\.ndjson$/;

/** Returns the name of the file for the UTC day of a time. Times before 1970 use 1970-01-01. */
export function dayFile(timeMs: number): string {
  return `${dayOf(Math.max(0, timeMs))}.ndjson`;
}

/** Returns the start of a file's day in Unix milliseconds. */
export function dayStart(name: string): number {
  return Date.parse(name.slice(0, 10));
}

/**
 * Position of a log in the manifest: valid up to `size` in `file`, and all earlier files entirely.
 */
export interface LogFilesPosition {
  /** `null` if nothing was ever written. */
  file: string | null;
  size: number;
  /**
   * `file` and all earlier files are past their retention. They are deleted, or the next start
   * deletes them.
   */
  gone?: true;
  /**
   * Sizes in bytes of the files before `file`, which no longer grow. Absent in manifests of earlier
   * versions.
   */
  files?: Record<string, number>;
}

/** The day files of one log, oldest first, and those hidden and waiting for deletion. */
export class DayFiles {
  readonly disk: FileSystem;
  readonly directory: string;
  #names: string[] = [];
  #pendingDeletes: string[] = [];
  /** Sizes in bytes of files that no longer grow. */
  readonly #sizes = new Map<string, number>();

  constructor(disk: FileSystem, directory: string) {
    this.disk = disk;
    this.directory = directory;
  }

  /** Names of the readable files, oldest first. */
  get names(): readonly string[] {
    return this.#names;
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

  /** Lists the files at start. Hides those that the position marks as gone. */
  async find(position: LogFilesPosition): Promise<void> {
    const names = (await this.disk.list(this.directory))
      .filter((name) => namePattern.test(name))
      .sort();
    const gone = (name: string) => position.gone === true && isUnneeded(position, name);
    this.#pendingDeletes = names.filter(gone);
    this.#names = names.filter((name) => !gone(name));
  }

  /**
   * Checks file sizes against the manifest. Throws `store_damaged` if a size differs, or if a file
   * is missing that retention cannot have deleted.
   */
  async check({ files = {} }: LogFilesPosition, clean: boolean): Promise<void> {
    for (const name of missingFiles(files, this.#names, clean))
      throw damageError(this.path(name), 'the file is missing');
    for (const [name, size] of Object.entries(files)) {
      const found = this.#names.includes(name) ? await this.disk.sizeOf(this.path(name)) : size;
      if (found !== size)
        throw damageError(this.path(name), `it has ${found} bytes where the manifest says ${size}`);
      this.#sizes.set(name, size);
    }
  }

  /** Returns the position with the sizes of all earlier files. */
  async withSizes<P extends LogFilesPosition>(position: P): Promise<P> {
    const files: Record<string, number> = {};
    for (const name of this.#names.filter((one) => position.file !== null && one < position.file)) {
      const size = this.#sizes.get(name) ?? (await this.disk.sizeOf(this.path(name)));
      if (size === undefined) continue;
      this.#sizes.set(name, size);
      files[name] = size;
    }
    return { ...position, files };
  }

  /** Adds the newest file. */
  add(name: string): void {
    if (this.#names.at(-1) !== name) this.#names.push(name);
  }

  /** Hides all files before `name` and schedules their deletion. */
  hideBefore(name: string): void {
    this.#pendingDeletes.push(...this.#names.filter((one) => one < name));
    this.#names = this.#names.filter((one) => one >= name);
  }

  /** Whether hidden files are still on disk. */
  get waiting(): boolean {
    return this.#pendingDeletes.length > 0;
  }

  /** Deletes the hidden files that a start from this position does not need. */
  async deleteHidden(position: LogFilesPosition): Promise<void> {
    const deletable = this.#pendingDeletes.filter((name) => isUnneeded(position, name));
    for (const name of deletable) {
      await this.disk.unlink(this.path(name));
      this.#pendingDeletes = this.#pendingDeletes.filter((one) => one !== name);
      // Oldest first, one at a time: a crash must not leave a gap.
      await this.disk.syncDirectory(this.directory);
    }
  }

  /** Returns the files that a start from this position reads or shows, oldest first. */
  neededBy(position: LogFilesPosition): string[] {
    return [
      ...this.#pendingDeletes.filter((name) => !isUnneeded(position, name)),
      ...this.#names,
    ].sort();
  }

  /** Removes a file that holds no valid record. */
  remove(name: string): void {
    this.#names = this.#names.filter((one) => one !== name);
  }
}

/**
 * Returns the expected files that are missing. After a crash the oldest may be missing: retention
 * deletes files before the manifest records it.
 */
export function missingFiles(
  files: Record<string, number>,
  present: readonly string[],
  clean: boolean,
): string[] {
  const names = Object.keys(files).sort();
  const first = clean ? 0 : names.findIndex((name) => present.includes(name));
  return first < 0 ? [] : names.slice(first).filter((name) => !present.includes(name));
}

export function isDayFile(name: string): boolean {
  return namePattern.test(name);
}

function isUnneeded({ file, gone }: LogFilesPosition, name: string): boolean {
  return file !== null && (name < file || (gone === true && name === file));
}
