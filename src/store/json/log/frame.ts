import { crc32 } from 'node:zlib';
import type { FileSystem } from '../disk/file-system.ts';

/**
 * A record is one line of JSON that starts with its checksum: `{"crc":"1a2b3c4d",`, then the body,
 * which ends in `}` and a line feed. The CRC-32 covers the body without the line feed. `jq` can
 * read every log, and damage is detected.
 */
const opening = '{"crc":"';
const headLength = opening.length + 10;
const lineFeed = 0x0a;

function head(sum: number): string {
  return `${opening}${sum.toString(16).padStart(8, '0')}",`;
}

const lineEnd = Buffer.of(lineFeed);

/**
 * Frames a record whose body is given in parts, such as `"seq":1,"ops":[` … `]}`. Parts are text or
 * bytes without line feeds. Returns the pieces of the line.
 */
export function framePieces(...parts: (string | Uint8Array)[]): Uint8Array[] {
  const bytes = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
  const sum = bytes.reduce((crc, part) => crc32(part, crc), 0);
  return [Buffer.from(head(sum)), ...bytes, lineEnd];
}

/** Frames a record and returns it as one buffer. */
export function frame(...parts: (string | Uint8Array)[]): Buffer {
  return Buffer.concat(framePieces(...parts));
}

/** Whether a line, without its line feed, is a complete record with a valid checksum. */
export function isValidRecord(line: Uint8Array): boolean {
  if (line.length <= headLength || line.at(-1) !== 0x7d) return false;
  return (
    Buffer.from(line.subarray(0, headLength)).toString('latin1') ===
    head(crc32(line.subarray(headLength)))
  );
}

/** One record found in a file. */
export interface FoundFrame {
  /** Start and length of the line in bytes, including the line feed. */
  offset: number;
  length: number;
  /** The line without its line feed. Valid until the next record is read. */
  line: Buffer;
  /** The record is valid and ends in a line feed. */
  whole: boolean;
}

const chunkBytes = 1 << 18;

/**
 * Yields all lines of a file from an offset, damaged ones included. A last line without a line feed
 * is yielded with `whole: false`.
 */
export async function* readFrames(
  disk: FileSystem,
  path: string,
  from = 0,
): AsyncGenerator<FoundFrame> {
  const file = await disk.open(path, 'read');
  try {
    let rest: Buffer = Buffer.alloc(0);
    let offset = from;
    for (let position = from; ; ) {
      const chunk = Buffer.allocUnsafe(chunkBytes);
      const got = await file.read(chunk, position);
      if (got === 0) break;
      position += got;
      rest =
        rest.length === 0 ? chunk.subarray(0, got) : Buffer.concat([rest, chunk.subarray(0, got)]);
      let start = 0;
      for (let end = rest.indexOf(lineFeed); end >= 0; end = rest.indexOf(lineFeed, start)) {
        const line = rest.subarray(start, end);
        yield { offset, length: line.length + 1, line, whole: isValidRecord(line) };
        offset += line.length + 1;
        start = end + 1;
      }
      rest = rest.subarray(start);
    }
    if (rest.length > 0) yield { offset, length: rest.length, line: rest, whole: false };
  } finally {
    await file.close();
  }
}
