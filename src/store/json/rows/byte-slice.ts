const quote = 0x22;

/** JSON text of a document as it was loaded: some of its bytes, outside the heap, where no garbage collection looks at them. */
export class ByteSlice {
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #end: number;

  constructor(bytes: Buffer, start: number, end: number) {
    this.#bytes = bytes;
    this.#start = start;
    this.#end = end;
  }

  /** What stands in quotes right behind `opening`; `undefined` when the text does not begin so. */
  quotedAfter(opening: string): string | undefined {
    const start = this.#start + opening.length;
    if (this.#bytes.toString('latin1', this.#start, start) !== opening) return undefined;
    return this.#bytes.toString('utf8', start, this.#bytes.indexOf(quote, start));
  }

  toString(): string {
    return this.#bytes.toString('utf8', this.#start, this.#end);
  }
}
