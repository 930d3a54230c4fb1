import { crc32 } from 'node:zlib';
import { createTarPacker, type TarPackController } from 'modern-tar';
import { iso, minuteMs } from '../../../domain/clock.ts';
import { yieldToEventLoop } from '../disk/yield.ts';
import { unavailable } from '../log/group-log.ts';
import { readAt } from '../log/line-reader.ts';
import type { PartContext } from '../parts.ts';
import { backupHead, backupTail } from './format.ts';
import { type Snapshot, type SnapshotFile, snapshotFiles } from './snapshot-files.ts';

/** A reader who takes nothing for so long is given up: for its sake nothing is deleted. */
const patienceMs = 5 * minuteMs;

/** What is read at a time. */
const chunkBytes = 256 * 1024;

/**
 * A state of the store as a tar: first what it holds, last the checksums, so that one which was cut short is seen to be. Files are read as the reader
 * takes them.
 */
export class Backup {
  readonly stream: ReadableStream<Uint8Array>;
  /** Resolves when the last byte was taken, or nobody wants to read on. */
  readonly over: Promise<void>;
  readonly #context: PartContext;
  readonly #instant: Snapshot;
  readonly #tar: TarPackController;
  #cancelTimer = () => {};

  /** `release` lets the store delete again. */
  constructor(context: PartContext, instant: Snapshot, release: () => Promise<void>) {
    const { readable, controller } = createTarPacker();
    this.#context = context;
    this.#instant = instant;
    this.#tar = controller;
    this.stream = readable;
    this.over = this.#run(release);
  }

  /** Ends it before its time: whoever reads it sees the reason. */
  async cancel(reason: Error): Promise<void> {
    this.#tar.error(reason);
    await this.over;
  }

  async #run(release: () => Promise<void>): Promise<void> {
    try {
      this.#noteProgress();
      await this.#pack();
    } catch (error) {
      // To a reader that has gone away it says nothing.
      this.#tar.error(error);
    }
    this.#cancelTimer();
    await release().catch((error: unknown) =>
      this.#context.warn('What was kept for a backup could not be deleted', error),
    );
  }

  /** The reader has taken something: from here on it has its time again. */
  #noteProgress(): void {
    const { clock, warn } = this.#context;
    this.#cancelTimer();
    this.#cancelTimer = clock.after(patienceMs, () => {
      const why = `The backup was given up: nobody read on for ${patienceMs / minuteMs} minutes.`;
      warn(why);
      this.#tar.error(unavailable(why));
    });
  }

  async #pack(): Promise<void> {
    const { disk, directory } = this.#context;
    const at = iso(this.#instant.at);
    const files = await snapshotFiles(disk, directory, this.#instant);
    await this.#addText(backupHead, {
      kind: 'signage-backup',
      format: 1,
      at,
      files: files.map(({ name, size }) => ({ name, size })),
    });
    const sums: Record<string, string> = {};
    for (const file of files) sums[file.name] = await this.#addFile(file);
    await this.#addText(backupTail, { crc32: sums });
    this.#tar.finalize();
  }

  async #addText(name: string, content: object): Promise<void> {
    const bytes = Buffer.from(`${JSON.stringify(content, null, 1)}\n`);
    await this.#addFile({ name, size: bytes.length, bytes });
  }

  /** Answers its CRC-32, in hex. */
  async #addFile(file: SnapshotFile): Promise<string> {
    const mtime = new Date(this.#instant.at);
    const writer = this.#tar
      .add({ name: file.name, size: file.size, type: 'file', mode: 0o600, mtime })
      .getWriter();
    let sum = 0;
    for await (const chunk of this.#chunks(file)) {
      sum = crc32(chunk, sum);
      await writer.write(chunk);
      this.#noteProgress();
      await yieldToEventLoop();
    }
    await writer.close();
    return sum.toString(16).padStart(8, '0');
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
