import { hash } from 'node:crypto';

const hashBytes = 6;
const initialCapacity = 16;
const emptyHashes = new Float64Array(0);

/** Sorts the members of all objects, because stores may reorder them. */
function sortMembers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortMembers);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return members.map(([name, inner]) => [name, sortMembers(inner)]);
}

/**
 * Returns a 48-bit hash of an event's content. Collisions among the thousands of events of
 * one TV are negligible.
 */
export function contentHash(event: object): number {
  return hash('sha256', JSON.stringify(sortMembers(event)), 'buffer').readUIntBE(0, hashBytes);
}

/** A compact list of hashes: a run compares millions of events. */
export class HashList {
  #hashes = emptyHashes;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(hashValue: number): void {
    if (this.#length === this.#hashes.length) {
      const larger = new Float64Array(Math.max(initialCapacity, this.#length * 2));
      larger.set(this.#hashes);
      this.#hashes = larger;
    }
    this.#hashes[this.#length++] = hashValue;
  }

  addAll(hashes: readonly number[]): void {
    for (const hashValue of hashes) this.add(hashValue);
  }

  values(): Iterable<number> {
    return this.#hashes.subarray(0, this.#length);
  }
}
