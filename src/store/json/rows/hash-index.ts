const firstSlots = 16;
/** A slot is two numbers: the sum of a key, and one more than the place of its value; 0 was never used, -1 is not used any more. */
const perSlot = 2;
const gone = -1;

/** Of an id (in version 7 of UUIDs, 48 of its random bits), and of a hash. */
export const endOfId = 12;

/**
 * A map of values that can tell what their key is, and so need not be kept with it. With 100,000 entries it takes half the memory of a `Map`, and a quarter of
 * the time to fill; a start fills ten. Found are places by a sum of the key, and there the value is asked.
 */
export class HashIndex<V> {
  readonly #isOf: (value: V, key: string) => boolean;
  readonly #mostSummed: number;
  #slots = new Int32Array(firstSlots * perSlot);
  /** How many slots are, or were, in use. */
  #used = 0;
  readonly #values: (V | undefined)[] = [];
  readonly #free: number[] = [];

  /**
   * `isOf` tells whether a value, as it is when that is asked, belongs to a key. The last `mostSummed` characters of keys must tell nearly all apart: of ids and hashes
   * those at the end do, and to read more of them costs more than all else there is to a look-up.
   */
  constructor(isOf: (value: V, key: string) => boolean, mostSummed: number) {
    this.#isOf = isOf;
    this.#mostSummed = mostSummed;
  }

  /** As in a `Map`, nothing belongs to what is no text. */
  get(key: string | undefined): V | undefined {
    if (key === undefined) return undefined;
    const at = this.#find(key, this.#sumOf(key));
    return at < 0 ? undefined : this.#values[this.#placeAt(at)];
  }

  set(key: string, value: V): void {
    const sum = this.#sumOf(key);
    const at = this.#find(key, sum);
    if (at >= 0) this.#values[this.#placeAt(at)] = value;
    else {
      const place = this.#free.pop() ?? this.#values.length;
      this.#values[place] = value;
      if (++this.#used * perSlot * 3 > this.#slots.length * 2) this.#makeRoom();
      put(this.#slots, sum, place);
    }
  }

  delete(key: string): void {
    const at = this.#find(key, this.#sumOf(key));
    if (at < 0) return;
    const place = this.#placeAt(at);
    this.#slots[at + 1] = gone;
    this.#values[place] = undefined;
    this.#free.push(place);
  }

  /** All values, also of those that come or go meanwhile. */
  *values(): Generator<V> {
    for (const value of this.#values) if (value !== undefined) yield value;
  }

  /** FNV-1a, with what is in its upper bits brought down. */
  #sumOf(key: string): number {
    let sum = 0x811c9dc5;
    for (let at = Math.max(0, key.length - this.#mostSummed); at < key.length; at++)
      sum = Math.imul(sum ^ key.charCodeAt(at), 0x01000193);
    return sum ^ (sum >>> 15);
  }

  #placeAt(at: number): number {
    return (this.#slots[at + 1] as number) - 1;
  }

  /** Where the slot of a key is; -1 when there is none. */
  #find(key: string, sum: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let at = (sum << 1) & mask; slots[at + 1] !== 0; at = (at + perSlot) & mask) {
      if (slots[at] !== sum || slots[at + 1] === gone) continue;
      if (this.#isOf(this.#values[this.#placeAt(at)] as V, key)) return at;
    }
    return -1;
  }

  /** Leaves out what is gone, and more than half of it free. */
  #makeRoom(): void {
    const before = this.#slots;
    const inUse = this.#values.length - this.#free.length;
    let slots = firstSlots;
    while (slots < 2 * inUse) slots *= 2;
    this.#slots = new Int32Array(slots * perSlot);
    this.#used = inUse;
    for (let at = 0; at < before.length; at += perSlot) {
      const place = (before[at + 1] as number) - 1;
      if (place >= 0) put(this.#slots, before[at] as number, place);
    }
  }
}

function put(slots: Int32Array, sum: number, place: number): void {
  const mask = slots.length - 1;
  let at = (sum << 1) & mask;
  while (slots[at + 1] !== 0) at = (at + perSlot) & mask;
  slots[at] = sum;
  slots[at + 1] = place + 1;
}
