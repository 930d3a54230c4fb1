import { dayOf } from '../../../domain/records/report.ts';
import type { FileSystem, OpenFile } from '../disk/file-system.ts';
import { damaged } from './damage.ts';

const namePattern = /^\d{4}-\d{2}-\d{2}\.ndjson$/;

/** The file of a time's UTC day. Times before 1970 count to its first day. */
export function dayFile(timeMs: number): string {
  return `${dayOf(Math.max(0, timeMs))}.ndjson`;
}

/** When a file's day begins, in milliseconds. */
export function startOfFile(name: string): number {
  return Date.parse(name.slice(0, 10));
}

/** How far a log's files are good, as its mark in the manifest says: up to `size` in `file`, and all of those before that. */
export interface LogFilesPosition {
  /** `null` while nothing was ever written. */
  file: string | null;
  size: number;
  /** `file` and those before it are past their retention: they are gone, or are to go at the next start. */
  gone?: true;
  /** Bytes of the files before `file`, to which nothing is added any more. Absent in marks of earlier versions. */
  files?: Record<string, number>;
}

/** The day files of one log, oldest first, and which of them wait to be deleted. */
export class DayFiles {
  readonly disk: FileSystem;
  readonly directory: string;
  #names: string[] = [];
  #doomed: string[] = [];
  /** Bytes of files to which nothing is added any more. */
  readonly #sizes = new Map<string, number>();

  constructor(disk: FileSystem, directory: string) {
    this.disk = disk;
    this.directory = directory;
  }

  /** All that can be read. */
  get names(): readonly string[] {
    return this.#names;
  }

  path(name: string): string {
    return `${this.directory}/${name}`;
  }

  /** Opens a file to read; `undefined` when it was dropped. */
  async open(name: string): Promise<OpenFile | undefined> {
    return this.disk.open(this.path(name), 'read').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' && !this.#names.includes(name)) return undefined;
      throw error;
    });
  }

  /** At start: looks what is there. Those that the mark gives up are hidden. */
  async find(mark: LogFilesPosition): Promise<void> {
    const names = (await this.disk.list(this.directory))
      .filter((name) => namePattern.test(name))
      .sort();
    const gone = (name: string) => mark.gone === true && isSpared(mark, name);
    this.#doomed = names.filter(gone);
    this.#names = names.filter((name) => !gone(name));
  }

  /** Throws `store_damaged` when files that the mark knows have another size, or are missing where no retention can have taken them. */
  async check({ files = {} }: LogFilesPosition, clean: boolean): Promise<void> {
    for (const name of missingFiles(files, this.#names, clean))
      throw damaged(this.path(name), 'the file is missing');
    for (const [name, size] of Object.entries(files)) {
      const found = this.#names.includes(name) ? await this.disk.sizeOf(this.path(name)) : size;
      if (found !== size)
        throw damaged(this.path(name), `it has ${found} bytes where the manifest says ${size}`);
      this.#sizes.set(name, size);
    }
  }

  /** The mark with the sizes of the files before its own. */
  async withSizes<M extends LogFilesPosition>(mark: M): Promise<M> {
    const files: Record<string, number> = {};
    for (const name of this.#names.filter((one) => mark.file !== null && one < mark.file)) {
      const size = this.#sizes.get(name) ?? (await this.disk.sizeOf(this.path(name)));
      if (size === undefined) continue;
      this.#sizes.set(name, size);
      files[name] = size;
    }
    return { ...mark, files };
  }

  /** Takes note of a file that is the newest from now on. */
  add(name: string): void {
    if (this.#names.at(-1) !== name) this.#names.push(name);
  }

  /** Hides all files before `name`. */
  hideBefore(name: string): void {
    this.#doomed.push(...this.#names.filter((one) => one < name));
    this.#names = this.#names.filter((one) => one >= name);
  }

  /** Whether hidden files are still on the disk. */
  get waiting(): boolean {
    return this.#doomed.length > 0;
  }

  /** Deletes the hidden files that a start with this mark can do without. */
  async deleteHidden(mark: LogFilesPosition): Promise<void> {
    const now = this.#doomed.filter((name) => isSpared(mark, name));
    for (const name of now) {
      await this.disk.unlink(this.path(name));
      this.#doomed = this.#doomed.filter((one) => one !== name);
      // One after the other, the oldest first: a crash must leave no gap.
      await this.disk.syncDirectory(this.directory);
    }
  }

  /** All that a start with this mark would read or show, oldest first. */
  neededBy(mark: LogFilesPosition): string[] {
    return [...this.#doomed.filter((name) => !isSpared(mark, name)), ...this.#names].sort();
  }

  /** A file of which nothing was good. */
  remove(name: string): void {
    this.#names = this.#names.filter((one) => one !== name);
  }
}

/** Files that should be there. After a crash the first ones may be gone: retention takes them before the mark knows. */
export function missingFiles(
  files: Record<string, number>,
  there: readonly string[],
  clean: boolean,
): string[] {
  const names = Object.keys(files).sort();
  const first = clean ? 0 : names.findIndex((name) => there.includes(name));
  return first < 0 ? [] : names.slice(first).filter((name) => !there.includes(name));
}

export function isDayFile(name: string): boolean {
  return namePattern.test(name);
}

function isSpared({ file, gone }: LogFilesPosition, name: string): boolean {
  return file !== null && (name < file || (gone === true && name === file));
}
