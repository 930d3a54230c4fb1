/**
 * A bounded cache with a young and an old generation, each of a total size of at most `max`. When
 * the young generation is full, it becomes the old one, whose entries are dropped. A `WeakMap`
 * would grow until the next full garbage collection. Each entry would slow that collection down,
 * and each resize would block. Evicting one entry at a time from a `Map` is slow too, because
 * finding its first entry skips all deleted ones.
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

/**
 * Tells repeated keys from new ones, as far as it remembers them: for a cache whose values enter at
 * their second use. A fleet that is larger than a cache would otherwise replace all of it again and
 * again. The garbage collector pays for that, and no request finds its value.
 */
export class RepeatedKeys<K> {
  readonly #recent: BoundedMap<K, true>;

  /** @param max number of keys that are remembered */
  constructor(max: number) {
    this.#recent = new BoundedMap(max);
  }

  /** Notes a use. Returns whether the key was used before. */
  note(key: K): boolean {
    if (this.#recent.get(key)) return true;
    this.#recent.set(key, true);
    return false;
  }
}
