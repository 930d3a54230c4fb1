import type { ByteSlice } from './byte-slice.ts';
import { deepFreeze } from './deep-freeze.ts';
import { LazyLines } from './lazy-lines.ts';
import { RecentIds } from './recent-ids.ts';
import type { Row } from './table-index.ts';

/** A row is a line that starts with its id. */
const lineOpening = '{"id":"';

/**
 * Rows that stay JSON text until they are changed. Rows that are read repeatedly are also cached
 * parsed, and frozen, because callers may cache what they derive from them. Other rows are parsed
 * on every read. Caching every row that a large fleet reads would take 130 MB without benefit: each
 * row is read again only after ten thousand others.
 */
export class LazyRows {
  readonly #documentOf: (id: string) => string;
  readonly #maxParsed: number;
  readonly #loaded = new Map<string, LazyLines>();
  readonly #changed = new Map<string, Row>();
  readonly #parsed = new Map<string, Row>();
  readonly #recent = new RecentIds();
  /** Ring buffer of cached ids: the next one evicts the oldest. */
  readonly #parsedIds: string[] = [];
  #next = 0;

  /**
   * @param documentOf returns the name of the document that holds a row
   * @param maxParsed maximum number of rows cached parsed. A row with a playlist of ten items takes
   * 3 KB. Default: 10,000.
   */
  constructor(documentOf: (id: string) => string, maxParsed = 10_000) {
    this.#documentOf = documentOf;
    this.#maxParsed = maxParsed;
  }

  /** Adds a loaded document, which has one row per line. */
  add(document: string, bytes: Buffer): LazyLines {
    const lines = new LazyLines(bytes, lineOpening);
    this.#loaded.set(document, lines);
    return lines;
  }

  /** Returns `undefined` for an undefined id, as a `Map` does. */
  get(id: string | undefined): Row | undefined {
    if (id === undefined) return undefined;
    const known = this.#changed.get(id) ?? this.#parsed.get(id);
    if (known) return known;
    const text = this.#linesOf(id)?.find(id);
    if (!text) return undefined;
    const row: Row = JSON.parse(text.toString());
    return this.#recent.checkAndAdd(id) ? this.#cache(id, deepFreeze(row)) : row;
  }

  /** Returns the changed row, or the JSON text as loaded. */
  rawRow(id: string): Row | ByteSlice | undefined {
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

  /** Iterates over the ids of all rows. Rows may be added and deleted during the iteration. */
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

  #cache(id: string, row: Row): Row {
    const evicted = this.#parsedIds[this.#next];
    if (evicted !== undefined) this.#parsed.delete(evicted);
    this.#parsedIds[this.#next] = id;
    this.#next = (this.#next + 1) % this.#maxParsed;
    this.#parsed.set(id, row);
    return row;
  }
}
