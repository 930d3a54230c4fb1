import { dayOf } from '../../domain/report.ts';
import type { FileSystem, OpenFile } from './file-system.ts';

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
export interface FilesMark {
  /** `null` while nothing was ever written. */
  file: string | null;
  size: number;
  /** `file` and those before it are past their retention: they are gone, or are to go at the next start. */
  gone?: true;
}

/** The day files of one log, oldest first, and which of them wait to be deleted. */
export class DayFiles {
  readonly disk: FileSystem;
  readonly directory: string;
  #names: string[] = [];
  #doomed: string[] = [];

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
  async find(mark: FilesMark): Promise<void> {
    const names = (await this.disk.list(this.directory)).filter((name) => namePattern.test(name)).sort();
    const gone = (name: string) => mark.gone === true && isSpared(mark, name);
    this.#doomed = names.filter(gone);
    this.#names = names.filter((name) => !gone(name));
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
  async deleteHidden(mark: FilesMark): Promise<void> {
    const now = this.#doomed.filter((name) => isSpared(mark, name));
    for (const name of now) {
      await this.disk.unlink(this.path(name));
      this.#doomed = this.#doomed.filter((one) => one !== name);
    }
    if (now.length > 0) await this.disk.syncDirectory(this.directory);
  }

  /** A file of which nothing was good. */
  remove(name: string): void {
    this.#names = this.#names.filter((one) => one !== name);
  }
}

function isSpared({ file, gone }: FilesMark, name: string): boolean {
  return file !== null && (name < file || (gone === true && name === file));
}
