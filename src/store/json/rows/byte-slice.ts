const quote = 0x22;

/**
 * JSON text of a loaded document, as a range of bytes outside the heap. The garbage collector does
 * not scan it.
 */
export class ByteSlice {
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #end: number;

  constructor(bytes: Buffer, start: number, end: number) {
    this.#bytes = bytes;
    this.#start = start;
    this.#end = end;
  }

  /**
   * Returns the quoted text right after `opening`, or `undefined` if the slice does not start with
   * `opening`.
   */
  quotedAfter(opening: string): string | undefined {
    const start = this.#start + opening.length;
    if (this.#bytes.toString('latin1', this.#start, start) !== opening) return undefined;
    return this.#bytes.toString('utf8', start, this.#bytes.indexOf(quote, start));
  }

  toString(): string {
    return this.#bytes.toString('utf8', this.#start, this.#end);
  }
}
