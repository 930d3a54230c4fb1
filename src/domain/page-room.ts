/**
 * Maximum size of a page of a list, in bytes of JSON. A single record may be larger
 * (docs/protocol.md §1.6).
 */
export const maxPageBytes = 1024 * 1024;

/** Limits the size of a page. The first record always fits. */
export class PageRoom {
  #bytes = 0;

  /**
   * Reserves space for a record. Returns `false` if the record does not fit, and so belongs to the
   * next page.
   */
  take(bytes: number): boolean {
    if (this.#bytes > 0 && this.#bytes + bytes > maxPageBytes) return false;
    this.#bytes += bytes;
    return true;
  }
}

/** Returns the size of a value in bytes of JSON in UTF-8. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
