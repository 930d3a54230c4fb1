import { hash } from 'node:crypto';

/**
 * Chance that follows from its seed alone, so that a run can be repeated. Never for secrets. The generator is sfc32 of PractRand, whose state is
 * four words: there is one for each TV.
 *
 * @example new SeededChance('7/tv 1').fraction() // the same at each start
 */
export class SeededRandom {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: string) {
    const words = hash('sha256', seed, 'buffer');
    [this.#a, this.#b, this.#c] = [
      words.readInt32LE(0),
      words.readInt32LE(4),
      words.readInt32LE(8),
    ];
    for (let round = 0; round < 12; round++) this.#word();
  }

  /** From 0 to just below 1. */
  fraction(): number {
    return this.#word() / 2 ** 32;
  }

  /** From `least` to just below `most`. */
  between(least: number, most: number): number {
    return least + (most - least) * this.fraction();
  }

  /** Whether what has this probability, from 0 to 1, happens now. Takes the same from the sequence whatever it answers. */
  happens(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** As a source of bytes. */
  bytes(length: number): Uint8Array {
    const bytes = Buffer.alloc(Math.ceil(length / 4) * 4);
    for (let at = 0; at < length; at += 4) bytes.writeUInt32LE(this.#word(), at);
    return bytes.subarray(0, length);
  }

  #word(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
}
