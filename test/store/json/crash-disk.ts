import { posix } from 'node:path';
import type { FileSystem, OpenFile } from '../../../src/store/json/disk/file-system.ts';

/** A file: its contents, and the contents that would survive a power cut. */
interface Inode {
  bytes: Buffer;
  synced: Buffer;
}

type Names = Map<string, Inode>;

/**
 * An in-memory disk that simulates power cuts. After `failAt` changes every further change fails,
 * and a failing write is torn in half. `afterPowerCut` returns the disk after a restart: only
 * synced data, and the fraction `kept` of unsynced appends.
 */
export class CrashDisk implements FileSystem {
  /** Number of changes so far. */
  changes = 0;
  failAt = Number.POSITIVE_INFINITY;
  /** Bytes read so far. */
  readBytes = 0;
  free = Number.POSITIVE_INFINITY;
  /** Called before each operation; may throw. */
  before: (operation: string, path: string) => void = () => {};
  #names: Names;
  #syncedNames: Names;

  constructor(names: Names = new Map(), syncedNames: Names = new Map(names)) {
    this.#names = names;
    this.#syncedNames = syncedNames;
  }

  /** Returns the disk after the process dies. Nothing is lost, but unsynced data stay unsynced. */
  afterKill(): CrashDisk {
    const copies = new Map<Inode, Inode>();
    const copyOf = (inode: Inode) =>
      copies.get(inode) ?? copies.set(inode, { ...inode }).get(inode)!;
    const copied = (names: Names): Names =>
      new Map([...names].map(([name, inode]) => [name, copyOf(inode)]));
    return new CrashDisk(copied(this.#names), copied(this.#syncedNames));
  }

  afterPowerCut(kept = 0): CrashDisk {
    const disk: Names = new Map();
    for (const [name, { bytes, synced }] of this.#syncedNames) {
      const isGrown =
        bytes.length > synced.length && bytes.subarray(0, synced.length).equals(synced);
      const rest = isGrown
        ? bytes.subarray(
            synced.length,
            synced.length + Math.floor((bytes.length - synced.length) * kept),
          )
        : Buffer.alloc(0);
      const left = Buffer.concat([synced, rest]);
      disk.set(name, { bytes: left, synced: left });
    }
    return new CrashDisk(disk);
  }

  paths(): string[] {
    return [...this.#names.keys()].sort();
  }

  /** The readable contents of all files. */
  files(): Map<string, Buffer> {
    return new Map([...this.#names].map(([path, { bytes }]) => [path, bytes]));
  }

  text(path: string): string {
    return this.#inode(path).bytes.toString();
  }

  /** Creates or changes a file, as another program might. */
  plant(path: string, contents: string | Uint8Array): void {
    const bytes = Buffer.from(contents as string);
    const inode = { bytes, synced: bytes };
    this.#names.set(path, inode);
    this.#syncedNames.set(path, inode);
  }

  #inode(path: string): Inode {
    const inode = this.#names.get(path);
    if (!inode) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
    return inode;
  }

  #change(operation: string, path: string): void {
    this.before(operation, path);
    if (++this.changes > this.failAt) throw new Error(`crashed at ${operation} ${path}`);
  }

  #open(path: string, inode: Inode): OpenFile {
    return {
      write: async (bytes) => {
        this.before('write', path);
        const isLast = ++this.changes === this.failAt;
        if (this.changes > this.failAt) throw new Error(`crashed at write ${path}`);
        const took = isLast ? Math.ceil(bytes.length / 2) : bytes.length;
        inode.bytes = Buffer.concat([inode.bytes, bytes.subarray(0, took)]);
        return took;
      },
      read: async (into, position) => {
        this.before('read', path);
        const got = inode.bytes.copy(into, 0, Math.min(position, inode.bytes.length));
        this.readBytes += got;
        return got;
      },
      truncate: async (length) => {
        this.#change('truncate', path);
        inode.bytes = Buffer.from(inode.bytes.subarray(0, length));
      },
      datasync: async () => {
        this.#change('datasync', path);
        inode.synced = Buffer.from(inode.bytes);
      },
      size: async () => inode.bytes.length,
      close: async () => {},
    };
  }

  async create(path: string): Promise<OpenFile> {
    this.#change('create', path);
    if (this.#names.has(path))
      throw Object.assign(new Error(`EEXIST: ${path}`), { code: 'EEXIST' });
    const inode = { bytes: Buffer.alloc(0), synced: Buffer.alloc(0) };
    this.#names.set(path, inode);
    return this.#open(path, inode);
  }

  async open(path: string): Promise<OpenFile> {
    this.before('open', path);
    return this.#open(path, this.#inode(path));
  }

  async readFile(path: string): Promise<Buffer> {
    this.before('readFile', path);
    const { bytes } = this.#inode(path);
    this.readBytes += bytes.length;
    return Buffer.from(bytes);
  }

  async rename(from: string, to: string): Promise<void> {
    this.#change('rename', from);
    this.#names.set(to, this.#inode(from));
    this.#names.delete(from);
  }

  async unlink(path: string): Promise<void> {
    this.#change('unlink', path);
    this.#inode(path);
    this.#names.delete(path);
  }

  async makeDirectory(): Promise<void> {}

  async list(path: string): Promise<string[]> {
    const inside = [...this.#names.keys()].filter((name) => posix.dirname(name) === path);
    return inside.map((name) => posix.basename(name));
  }

  async sizeOf(path: string): Promise<number | undefined> {
    return this.#names.get(path)?.bytes.length;
  }

  async syncDirectory(path: string): Promise<void> {
    this.#change('syncDirectory', path);
    const inside = (name: string) => posix.dirname(name) === path;
    for (const name of [...this.#syncedNames.keys()].filter(inside))
      if (!this.#names.has(name)) this.#syncedNames.delete(name);
    for (const [name, inode] of this.#names) if (inside(name)) this.#syncedNames.set(name, inode);
  }

  async freeBytes(): Promise<number> {
    return this.free;
  }
}
