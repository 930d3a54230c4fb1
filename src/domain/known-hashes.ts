/** 1 MiB: of 20,000 credentials in use, about one in 25 shares its place with another. */
const places = 2 ** 18;

/**
 * Remembers hashes of credentials that worked, in fixed memory: two that share a place take it from each other. It decides nothing but who waits for whom, so
 * it may forget, or (once in 2³²) take one for another.
 */
export class KnownHashes {
  readonly #marks = new Uint32Array(places);

  /** `hash` is in hex, with 64 bits at least. */
  has(hash: string): boolean {
    return this.#marks[placeOf(hash)] === markOf(hash);
  }

  add(hash: string): void {
    this.#marks[placeOf(hash)] = markOf(hash);
  }

  delete(hash: string): void {
    if (this.has(hash)) this.#marks[placeOf(hash)] = 0;
  }
}

const placeOf = (hash: string) => Number.parseInt(hash.slice(0, 8), 16) % places;
/** 0 stands for none. */
const markOf = (hash: string) => Number.parseInt(hash.slice(8, 16), 16) || 1;
