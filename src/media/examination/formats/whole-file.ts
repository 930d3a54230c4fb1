import type { ByteSource } from './byte-source.ts';

/** A picture is read in pieces, so that nothing is read behind the place that refuses it. */
const pieceBytes = 512 * 1024;
/** What lies behind it is not judged. The pixels of a TV have at most 32 MiB. */
const maxBytes = 32 * 1024 * 1024;
/** Codes of so many bytes are counted in a few milliseconds, even if the file has an end. */
export const quickBytes = 1024 * 1024;

/** A file that is read from its beginning, as far as it is needed. */
export class WholeFile {
  /** The bytes read so far, then zeros. */
  readonly bytes: Buffer;
  /** Number of bytes read so far. */
  loaded = 0;
  readonly #source: ByteSource;

  constructor(source: ByteSource) {
    this.#source = source;
    this.bytes = Buffer.alloc(Math.min(source.size, maxBytes));
  }

  /** Size of the file in bytes. */
  get size(): number {
    return this.#source.size;
  }

  /** Whether the file has more bytes than are judged. */
  get isLonger(): boolean {
    return this.size > maxBytes;
  }

  /** Reads up to `end`. Returns whether the file has so many bytes, of those that are judged. */
  async has(end: number): Promise<boolean> {
    while (this.loaded < Math.min(end, this.bytes.length)) {
      const to = Math.min(this.loaded + pieceBytes, this.bytes.length);
      this.bytes.set(await this.#source.read(this.loaded, to), this.loaded);
      this.loaded = to;
    }
    return end <= this.bytes.length;
  }

  /** Returns the last bytes of the file. */
  last(count: number): Promise<Uint8Array> {
    return this.#source.read(Math.max(0, this.size - count), this.size);
  }

  readAll(): Promise<boolean> {
    return this.has(this.bytes.length);
  }
}
