import { checksumLength } from './document-line.ts';

const lineFeed = 0x0a;

/**
 * The lines of a loaded document, found by the quoted id that follows the opening. Lines stay bytes
 * outside the heap, and are indexed at the first look-up, because a start loads hundreds of
 * thousands.
 */
export class LoadedLines {
  #bytes: Buffer;
  readonly #opening: string;
  #starts: Map<string, number> | undefined;

  /** @param opening the text before the id. Lines that start otherwise are ignored. */
  constructor(bytes: Buffer, opening: string) {
    this.#bytes = bytes;
    this.#opening = opening;
  }

  /** Returns a line without its checksum. */
  get(id: string): string | undefined {
    const start = this.#index().get(id);
    return start === undefined ? undefined : this.#textAt(start);
  }

  /** Deletes a line. Returns whether it existed. */
  delete(id: string): boolean {
    const existed = this.#index().delete(id);
    this.#freeIfEmpty();
    return existed;
  }

  ids(): IterableIterator<string> {
    return this.#index().keys();
  }

  /** Returns the lines as they are now. */
  snapshot(): LoadedLines {
    const copy = new LoadedLines(this.#bytes, this.#opening);
    copy.#starts = this.#starts && new Map(this.#starts);
    return copy;
  }

  *texts(): Generator<string> {
    for (const start of this.#index().values()) yield this.#textAt(start);
  }

  #textAt(start: number): string {
    const end = this.#bytes.indexOf(lineFeed, start);
    return this.#bytes.toString('utf8', start, end < 0 ? this.#bytes.length : end);
  }

  #index(): Map<string, number> {
    if (this.#starts) return this.#starts;
    this.#starts = new Map();
    for (let start = 0; start < this.#bytes.length; ) {
      const textStart = start + checksumLength;
      const id = this.#idAt(textStart);
      if (id !== undefined) this.#starts.set(id, textStart);
      const end = this.#bytes.indexOf(lineFeed, start);
      start = end < 0 ? this.#bytes.length : end + 1;
    }
    this.#freeIfEmpty();
    return this.#starts;
  }

  #idAt(textStart: number): string | undefined {
    const start = textStart + this.#opening.length;
    if (this.#bytes.toString('latin1', textStart, start) !== this.#opening) return undefined;
    return this.#bytes.toString('utf8', start, this.#bytes.indexOf('"', start));
  }

  #freeIfEmpty(): void {
    if (this.#starts?.size === 0) this.#bytes = Buffer.alloc(0);
  }
}
