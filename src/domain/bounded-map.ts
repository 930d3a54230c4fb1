const admissionProbability = 1 / 4;

/**
 * Bounded cache that approximates LRU eviction with a young and an old generation, each of a total
 * size of at most `max`. A read moves an old entry to the young generation. When the young
 * generation is full, it replaces the old generation, whose entries are evicted. A `WeakMap` would
 * grow until the next full garbage collection. Each entry would slow that collection down, and each
 * resize would block. Evicting one entry at a time from a `Map` is slow too, because finding its
 * first entry skips all deleted entries.
 */
export class BoundedMap<K, V> {
  readonly #max: number;
  readonly #sizeOf: (value: V) => number;
  #young = new Map<K, V>();
  #youngSize = 0;
  #old = new Map<K, V>();

  /** @param sizeOf size of an entry. Default: 1, so that `max` is a number of entries. */
  constructor(max: number, sizeOf: (value: V) => number = () => 1) {
    this.#max = max;
    this.#sizeOf = sizeOf;
  }

  get(key: K): V | undefined {
    const value = this.#young.get(key);
    if (value !== undefined) return value;
    const older = this.#old.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: K, value: V): void {
    const size = this.#sizeOf(value);
    this.#forgetYoung(key);
    if (this.#young.size > 0 && this.#youngSize + size > this.#max) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngSize = 0;
    }
    this.#young.set(key, value);
    this.#youngSize += size;
  }

  /**
   * Sets about one in four values, chosen at random (probabilistic admission). Returns whether this
   * value was set. Use it for keys that may outnumber the cache. Setting every value would replace
   * the whole cache again and again, and few reads would find their value.
   */
  offer(key: K, value: V): boolean {
    const isAdmitted = Math.random() < admissionProbability;
    if (isAdmitted) this.set(key, value);
    return isAdmitted;
  }

  delete(key: K): void {
    this.#forgetYoung(key);
    this.#old.delete(key);
  }

  #forgetYoung(key: K): void {
    const value = this.#young.get(key);
    if (value === undefined) return;
    this.#youngSize -= this.#sizeOf(value);
    this.#young.delete(key);
  }
}
