import type { OpenFile } from '../disk/file-system.ts';

/** A line of a file, without its line feed. */
export interface Line {
  /** Offset of its first byte. */
  offset: number;
  bytes: Buffer;
}

const lineFeed = 0x0a;
/**
 * Size of the first read in bytes. It is small, because most pages are short. Each next read is
 * twice as large, up to `largestChunk`.
 */
const firstChunk = 1 << 16;
const largestChunk = 1 << 20;
/** Size in bytes below which a search scans instead of bisecting. */
const searchedBytes = 1 << 14;
/** Number of bytes that are enough for the head of any line. */
const headBytes = 512;

/** Reads `length` bytes at `position`, or fewer at the end of the file. */
export async function readAt(file: OpenFile, position: number, length: number): Promise<Buffer> {
  const into = Buffer.allocUnsafe(Math.max(0, length));
  let done = 0;
  while (done < into.length) {
    const got = await file.read(into.subarray(done), position + done);
    if (got === 0) break;
    done += got;
  }
  return into.subarray(0, done);
}

/**
 * Yields the lines that start at `from` or later, up to `end`, in groups. Both `from` and `end`
 * must be the start of a line or the end of the file. Skips a last line that has no line feed.
 */
export async function* linesForward(
  file: OpenFile,
  from: number,
  end: number,
): AsyncGenerator<Line[]> {
  let rest: Buffer = Buffer.alloc(0);
  let offset = from;
  let size = firstChunk;
  for (let position = from; position < end; size = Math.min(2 * size, largestChunk)) {
    const chunk = await readAt(file, position, Math.min(size, end - position));
    if (chunk.length === 0) break;
    position += chunk.length;
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const lines: Line[] = [];
    let start = 0;
    for (let stop = rest.indexOf(lineFeed); stop >= 0; stop = rest.indexOf(lineFeed, start)) {
      lines.push({ offset: offset + start, bytes: rest.subarray(start, stop) });
      start = stop + 1;
    }
    rest = rest.subarray(start);
    offset += start;
    if (lines.length > 0) yield lines;
  }
}

/** Yields the same lines as `linesForward`, but the last line first. */
export async function* linesBackward(
  file: OpenFile,
  from: number,
  end: number,
): AsyncGenerator<Line[]> {
  // Skip the line feed that ends the last line. Each other line feed precedes a line.
  let rest: Buffer = Buffer.alloc(0);
  let size = firstChunk;
  for (
    let position = Math.max(from, end - 1);
    position > from;
    size = Math.min(2 * size, largestChunk)
  ) {
    const length = Math.min(size, position - from);
    position -= length;
    const chunk = await readAt(file, position, length);
    rest = rest.length === 0 ? chunk : Buffer.concat([chunk, rest]);
    const lines: Line[] = [];
    for (
      let before = rest.lastIndexOf(lineFeed);
      before >= 0;
      before = rest.lastIndexOf(lineFeed)
    ) {
      lines.push({ offset: position + before + 1, bytes: rest.subarray(before + 1) });
      rest = rest.subarray(0, before);
    }
    if (position === from) lines.push({ offset: from, bytes: rest });
    if (lines.length > 0) yield lines;
  }
}

/**
 * Returns the start of the first line at or after `position`, or `end` if no line starts before
 * `end`.
 */
async function nextLine(file: OpenFile, position: number, end: number): Promise<number> {
  for (let at = position - 1; at < end; ) {
    const bytes = await readAt(file, at, Math.min(searchedBytes, end - at));
    if (bytes.length === 0) break;
    const found = bytes.indexOf(lineFeed);
    if (found >= 0) return at + found + 1;
    at += bytes.length;
  }
  return end;
}

/**
 * Finds the start of the first line for which `before` is false, by binary search. Returns `end` if
 * `before` is true for all lines. `before` gets the head of a line. It must be true up to some
 * line, and false for all later lines.
 */
export async function seekLine(
  file: OpenFile,
  end: number,
  before: (head: Buffer, offset: number) => boolean,
): Promise<number> {
  let low = 0;
  let high = end;
  let found = end;
  while (high - low > searchedBytes) {
    const middle = Math.floor((low + high) / 2);
    const start = await nextLine(file, middle, high);
    if (start >= high) high = middle;
    else if (before(await readAt(file, start, Math.min(headBytes, end - start)), start))
      low = start;
    else {
      high = start;
      found = start;
    }
  }
  for await (const lines of linesForward(file, low, found)) {
    for (const line of lines) if (!before(line.bytes, line.offset)) return line.offset;
  }
  return found;
}
