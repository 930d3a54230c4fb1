import { crc32 } from 'node:zlib';
import { createTarPacker, type TarPackController } from 'modern-tar';
import { iso, minuteMs } from '../../../domain/clock.ts';
import { yieldToEventLoop } from '../disk/yield.ts';
import { checksumText } from '../log/checksum.ts';
import { unavailable } from '../log/group-log.ts';
import { readAt } from '../log/line-reader.ts';
import type { PartContext } from '../parts.ts';
import { backupHead, backupTail } from './format.ts';
import { type Snapshot, type SnapshotFile, snapshotFiles } from './snapshot-files.ts';

/** A backup fails if its reader reads nothing for this long, because a backup blocks deletions. */
const readerTimeoutMs = 5 * minuteMs;

/** Bytes per read. */
const chunkBytes = 256 * 1024;

/**
 * Streams a snapshot of the store as a tar archive. The first entry lists the files. The last entry
 * has the checksums, so that truncation is detected. Files are read on demand.
 */
export class Backup {
  readonly stream: ReadableStream<Uint8Array>;
  /** Resolves when the stream has ended, failed or was cancelled, and the files are released. */
  readonly over: Promise<void>;
  readonly #context: PartContext;
  readonly #snapshot: Snapshot;
  readonly #tar: TarPackController;
  #cancelTimer = () => {};

  /** `release` allows the store to delete files again. */
  constructor(context: PartContext, snapshot: Snapshot, release: () => Promise<void>) {
    const { readable, controller } = createTarPacker();
    this.#context = context;
    this.#snapshot = snapshot;
    this.#tar = controller;
    this.stream = readable;
    this.over = this.#run(release);
  }

  /** Aborts the stream. Its reader gets `reason` as the error. */
  async cancel(reason: Error): Promise<void> {
    this.#tar.error(reason);
    await this.over;
  }

  async #run(release: () => Promise<void>): Promise<void> {
    try {
      this.#restartTimeout();
      await this.#pack();
    } catch (error) {
      // Has no effect if the reader has cancelled.
      this.#tar.error(error);
    }
    this.#cancelTimer();
    await release().catch((error: unknown) =>
      this.#context.warn('Files kept for a backup could not be deleted', error),
    );
  }

  #restartTimeout(): void {
    const { clock, warn } = this.#context;
    this.#cancelTimer();
    this.#cancelTimer = clock.after(readerTimeoutMs, () => {
      const message = `The backup was aborted: its reader took nothing for ${readerTimeoutMs / minuteMs} minutes.`;
      warn(message);
      this.#tar.error(unavailable(message));
    });
  }

  async #pack(): Promise<void> {
    const { disk, directory } = this.#context;
    const at = iso(this.#snapshot.at);
    const files = await snapshotFiles(disk, directory, this.#snapshot);
    await this.#addText(backupHead, {
      kind: 'signage-backup',
      format: 1,
      at,
      files: files.map(({ name, size }) => ({ name, size })),
    });
    const checksums: Record<string, string> = {};
    for (const file of files) checksums[file.name] = await this.#addFile(file);
    await this.#addText(backupTail, { crc32: checksums });
    this.#tar.finalize();
  }

  async #addText(name: string, content: object): Promise<void> {
    const bytes = Buffer.from(`${JSON.stringify(content, null, 1)}\n`);
    await this.#addFile({ name, size: bytes.length, bytes });
  }

  /** Adds a file to the archive. Returns its CRC-32 in hex. */
  async #addFile(file: SnapshotFile): Promise<string> {
    const mtime = new Date(this.#snapshot.at);
    const writer = this.#tar
      .add({ name: file.name, size: file.size, type: 'file', mode: 0o600, mtime })
      .getWriter();
    let checksum = 0;
    for await (const chunk of this.#chunks(file)) {
      checksum = crc32(chunk, checksum);
      await writer.write(chunk);
      this.#restartTimeout();
      await yieldToEventLoop();
    }
    await writer.close();
    return checksumText(checksum);
  }

  async *#chunks({ name, size, bytes }: SnapshotFile): AsyncGenerator<Uint8Array> {
    if (bytes) return yield bytes;
    const file = await this.#context.disk.open(`${this.#context.directory}/${name}`, 'read');
    try {
      for (let position = 0; position < size; position += chunkBytes) {
        const wanted = Math.min(chunkBytes, size - position);
        const chunk = await readAt(file, position, wanted);
        if (chunk.length < wanted)
          throw new Error(
            `${name} ends at byte ${position + chunk.length}, and should have ${size}`,
          );
        yield chunk;
      }
    } finally {
      await file.close();
    }
  }
}
