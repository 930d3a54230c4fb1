import { isAscii } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { type FileSystem, type OpenFile, writeFully } from '../disk/file-system.ts';
import { replaceFile } from '../disk/replace-file.ts';
import { checksumText, hexChecksum } from '../log/checksum.ts';
import { damageError } from '../log/damage.ts';
import { readAt, seekLine } from '../log/line-reader.ts';
import { checksumLength, documentLine } from './document-line.ts';
import type { RenderedDocument, WrittenDocument } from './document-owner.ts';

/** A document's entry in the manifest. */
export interface DocumentEntry {
  /** Name of the document's file in the documents folder. Each version has a new file. */
  file: string;
  size: number;
  /** CRC-32 of the file in hex. */
  crc: string;
  /** Number of the last record of the owner's log that the document contains. */
  seq: number;
  /** Number of its lines, without the first and the last. */
  lines: number;
}

/**
 * Size of the slices in which a document is rendered and written, in characters. The event loop
 * is blocked for one slice at most. Also the size of the first read, in bytes.
 */
const sliceBytes = 64 * 1024;
/** Maximum size of a chunk in bytes. A report takes 2 ms to process such a chunk. */
const chunkBytes = 1024 * 1024;
const lineFeed = 0x0a;

/**
 * One version of a document on disk. Every line begins with a checksum. The first line is the
 * document's `seq`, and the last one is the number of the lines between them, so a repair needs no
 * manifest:
 *
 *     ["d202ef8d",17
 *     ,"1c291ca3",["venues",{"id":"…",…}]
 *     ,"5f0d1e22",{"lines":1}]
 *
 * A start checks the checksum of the whole file in the manifest instead, which is faster. Both are
 * zlib's native CRC-32. CRC-32C would detect the same damage but needs an implementation in
 * JavaScript.
 */
export class DocumentFile implements WrittenDocument {
  readonly #disk: FileSystem;
  readonly #path: string;
  readonly entry: DocumentEntry;

  constructor(disk: FileSystem, directory: string, entry: DocumentEntry) {
    this.#disk = disk;
    this.#path = `${directory}/${entry.file}`;
    this.entry = entry;
  }

  get seq(): number {
    return this.entry.seq;
  }

  async text(): Promise<string> {
    return decoded(await this.bytes());
  }

  async bytes(): Promise<Buffer> {
    const bytes = await this.#disk.readFile(this.#path);
    const problem = documentProblem(bytes, this.entry);
    if (problem !== undefined) throw damageError(this.#path, problem);
    return bytes.subarray(bytes.indexOf(lineFeed) + 1, this.#end);
  }

  /** Offset of the last line. */
  get #end(): number {
    return this.entry.size - lastLine(this.entry.lines).length;
  }

  /** Chunks consist of whole lines, unless a line is longer than a read. */
  async *chunks(
    comesBefore?: (head: Buffer) => boolean,
    maxBytes = chunkBytes,
  ): AsyncGenerator<Buffer> {
    const file = await this.#disk.open(this.#path, 'read');
    try {
      // Start with a small read: a report by campaign often needs no more.
      const end = this.#end;
      const read = async (position: number, length: number) =>
        wholeLines(await readAt(file, position, Math.min(length, end - position)));
      const head = await read(0, sliceBytes);
      const first = head.subarray(head.indexOf(lineFeed) + 1);
      let position = head.length;
      if (comesBefore?.(finalLine(first))) position = await seekLine(file, end, comesBefore);
      else yield first;
      for (let bytes = 2 * sliceBytes; ; bytes = Math.min(2 * bytes, maxBytes)) {
        const chunk = await read(position, Math.min(bytes, maxBytes));
        if (chunk.length === 0) return;
        position += chunk.length;
        yield chunk;
      }
    } finally {
      await file.close();
    }
  }
}

const firstLine = (seq: number) => documentLine(`${seq}`, '[');
const lastLine = (lines: number) => documentLine(`{"lines":${lines}}]`);

async function writeLines(
  file: OpenFile,
  { seq, lines }: RenderedDocument,
): Promise<{ size: number; checksum: number; lines: number }> {
  let size = 0;
  let checksum = 0;
  let count = 0;
  let slice = firstLine(seq);
  const flush = async () => {
    const bytes = Buffer.from(slice);
    await writeFully(file, bytes);
    size += bytes.length;
    checksum = crc32(bytes, checksum);
    slice = '';
    await setImmediate();
  };
  for await (const line of lines) {
    slice += documentLine(line);
    count++;
    if (slice.length >= sliceBytes) await flush();
  }
  slice += lastLine(count);
  await flush();
  return { size, checksum, lines: count };
}

/** Drops an incomplete last line, which is read again with the next chunk. */
function wholeLines(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf(lineFeed) + 1;
  return end === 0 ? bytes : bytes.subarray(0, end);
}

function finalLine(bytes: Buffer): Buffer {
  return bytes.subarray(bytes.lastIndexOf(lineFeed, -2) + 1);
}

/** Decodes UTF-8. Most documents are ASCII, for which latin1 is a faster decoder. */
function decoded(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString('latin1') : bytes.toString();
}

/**
 * Writes a new version of a document: a temporary file, which is synced and renamed. The caller
 * syncs the folder.
 */
export async function writeDocument(
  disk: FileSystem,
  directory: string,
  file: string,
  rendered: RenderedDocument,
): Promise<DocumentEntry> {
  const { checksum, size, lines } = await replaceFile(disk, `${directory}/${file}`, (handle) =>
    writeLines(handle, rendered),
  );
  return { file, size, crc: checksumText(checksum), seq: rendered.seq, lines };
}

/** Returns the problem with the contents of a document's file, if any. */
function documentProblem(bytes: Buffer, { size, crc }: DocumentEntry): string | undefined {
  if (bytes.length !== size) return `it has ${bytes.length} bytes where the manifest says ${size}`;
  return hexChecksum(bytes) === crc ? undefined : 'its contents were changed or damaged';
}

/** Yields the lines of a document, and holds little of it in memory. */
export async function* linesIn(document: WrittenDocument): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of document.chunks(undefined, sliceBytes)) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = bytes.lastIndexOf(lineFeed) + 1;
    yield* textLines(bytes.toString('utf8', 0, end));
    rest = Buffer.from(bytes.subarray(end));
  }
  yield* textLines(rest.toString());
}

/**
 * Yields the lines of a document's text without their checksums, and builds no array of 100,000
 * lines.
 */
export function* textLines(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    const stop = end < 0 ? text.length : end;
    yield text.slice(start + checksumLength, stop);
    start = stop + 1;
  }
}
