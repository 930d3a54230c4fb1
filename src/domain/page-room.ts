/** The most bytes of JSON in one page of a list; a single record may be larger (docs/protocol.md §1.6). */
export const maxPageBytes = 1024 * 1024;

/** Bounds a page in bytes. The first record always fits. */
export class PageRoom {
  #bytes = 0;

  /** Takes the room of a record; `false` when it does not fit, and the next page begins with it. */
  take(bytes: number): boolean {
    if (this.#bytes > 0 && this.#bytes + bytes > maxPageBytes) return false;
    this.#bytes += bytes;
    return true;
  }
}

/** Bytes of a value as JSON in UTF-8. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
