import { hash } from 'node:crypto';

const hashBytes = 6;
const firstCapacity = 16;
const nothing = new Float64Array(0);

/** A value with its members in one order, for stores may change it. */
function ordered(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(ordered);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return members.map(([name, inner]) => [name, ordered(inner)]);
}

/** What stands for an event's content: 48 bits, in which no two of the thousands of events of one TV will meet. */
export function contentHash(event: object): number {
  return hash('sha256', JSON.stringify(ordered(event)), 'buffer').readUIntBE(0, hashBytes);
}

/** Many hashes in little room: millions of events are compared at the end of a run. */
export class HashList {
  #hashes = nothing;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(one: number): void {
    if (this.#length === this.#hashes.length) {
      const larger = new Float64Array(Math.max(firstCapacity, this.#length * 2));
      larger.set(this.#hashes);
      this.#hashes = larger;
    }
    this.#hashes[this.#length++] = one;
  }

  addAll(many: readonly number[]): void {
    for (const one of many) this.add(one);
  }

  values(): Iterable<number> {
    return this.#hashes.subarray(0, this.#length);
  }
}
