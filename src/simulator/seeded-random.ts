import { hash } from 'node:crypto';

/**
 * Reproducible pseudo-random generator. Never use it for secrets. The algorithm is sfc32 of
 * PractRand, whose state is only four 32-bit words.
 *
 * @example new SeededRandom('7/tv 1').fraction() // the same in every run
 */
export class SeededRandom {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: string) {
    const words = hash('sha256', seed, 'buffer');
    this.#a = words.readInt32LE(0);
    this.#b = words.readInt32LE(4);
    this.#c = words.readInt32LE(8);
    for (let round = 0; round < 12; round++) this.#word();
  }

  /** Returns a number from 0 to just below 1. */
  fraction(): number {
    return this.#word() / 2 ** 32;
  }

  /** Returns a number from `least` to just below `most`. */
  between(least: number, most: number): number {
    return least + (most - least) * this.fraction();
  }

  /** Returns `true` with this probability, from 0 to 1. Always consumes one random value. */
  happens(probability: number): boolean {
    return this.fraction() < probability;
  }

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
