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

// biome-ignore lint/suspicious/noExplicitAny: methods of every shape.
type Call = (args: unknown[]) => Promise<any>;

/** Returns an object whose methods are called through `call`. */
export function around<T extends object>(
  inner: T,
  call: (name: string, args: unknown[], go: Call) => Promise<unknown>,
): T {
  return new Proxy(inner, {
    get: (of, name) => {
      const method: unknown = Reflect.get(of, name);
      if (typeof method !== 'function') return method;
      return (...args: unknown[]) => call(String(name), args, (others) => method.apply(of, others));
    },
  });
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
    const number = (path: string) => this.#numbers.get(path) as number;
    const step = (one: DiskStep) => this.steps.push(one);
    return around<FileSystem>(this.#disk, async (operation, args, go) => {
      check();
      const [path, to] = args as [string, string];
      const made = await go(args);
      if (operation === 'create') {
        this.#numbers.set(path, this.#made++);
        step({ do: 'create', path, file: number(path) });
      } else if (operation === 'rename') {
        this.#numbers.set(to, number(path));
        this.#numbers.delete(path);
        step({ do: 'rename', path, to, file: number(to) });
      } else if (operation === 'unlink') {
        this.#numbers.delete(path);
        step({ do: 'unlink', path });
      } else if (operation === 'syncDirectory') step({ do: 'syncDirectory', path });
      const isFile = operation === 'create' || operation === 'open';
      return isFile ? this.#recorded(number(path), made, check) : made;
    });
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
