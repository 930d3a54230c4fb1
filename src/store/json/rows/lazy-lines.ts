import { ByteSlice } from './byte-slice.ts';

const comma = 0x2c;
const quote = 0x22;
const firstNotAscii = 0x80;
const lineFeed = 0x0a;
const nextLineFeed = Uint8Array.prototype.indexOf;
const fnvOffsetBasis = 0x811c9dc5;
const fnvPrime = 0x01000193;

/**
 * Index of the lines: the hash of each id, and the bounds of each line. The end of a deleted line
 * is 0.
 */
interface LineIndex {
  hashes: Int32Array;
  bounds: Uint32Array;
  left: number;
}

/**
 * The lines of a loaded document, found by their ids. They stay bytes and are not indexed until the
 * first look-up: a start loads hundreds of thousands. An object and a string per line would take
 * 150 bytes; this takes 12.
 */
export class LazyLines {
  #bytes: Buffer;
  readonly #opening: string;
  #builtIndex: LineIndex | undefined;

  /**
   * @param opening the text before the id. Lines that start otherwise are ignored, and so is a
   * trailing comma.
   */
  constructor(bytes: Buffer, opening: string) {
    this.#bytes = bytes;
    this.#opening = opening;
  }

  find(id: string): ByteSlice | undefined {
    return this.#lineAt(this.#positionOf(id));
  }

  /** Deletes a line. Returns whether it existed. */
  delete(id: string): boolean {
    const position = this.#positionOf(id);
    if (position < 0) return false;
    const index = this.#index;
    index.bounds[2 * position + 1] = 0;
    index.left--;
    this.#freeIfEmpty(index);
    return true;
  }

  /** Frees the bytes when no line is left. */
  #freeIfEmpty({ left }: LineIndex): void {
    if (left === 0) this.#bytes = Buffer.alloc(0);
  }

  *texts(): Generator<ByteSlice> {
    for (let position = 0; position < this.#index.hashes.length; position++) {
      const text = this.#lineAt(position);
      if (text) yield text;
    }
  }

  *ids(): Generator<string> {
    for (const text of this.texts()) yield text.quotedAfter(this.#opening) as string;
  }

  get #index(): LineIndex {
    if (this.#builtIndex === undefined) {
      this.#builtIndex = indexOf(this.#bytes, this.#opening);
      this.#freeIfEmpty(this.#builtIndex);
    }
    return this.#builtIndex;
  }

  #positionOf(id: string): number {
    const { hashes } = this.#index;
    const hash = hashOf(id);
    let position = hashes.indexOf(hash);
    while (position >= 0 && this.#lineAt(position)?.quotedAfter(this.#opening) !== id)
      position = hashes.indexOf(hash, position + 1);
    return position;
  }

  #lineAt(position: number): ByteSlice | undefined {
    const { bounds } = this.#index;
    const start = bounds[2 * position] ?? 0;
    const end = bounds[2 * position + 1] ?? 0;
    return end === 0 ? undefined : new ByteSlice(this.#bytes, start, end);
  }
}

/** FNV-1a. */
export function hashOf(id: string): number {
  let hash = fnvOffsetBasis;
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), fnvPrime);
  return hash | 0;
}

/** Hashes the quoted text that starts at byte `start`. */
function hashOfQuoted(bytes: Buffer, start: number): number {
  let hash = fnvOffsetBasis;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === quote) break;
    if (byte >= firstNotAscii)
      return hashOf(bytes.toString('utf8', start, bytes.indexOf(quote, start)));
    hash = Math.imul(hash ^ byte, fnvPrime);
  }
  return hash | 0;
}

/**
 * Indexes the lines without creating strings. The first request for a document waits for this, and
 * after a start many requests do.
 */
function indexOf(bytes: Buffer, opening: string): LineIndex {
  const hashes: number[] = [];
  const bounds: number[] = [];
  const head = Buffer.from(opening);
  for (let start = 0, end: number; start < bytes.length; start = end + 1) {
    end = nextLineFeed.call(bytes, lineFeed, start);
    if (end < 0) end = bytes.length;
    if (!beginsWith(bytes, start, head)) continue;
    hashes.push(hashOfQuoted(bytes, start + head.length));
    bounds.push(start, bytes[end - 1] === comma ? end - 1 : end);
  }
  return { hashes: Int32Array.from(hashes), bounds: Uint32Array.from(bounds), left: hashes.length };
}

function beginsWith(bytes: Buffer, start: number, head: Buffer): boolean {
  // Backwards, because openings differ at their ends.
  for (let at = head.length - 1; at >= 0; at--) if (bytes[start + at] !== head[at]) return false;
  return true;
}
