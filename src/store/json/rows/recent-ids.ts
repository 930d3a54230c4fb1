import { hashOf } from './lazy-lines.ts';

const slots = 32_768;

/**
 * Approximate set of recently used ids: a direct-mapped table of hashes. A new id evicts the
 * previous one of its slot.
 */
export class RecentIds {
  readonly #hashes = new Int32Array(slots);

  /** Adds an id. Returns whether it was present already. */
  checkAndAdd(id: string): boolean {
    const hash = hashOf(id);
    const slot = hash & (slots - 1);
    if (this.#hashes[slot] === hash) return true;
    this.#hashes[slot] = hash;
    return false;
  }
}
