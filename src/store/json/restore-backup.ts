import { crc32 } from 'node:zlib';
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar';
import { SignageError } from '../../domain/error.ts';
import { backupHead, backupTail, headSchema, tailSchema } from './backup-format.ts';
import { type FileSystem, writeFully } from './file-system.ts';

/** A backup is put back on this disk, into this folder, which holds nothing. */
export interface RestoreTarget {
  disk: FileSystem;
  directory: string;
  /** Told how many bytes have been written, of how many. */
  onProgress?: (doneBytes: number, allBytes: number) => void;
}

export interface Restored {
  /** When the backup was taken, as ISO 8601. */
  at: string;
  files: number;
  bytes: number;
}

/** Small entries that are read whole. */
const mostTextBytes = 256 * 1024 * 1024;

function unusable(why: string, cause?: unknown): SignageError {
  return new SignageError('backup_unusable', `The backup cannot be used: ${why}. Take another one.`, { cause });
}

/**
 * Puts a backup back. The manifest comes last, so that what was cut short is taken for no store; when something goes wrong, the files that were
 * written are deleted. Throws `backup_unusable`, and what the disk throws.
 */
export async function restoreBackup(backup: ReadableStream<Uint8Array>, target: RestoreTarget): Promise<Restored> {
  const restore = new Restore(target);
  try {
    for await (const entry of backup.pipeThrough(createTarDecoder({ strict: true }))) await restore.take(entry);
    return await restore.finish();
  } catch (error) {
    await restore.undo();
    throw error instanceof SignageError || (error as NodeJS.ErrnoException).code ? error : unusable(`it is no whole tar file`, error);
  }
}

class Restore {
  readonly #target: RestoreTarget;
  #head: { at: string; sizes: Map<string, number>; bytes: number } | undefined;
  #sums = new Map<string, string>();
  #expected: Record<string, string> | undefined;
  #doneBytes = 0;

  constructor(target: RestoreTarget) {
    this.#target = target;
  }

  async take(entry: ParsedTarEntry): Promise<void> {
    const { name } = entry.header;
    if (!this.#head) return this.#takeHead(entry);
    if (name === backupTail) {
      this.#expected = tailSchema.parse(await readJson(entry)).crc32;
      return;
    }
    const size = this.#head.sizes.get(name);
    if (size === undefined || this.#sums.has(name) || entry.header.type !== 'file')
      throw unusable(`${JSON.stringify(name)} does not belong in it`);
    this.#sums.set(name, '');
    this.#sums.set(name, await this.#write(entry, temporary(name), size));
  }

  async #takeHead(entry: ParsedTarEntry): Promise<void> {
    const parsed = entry.header.name === backupHead ? headSchema.safeParse(await readJson(entry)) : undefined;
    if (!parsed?.success) throw unusable('it is none of ours, or of a newer version', parsed?.error);
    const { at, files } = parsed.data;
    const sizes = new Map(files.map(({ name, size }) => [name, size]));
    this.#head = { at, sizes, bytes: files.reduce((sum, { size }) => sum + size, 0) };
    for (const folder of folders(files.map(({ name }) => name)))
      await this.#target.disk.makeDirectory(`${this.#target.directory}/${folder}`);
  }

  async #write({ body }: ParsedTarEntry, name: string, size: number): Promise<string> {
    const { disk, directory, onProgress } = this.#target;
    const file = await disk.create(`${directory}/${name}`);
    let [sum, got] = [0, 0];
    try {
      for await (const chunk of body) {
        await writeFully(file, chunk);
        sum = crc32(chunk, sum);
        got += chunk.length;
        this.#doneBytes += chunk.length;
        onProgress?.(this.#doneBytes, this.#head?.bytes ?? 0);
      }
      await file.datasync();
    } finally {
      await file.close();
    }
    if (got !== size) throw unusable(`${name} has ${got} bytes where it should have ${size}`);
    return sum.toString(16).padStart(8, '0');
  }

  /** Everything is there and as it was: the manifest gets its name. */
  async finish(): Promise<Restored> {
    if (!this.#head || !this.#expected) throw unusable('it ends too early');
    const { at, sizes, bytes } = this.#head;
    for (const name of sizes.keys()) {
      if (!this.#sums.has(name)) throw unusable(`${name} is missing`);
      if (this.#sums.get(name) !== this.#expected[name]) throw unusable(`${name} is damaged`);
    }
    const { disk, directory } = this.#target;
    for (const folder of folders(sizes.keys())) await disk.syncDirectory(`${directory}/${folder}`);
    await disk.rename(`${directory}/${temporary(manifest)}`, `${directory}/${manifest}`);
    await disk.syncDirectory(directory);
    return { at, files: sizes.size, bytes };
  }

  async undo(): Promise<void> {
    const { disk, directory } = this.#target;
    for (const name of this.#sums.keys()) await disk.unlink(`${directory}/${temporary(name)}`).catch(() => undefined);
  }
}

const manifest = 'manifest.json';
const temporary = (name: string) => (name === manifest ? `${name}.tmp` : name);

function folders(names: Iterable<string>): Set<string> {
  return new Set([...names].filter((name) => name.includes('/')).map((name) => name.slice(0, name.indexOf('/'))));
}

async function readJson({ header, body }: ParsedTarEntry): Promise<unknown> {
  if (header.size > mostTextBytes) throw unusable(`${header.name} is too large`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}
