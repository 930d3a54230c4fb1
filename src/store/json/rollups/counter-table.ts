import { type ImpressionCount, sumOfSeconds } from '../../../domain/events/batch-counts.ts';

const initialCapacity = 8;
/** At most half of the slots are in use. */
const slotsPerCounter = 2;
const none = -1;

/**
 * Hash table of counters with the key (owner, key), both numbers. A busy minute of a large fleet
 * has hundreds of thousands of counters. In these typed arrays a counter takes 36 bytes, and the
 * garbage collector scans none of them. An object in a `Map` takes 100 bytes.
 */
export class CounterTable {
  #slots = new Int32Array(initialCapacity * slotsPerCounter).fill(none);
  #owners = new Int32Array(initialCapacity);
  #keys = new Int32Array(initialCapacity);
  #impressions = new Float64Array(initialCapacity);
  #seconds = new Float64Array(initialCapacity);
  /**
   * Per owner, a linked list of its counters: `#earlier` has each counter's predecessor, `#last`
   * each owner's last.
   */
  #earlier = new Int32Array(initialCapacity);
  readonly #last = new Map<number, number>();
  #size = 0;

  add(owner: number, key: number, { impressions, seconds }: ImpressionCount): void {
    const index = this.#findOrAdd(owner, key);
    this.#impressions[index] = (this.#impressions[index] as number) + impressions;
    this.#seconds[index] = sumOfSeconds(this.#seconds[index] as number, seconds);
  }

  /** Yields an owner's keys. */
  *keysOf(owner: number): Generator<number> {
    for (
      let index = this.#last.get(owner) ?? none;
      index !== none;
      index = this.#earlier[index] as number
    )
      yield this.#keys[index] as number;
  }

  /** Returns a counter, or zeros if there is none. */
  get(owner: number, key: number): ImpressionCount {
    const index = this.#slots[this.#slotOf(owner, key)] as number;
    if (index === none) return { impressions: 0, seconds: 0 };
    return {
      impressions: this.#impressions[index] as number,
      seconds: this.#seconds[index] as number,
    };
  }

  #findOrAdd(owner: number, key: number): number {
    const slot = this.#slotOf(owner, key);
    const known = this.#slots[slot] as number;
    if (known !== none) return known;
    const index = this.#size++;
    this.#slots[slot] = index;
    this.#owners[index] = owner;
    this.#keys[index] = key;
    this.#earlier[index] = this.#last.get(owner) ?? none;
    this.#last.set(owner, index);
    if (this.#size === this.#owners.length) this.#grow();
    return index;
  }

  /** Returns the slot of a counter, or the free slot for it. */
  #slotOf(owner: number, key: number): number {
    const mask = this.#slots.length - 1;
    const hash = Math.imul(Math.imul(owner, 0x9e3779b1) ^ key, 0x85ebca6b);
    for (let slot = (hash ^ (hash >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const index = this.#slots[slot] as number;
      if (index === none || (this.#keys[index] === key && this.#owners[index] === owner))
        return slot;
    }
  }

  #grow(): void {
    const capacity = 2 * this.#size;
    this.#owners = grown(this.#owners, new Int32Array(capacity));
    this.#keys = grown(this.#keys, new Int32Array(capacity));
    this.#earlier = grown(this.#earlier, new Int32Array(capacity));
    this.#impressions = grown(this.#impressions, new Float64Array(capacity));
    this.#seconds = grown(this.#seconds, new Float64Array(capacity));
    this.#slots = new Int32Array(capacity * slotsPerCounter).fill(none);
    for (let index = 0; index < this.#size; index++)
      this.#slots[this.#slotOf(this.#owners[index] as number, this.#keys[index] as number)] = index;
  }
}

function grown<A extends Int32Array | Float64Array>(before: A, after: A): A {
  after.set(before);
  return after;
}
