/**
 * Maximum size of a page of a list, in bytes of JSON. A single record may be larger
 * (docs/protocol.md §1.6).
 */
export const maxPageBytes = 1024 * 1024;

/** Items of a page, limited in number and size. The first item always fits. */
export class PageItems<T> {
  readonly items: T[] = [];
  readonly #limit: number;
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds an item. Returns `false` if it does not fit, and so belongs to the next page. */
  add(item: T, bytes: number): boolean {
    if (this.items.length === this.#limit) return false;
    if (this.items.length > 0 && this.#bytes + bytes > maxPageBytes) return false;
    this.#bytes += bytes;
    this.items.push(item);
    return true;
  }
}

/** Returns the size of a value in bytes of JSON in UTF-8. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
