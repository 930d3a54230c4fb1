/**
 * Number of slots, which use 1 MiB. With 20,000 credentials in use, about one in 25 shares its slot
 * with another.
 */
const slots = 2 ** 18;

/**
 * A fixed-size cache of hashes of recently verified credentials. A hash evicts another one in the
 * same slot. The cache only affects priority, never authentication. Missing entries and false hits
 * (one in 2³²) are therefore harmless.
 */
export class KnownHashes {
  readonly #tags = new Uint32Array(slots);

  /** `hash` is in hex, with at least 64 bits. */
  has(hash: string): boolean {
    return this.#tags[slotOf(hash)] === tagOf(hash);
  }

  add(hash: string): void {
    this.#tags[slotOf(hash)] = tagOf(hash);
  }

  delete(hash: string): void {
    if (this.has(hash)) this.#tags[slotOf(hash)] = 0;
  }
}

const slotOf = (hash: string) => Number.parseInt(hash.slice(0, 8), 16) % slots;
/** 0 marks an empty slot. */
const tagOf = (hash: string) => Number.parseInt(hash.slice(8, 16), 16) || 1;
