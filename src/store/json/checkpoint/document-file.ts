import { isAscii } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { Adapter } from 'lowdb';
import { type FileSystem, type OpenFile, writeFully } from '../disk/file-system.ts';
import { replaceFile } from '../disk/replace-file.ts';
import { damaged } from '../log/damage.ts';
import { seekLine } from '../log/line-reader.ts';
import type { RenderedDocument } from './document-owner.ts';

/** A document as the manifest knows it. */
export interface DocumentEntry {
  /** Its file in the folder of documents; every version has another one. */
  file: string;
  size: number;
  /** CRC-32 of its bytes, in hex. */
  crc: string;
  /** The last record of its owner's log that it contains. */
  seq: number;
}

/** What is rendered and written at a time: the event loop is never held for longer than this takes. */
const sliceBytes = 64 * 1024;
/** What those get at a time, at most, who read a document bit by bit: 2 ms of work for a report. */
const chunkBytes = 1024 * 1024;
const lineFeed = 0x0a;

/**
 * lowdb's adapter to one version of a document. Its own writer never syncs, and takes a missing file for an empty one; this one does neither.
 *
 * The checksum is zlib's CRC-32: native, so that it costs next to nothing. CRC-32C would find the same damage, and be ours to compute.
 */
export class DocumentFile implements Adapter<RenderedDocument> {
  readonly #disk: FileSystem;
  readonly #path: string;
  entry: DocumentEntry;

  constructor(disk: FileSystem, directory: string, entry: DocumentEntry) {
    this.#disk = disk;
    this.#path = `${directory}/${entry.file}`;
    this.entry = entry;
  }

  async read(): Promise<RenderedDocument> {
    const bytes = await this.bytes();
    return { seq: this.entry.seq, lines: [decoded(bytes)] };
  }

  /** Its bytes, checked. */
  async bytes(): Promise<Buffer> {
    const { size, crc } = this.entry;
    const bytes = await this.#disk.readFile(this.#path);
    if (bytes.length !== size)
      throw damaged(this.#path, `it has ${bytes.length} bytes where the manifest says ${size}`);
    if (hex(crc32(bytes)) !== crc)
      throw damaged(this.#path, 'its contents are not what was written');
    return bytes;
  }

  /** Its bytes as they are asked for, unchecked, in whole lines if these are not very long; what comes next is read meanwhile. */
  async *chunks(comesBefore?: (head: Buffer) => boolean): AsyncGenerator<Buffer> {
    const file = await this.#disk.open(this.#path, 'read');
    const buffers: [Buffer, Buffer] = [Buffer.alloc(0), Buffer.alloc(0)];
    const read = async (turn: number, position: number): Promise<Buffer> => {
      // Little at first: a report by campaign needs no more.
      const bytes = Math.min(sliceBytes * 2 ** turn, chunkBytes);
      if ((buffers[turn % 2] as Buffer).length < bytes)
        buffers[turn % 2] = Buffer.allocUnsafeSlow(bytes);
      const buffer = buffers[turn % 2] as Buffer;
      return wholeLines(buffer.subarray(0, await file.read(buffer, position)));
    };
    let next: Promise<Buffer> | undefined;
    try {
      const first = await read(0, 0);
      const isBefore = comesBefore?.(lastLine(first)) === true;
      let position =
        comesBefore && isBefore ? await seekLine(file, this.entry.size, comesBefore) : first.length;
      if (!isBefore) yield first;
      next = read(1, position);
      for (let turn = 2; ; turn++) {
        const chunk = await next;
        if (chunk.length === 0) return;
        position += chunk.length;
        next = read(turn, position);
        yield chunk;
      }
    } finally {
      await next?.catch(() => undefined);
      await file.close();
    }
  }

  /** Full write to a temporary file, sync, rename; the caller syncs the directory. */
  async write({ seq, lines }: RenderedDocument): Promise<void> {
    const { size, sum } = await replaceFile(this.#disk, this.#path, (file) =>
      writeLines(file, lines),
    );
    this.entry = { ...this.entry, size, crc: hex(sum), seq };
  }
}

async function writeLines(
  file: OpenFile,
  lines: RenderedDocument['lines'],
): Promise<{ size: number; sum: number }> {
  let [size, sum, slice] = [0, 0, ''];
  const flush = async () => {
    const bytes = Buffer.from(slice);
    await writeFully(file, bytes);
    [size, sum, slice] = [size + bytes.length, crc32(bytes, sum), ''];
    await setImmediate();
  };
  for await (const line of lines) {
    slice += `${line}\n`;
    if (slice.length >= sliceBytes) await flush();
  }
  await flush();
  return { size, sum };
}

/** Without the beginning of a line at the end, which is read again. */
function wholeLines(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf(lineFeed) + 1;
  return end === 0 ? bytes : bytes.subarray(0, end);
}

function lastLine(bytes: Buffer): Buffer {
  return bytes.subarray(bytes.lastIndexOf(lineFeed, -2) + 1);
}

/** UTF-8 as text. Most of it is plain ASCII, which needs no decoding, and there is much of it to read. */
function decoded(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString('latin1') : bytes.toString();
}

function hex(sum: number): string {
  return sum.toString(16).padStart(8, '0');
}
