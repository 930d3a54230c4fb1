/**
 * A bounded cache: keeps the last `max` entries, and up to `max` older ones. A `WeakMap` would grow
 * until the next full garbage collection. Each entry would slow that collection down, and each
 * resize would block.
 */
export class BoundedMap<K, V> {
  readonly #max: number;
  #young = new Map<K, V>();
  #old = new Map<K, V>();

  constructor(max: number) {
    this.#max = max;
  }

  get(key: K): V | undefined {
    const value = this.#young.get(key);
    if (value !== undefined) return value;
    const older = this.#old.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: K, value: V): void {
    if (this.#young.size >= this.#max) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  delete(key: K): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }
}
