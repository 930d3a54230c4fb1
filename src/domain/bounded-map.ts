/**
 * What is known of objects that were asked for of late, bounded: of the last `most`, and of some before them. A `WeakMap` would grow with all that the garbage
 * collector has not yet come to, which of a large fleet is half of it: it is held up by each entry, and whoever adds the one for which the map must grow waits.
 */
export class BoundedMap<K extends object, V> {
  readonly #most: number;
  #young = new Map<K, V>();
  #old = new Map<K, V>();

  constructor(most: number) {
    this.#most = most;
  }

  get(key: K): V | undefined {
    const value = this.#young.get(key);
    if (value !== undefined) return value;
    const before = this.#old.get(key);
    if (before !== undefined) this.set(key, before);
    return before;
  }

  set(key: K, value: V): void {
    if (this.#young.size >= this.#most) [this.#old, this.#young] = [this.#young, new Map()];
    this.#young.set(key, value);
  }
}
