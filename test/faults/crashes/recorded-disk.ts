import type { FileSystem, OpenFile } from '../../../src/store/json/disk/file-system.ts';
import { yieldToEventLoop } from '../../../src/store/json/disk/yield.ts';
import { CrashDisk } from '../../store/json/crash-disk.ts';

/** One change of a disk. Files have numbers, because their names change. */
export type DiskStep =
  | { do: 'write'; file: number; at: number; bytes: Buffer }
  | { do: 'truncate'; file: number; length: number }
  | { do: 'datasync'; file: number }
  /** A `datasync` failed. As on Linux, unsynced data stays readable and never reaches the disk. */
  | { do: 'lose'; file: number }
  | { do: 'create'; path: string; file: number }
  | { do: 'rename'; path: string; to: string; file: number }
  | { do: 'unlink'; path: string }
  | { do: 'syncDirectory'; path: string };

/** Contents of a disk by path. */
export type Files = ReadonlyMap<string, Buffer>;

/** Returns a disk in memory with these synced files. */
export function diskOf(files: Files): CrashDisk {
  return new CrashDisk(
    new Map([...files].map(([path, bytes]) => [path, { bytes, synced: bytes }])),
  );
}

/** Records all changes of a disk that starts with these files. */
export class RecordedDisk {
  readonly steps: DiskStep[] = [];
  readonly #disk: CrashDisk;
  readonly #numbers: Map<string, number>;
  #made: number;

  constructor(start: Files = new Map()) {
    this.#disk = diskOf(start);
    this.#numbers = new Map([...start.keys()].map((path, number) => [path, number]));
    this.#made = start.size;
  }

  /** The disk for a process that starts now, without losses. */
  get now(): CrashDisk {
    return this.#disk.afterKill();
  }

  /** Loses the unsynced contents of a file at the next power cut. */
  lose(path: string): void {
    const file = this.#numbers.get(path);
    if (file !== undefined) this.steps.push({ do: 'lose', file });
  }

  /** Returns the disk of one process. After `kill`, it does nothing. */
  life(): { disk: FileSystem; kill(): void } {
    const life = { isOver: false };
    const disk = this.#through(() => {
      if (life.isOver) throw new Error('the process was killed');
    });
    const kill = () => {
      life.isOver = true;
    };
    return { disk, kill };
  }

  #through(check: () => void): FileSystem {
    const disk = this.#disk;
    const number = (path: string) => this.#numbers.get(path) as number;
    const opened = (path: string, file: OpenFile) => this.#recorded(number(path), file, check);
    const checked =
      <A extends unknown[], T>(call: (...args: A) => Promise<T>) =>
      async (...args: A): Promise<T> => {
        check();
        return call(...args);
      };
    return {
      create: checked(async (path) => {
        const file = await disk.create(path);
        this.#numbers.set(path, this.#made++);
        this.steps.push({ do: 'create', path, file: number(path) });
        return opened(path, file);
      }),
      open: checked(async (path) => opened(path, await disk.open(path))),
      readFile: checked((path) => disk.readFile(path)),
      rename: checked(async (path, to) => {
        await disk.rename(path, to);
        this.#numbers.set(to, number(path));
        this.#numbers.delete(path);
        this.steps.push({ do: 'rename', path, to, file: number(to) });
      }),
      unlink: checked(async (path) => {
        await disk.unlink(path);
        this.#numbers.delete(path);
        this.steps.push({ do: 'unlink', path });
      }),
      makeDirectory: checked(() => disk.makeDirectory()),
      list: checked((path) => disk.list(path)),
      sizeOf: checked((path) => disk.sizeOf(path)),
      syncDirectory: checked(async (path) => {
        await disk.syncDirectory(path);
        this.steps.push({ do: 'syncDirectory', path });
      }),
      freeBytes: checked(() => disk.freeBytes()),
    };
  }

  #recorded(number: number, file: OpenFile, check: () => void): OpenFile {
    const step = (one: DiskStep) => this.steps.push(one);
    return {
      write: async (bytes) => {
        check();
        const at = await file.size();
        const took = await file.write(bytes);
        step({ do: 'write', file: number, at, bytes: Buffer.from(bytes.subarray(0, took)) });
        return took;
      },
      read: (into, position) => file.read(into, position),
      truncate: async (length) => {
        check();
        await file.truncate(length);
        step({ do: 'truncate', file: number, length });
      },
      datasync: async () => {
        check();
        await file.datasync();
        step({ do: 'datasync', file: number });
        // Lets other writes join the next sync.
        await yieldToEventLoop();
      },
      size: () => file.size(),
      close: async () => {},
    };
  }
}
