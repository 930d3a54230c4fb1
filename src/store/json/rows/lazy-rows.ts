import type { ByteSlice } from './byte-slice.ts';
import { deepFreeze } from './deep-freeze.ts';
import { LazyLines } from './lazy-lines.ts';
import { SeenLately } from './seen-lately.ts';
import type { Row } from './table-index.ts';

/** A line that is a row puts its id first. */
const lineOpening = '{"id":"';

/**
 * Rows that stay the text they were loaded as until they are changed. Those that are read again and again are kept parsed, too, and frozen: others may keep
 * what they know of these. One that was not read lately is made anew for the one who reads it: to keep all that a large fleet reads would be of no use, for each
 * comes again when ten thousand others have been read, and takes 130 MB.
 */
export class LazyRows {
  readonly #documentOf: (id: string) => string;
  readonly #most: number;
  readonly #loaded = new Map<string, LazyLines>();
  readonly #changed = new Map<string, Row>();
  readonly #parsed = new Map<string, Row>();
  readonly #seen = new SeenLately();
  /** What was parsed, in a ring: the next one takes the place of the one that was parsed longest ago. */
  readonly #order: string[] = [];
  #next = 0;

  /**
   * @param documentOf tells by its id in which document a row was loaded
   * @param most rows that are kept parsed; one with a playlist of ten items takes 3 KB
   */
  constructor(documentOf: (id: string) => string, most = 10_000) {
    this.#documentOf = documentOf;
    this.#most = most;
  }

  /** A document has come, with a row on each line. */
  add(document: string, bytes: Buffer): LazyLines {
    const lines = new LazyLines(bytes, lineOpening);
    this.#loaded.set(document, lines);
    return lines;
  }

  /** As in a `Map`, nothing belongs to what is no text. */
  get(id: string | undefined): Row | undefined {
    if (id === undefined) return undefined;
    const known = this.#changed.get(id) ?? this.#parsed.get(id);
    if (known) return known;
    const text = this.#linesOf(id)?.find(id);
    if (!text) return undefined;
    const row: Row = JSON.parse(text.toString());
    return this.#seen.again(id) ? this.#keep(id, deepFreeze(row)) : row;
  }

  /** The row as it is held. */
  held(id: string): Row | ByteSlice | undefined {
    return this.#changed.get(id) ?? this.#linesOf(id)?.find(id);
  }

  set(id: string, row: Row): void {
    this.#forget(id);
    this.#changed.set(id, deepFreeze(row));
  }

  delete(id: string): void {
    this.#forget(id);
    this.#changed.delete(id);
  }

  /** Of all rows, also of those that come or go meanwhile. */
  *ids(): Generator<string> {
    for (const lines of this.#loaded.values()) yield* lines.ids();
    yield* this.#changed.keys();
  }

  #linesOf(id: string): LazyLines | undefined {
    return this.#loaded.get(this.#documentOf(id));
  }

  #forget(id: string): void {
    this.#parsed.delete(id);
    this.#linesOf(id)?.delete(id);
  }

  #keep(id: string, row: Row): Row {
    const last = this.#order[this.#next];
    if (last !== undefined) this.#parsed.delete(last);
    this.#order[this.#next] = id;
    this.#next = (this.#next + 1) % this.#most;
    this.#parsed.set(id, row);
    return row;
  }
}
