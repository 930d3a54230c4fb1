import { crc32 } from 'node:zlib';
import type { z } from 'zod';
import { SignageError } from '../../../domain/error.ts';
import { tryParseJson } from '../../../domain/json/try-parse-json.ts';
import { type FileSystem, writeFully } from '../disk/file-system.ts';
import { writeNewFile } from '../disk/replace-file.ts';
import { checksumText } from '../log/checksum.ts';
import { restoreMarker } from '../manifest.ts';
import { backupHead, backupTail, headSchema, tailSchema } from './format.ts';
import { shownName, type TarEntry, TarError, TarReader } from './tar-reader.ts';

/** Target of a restore: a disk and an empty folder on it. */
export interface RestoreTarget {
  disk: FileSystem;
  directory: string;
  /** Name of the backup in messages, such as its path. */
  name?: string;
  /** Receives the number of bytes written so far and the total number of bytes. */
  onProgress?: (doneBytes: number, allBytes: number) => void;
}

export interface Restored {
  /** Time of the backup, as ISO 8601. */
  at: string;
  files: number;
  bytes: number;
}

/**
 * Maximum size of the file list, and of the list of checksums, in bytes each. Both are held in
 * memory. 16 MiB is enough for 200,000 files, which is more than 100 years of day files.
 */
const maxTextBytes = 16 * 1024 * 1024;

/**
 * Restores a backup. Until the restore is complete, a marker prevents stores from opening the
 * folder. On failure, the written files are deleted, but the folders stay. Throws
 * `backup_unusable`, `store_unusable` if the disk has too little space, and errors of the disk.
 */
export async function restoreBackup(
  backup: AsyncIterable<Uint8Array>,
  target: RestoreTarget,
): Promise<Restored> {
  const tar = new TarReader(backup);
  const restore = new Restore(target, tar);
  try {
    return await restore.run();
  } catch (error) {
    await restore.undo();
    throw error instanceof TarError ? unusable(target, error) : error;
  }
}

const markerText =
  'A restore into this folder was not finished. Empty the folder, then run signage data restore again.\n';

function unusable({ name = 'The backup' }: RestoreTarget, cause: TarError): SignageError {
  const message = `${name} cannot be used as a backup: ${cause.message}. Nothing was restored. Copy it again from where it was made, or use another backup.`;
  return new SignageError('backup_unusable', message, { cause });
}

class Restore {
  readonly #target: RestoreTarget;
  readonly #tar: TarReader;
  readonly #created: string[] = [];
  readonly #checksums = new Map<string, string>();
  #doneBytes = 0;

  constructor(target: RestoreTarget, tar: TarReader) {
    this.#target = target;
    this.#tar = tar;
  }

  async run(): Promise<Restored> {
    const { at, sizes, bytes } = await this.#readHead();
    await this.#prepare(sizes, bytes);
    let entry = await this.#tar.next();
    for (; entry && entry.name !== backupTail; entry = await this.#tar.next())
      await this.#restoreFile(entry, sizes, bytes);
    const missing = [...sizes.keys()].find((name) => !this.#checksums.has(name));
    if (missing !== undefined) throw new TarError(`${shownName(missing)} is missing`);
    if (!entry) throw new TarError(`${backupTail} is missing`);
    await this.#compareChecksums(entry);
    await this.#finish(sizes);
    return { at, files: sizes.size, bytes };
  }

  /** Deletes the files that were written. */
  async undo(): Promise<void> {
    // The marker was created first, and is deleted last.
    for (const path of this.#created.toReversed())
      await this.#target.disk.unlink(path).catch(() => undefined);
  }

  async #readHead() {
    const entry = await this.#tar.next();
    if (entry?.name !== backupHead)
      throw new TarError(`it does not begin with ${backupHead}, as signage data backup writes it`);
    const { at, files } = await this.#readJson(entry, headSchema);
    const sizes = new Map(files.map(({ name, size }) => [name, size]));
    if (sizes.size < files.length) throw new TarError(`${backupHead} names a file twice`);
    if (!sizes.has(manifest)) throw new TarError(`${backupHead} names no ${manifest}`);
    return { at, sizes, bytes: files.reduce((total, { size }) => total + size, 0) };
  }

  /** Checks that the files fit on the disk, then creates the marker and the folders. */
  async #prepare(sizes: ReadonlyMap<string, number>, bytes: number): Promise<void> {
    const { disk, directory } = this.#target;
    const freeBytes = await disk.freeBytes(directory);
    if (bytes > freeBytes) {
      const message = `${directory} has too little space: the backup takes ${bytes} bytes, and ${freeBytes} are free. Choose a folder on a larger disk.`;
      throw new SignageError('store_unusable', message);
    }
    const marker = `${directory}/${restoreMarker}`;
    this.#created.push(marker);
    await writeNewFile(disk, marker, (file) => writeFully(file, Buffer.from(markerText)));
    await disk.syncDirectory(directory);
    for (const folder of foldersOf(sizes.keys()))
      await disk.makeDirectory(`${directory}/${folder}`);
  }

  async #restoreFile(
    { name, size }: TarEntry,
    sizes: ReadonlyMap<string, number>,
    allBytes: number,
  ): Promise<void> {
    const { disk, directory, onProgress } = this.#target;
    const expected = sizes.get(name);
    if (expected === undefined) throw new TarError(`${shownName(name)} does not belong in it`);
    if (this.#checksums.has(name)) throw new TarError(`${shownName(name)} is in it twice`);
    if (size !== expected)
      throw new TarError(
        `${shownName(name)} has ${size} bytes, and ${backupHead} says ${expected}`,
      );
    const path = `${directory}/${temporaryName(name)}`;
    let checksum = 0;
    await writeNewFile(disk, path, async (file) => {
      this.#created.push(path);
      for await (const chunk of this.#tar.body()) {
        await writeFully(file, chunk);
        checksum = crc32(chunk, checksum);
        this.#doneBytes += chunk.length;
        onProgress?.(this.#doneBytes, allBytes);
      }
    });
    this.#checksums.set(name, checksumText(checksum));
  }

  async #compareChecksums(tail: TarEntry): Promise<void> {
    const { crc32: expected } = await this.#readJson(tail, tailSchema);
    for (const [name, checksum] of this.#checksums) {
      if (!Object.hasOwn(expected, name) || expected[name] !== checksum)
        throw new TarError(`${shownName(name)} is damaged: its checksum differs`);
    }
    const after = await this.#tar.next();
    if (after) throw new TarError(`${shownName(after.name)} stands after ${backupTail}`);
  }

  /**
   * Renames the manifest to its final name, then deletes the marker. Call when all files are
   * complete.
   */
  async #finish(sizes: ReadonlyMap<string, number>): Promise<void> {
    const { disk, directory } = this.#target;
    for (const folder of foldersOf(sizes.keys()))
      await disk.syncDirectory(`${directory}/${folder}`);
    await disk.rename(`${directory}/${temporaryName(manifest)}`, `${directory}/${manifest}`);
    this.#created.push(`${directory}/${manifest}`);
    await disk.syncDirectory(directory);
    await disk.unlink(`${directory}/${restoreMarker}`);
    await disk.syncDirectory(directory);
  }

  async #readJson<T>({ name, size }: TarEntry, schema: z.ZodType<T>): Promise<T> {
    if (size > maxTextBytes)
      throw new TarError(`${name} has ${size} bytes, and the limit is ${maxTextBytes}`);
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.#tar.body()) chunks.push(chunk);
    const parsed = schema.safeParse(tryParseJson(Buffer.concat(chunks).toString('utf8')));
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw new TarError(
      `${name} is damaged, or of a newer version (${shownName(issue?.path.join('.') ?? '')}: ${issue?.message})`,
    );
  }
}

const manifest = 'manifest.json';
const temporaryName = (name: string) => (name === manifest ? `${name}.tmp` : name);

function foldersOf(names: Iterable<string>): Set<string> {
  return new Set(
    [...names].filter((name) => name.includes('/')).map((name) => name.slice(0, name.indexOf('/'))),
  );
}
