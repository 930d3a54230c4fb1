import { setImmediate } from 'node:timers/promises';
import type { FileSystem, OpenFile } from './file-system.ts';

/** The contents of a file, in a buffer that doubles as it grows. */
class MemoryFile implements OpenFile {
  #bytes = Buffer.alloc(0);
  #size = 0;

  async write(bytes: Uint8Array, position = this.#size): Promise<number> {
    const end = position + bytes.length;
    if (end > this.#bytes.length) {
      const grown = Buffer.alloc(Math.max(end, 2 * this.#bytes.length, 1024));
      this.#bytes.copy(grown, 0, 0, this.#size);
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, position);
    this.#size = Math.max(this.#size, end);
    return bytes.length;
  }

  async read(into: Uint8Array, position: number): Promise<number> {
    return this.#bytes.copy(into, 0, Math.min(position, this.#size), this.#size);
  }

  async truncate(length: number): Promise<void> {
    this.#bytes.fill(0, length, this.#size);
    this.#size = length;
  }

  /** Yields to the event loop. Otherwise a writer in a loop would block it forever. */
  async datasync(): Promise<void> {
    await setImmediate();
  }

  async size(): Promise<number> {
    return this.#size;
  }

  async close(): Promise<void> {}

  contents(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#size));
  }
}

function failure(code: 'ENOENT' | 'EEXIST', path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}

/** In-memory file system for `memory:`. The embedded store runs on it unchanged. */
export function makeMemoryFileSystem(): FileSystem {
  const files = new Map<string, MemoryFile>();
  const existing = (path: string): MemoryFile => {
    const file = files.get(path);
    if (!file) throw failure('ENOENT', path);
    return file;
  };
  return {
    async create(path) {
      if (files.has(path)) throw failure('EEXIST', path);
      const file = new MemoryFile();
      files.set(path, file);
      return file;
    },
    open: async (path) => existing(path),
    readFile: async (path) => existing(path).contents(),
    async rename(from, to) {
      files.set(to, existing(from));
      files.delete(from);
    },
    async unlink(path) {
      existing(path);
      files.delete(path);
    },
    async makeDirectory() {},
    async list(path) {
      const inside = [...files.keys()].filter((file) => file.startsWith(`${path}/`));
      return [
        ...new Set(inside.map((file) => file.slice(path.length + 1).split('/')[0] as string)),
      ];
    },
    sizeOf: async (path) => files.get(path)?.size(),
    async syncDirectory() {},
    freeBytes: async () => Number.POSITIVE_INFINITY,
  };
}
