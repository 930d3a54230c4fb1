import { crc32 } from 'node:zlib';
import type { FileSystem } from '../disk/file-system.ts';
import { linesForward, readAt } from './line-reader.ts';

/**
 * A record is one line of JSON that starts with its checksum: `{"crc":"1a2b3c4d",`, then the body,
 * which ends in `}` and a line feed. The CRC-32 covers the body without the line feed. `jq` can
 * read every log, and the checksums detect damage.
 */
const opening = '{"crc":"';
const headLength = opening.length + 10;

function head(sum: number): string {
  return `${opening}${sum.toString(16).padStart(8, '0')}",`;
}

const lineEnd = Buffer.of(0x0a);

/**
 * Frames a record whose body is given in parts, such as `"seq":1,"ops":[` … `]}`. Parts are text
 * or bytes without line feeds. Returns the pieces of the line.
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

/** A line found in a file. */
export interface FoundFrame {
  /** Start and length of the line in bytes, including its line feed, if it has one. */
  offset: number;
  length: number;
  /** The line without its line feed. */
  line: Buffer;
  /** Whether the line is a record with a valid checksum. */
  isValid: boolean;
  /** Whether the record is valid and ends in a line feed. */
  whole: boolean;
}

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
    const size = await file.size();
    let end = from;
    for await (const lines of linesForward(file, from, size)) {
      for (const { offset, bytes } of lines) {
        const length = bytes.length + 1;
        const isValid = isValidRecord(bytes);
        yield { offset, length, line: bytes, isValid, whole: isValid };
        end = offset + length;
      }
    }
    if (end >= size) return;
    const rest = await readAt(file, end, size - end);
    const isValid = isValidRecord(rest);
    yield { offset: end, length: rest.length, line: rest, isValid, whole: false };
  } finally {
    await file.close();
  }
}
