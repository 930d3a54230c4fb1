import { SeededRandom } from '../../../src/simulator/seeded-random.ts';

/** Reproducible choices. */
export class FuzzRandom {
  readonly #chance: SeededRandom;

  constructor(seed: string) {
    this.#chance = new SeededRandom(seed);
  }

  /** Returns `true` with this probability. */
  happens(probability: number): boolean {
    return this.#chance.happens(probability);
  }

  /** Returns an integer, both ends included. */
  whole(least: number, most: number): number {
    return Math.floor(this.#chance.between(least, most + 1));
  }

  one<T>(of: readonly T[]): T {
    if (of.length === 0) throw new Error('There is nothing to choose from.');
    return of[this.whole(0, of.length - 1)] as T;
  }

  text(alphabet: string, least: number, most: number): string {
    return Array.from(
      { length: this.whole(least, most) },
      () => alphabet[this.whole(0, alphabet.length - 1)],
    ).join('');
  }

  bytes(length: number): Buffer {
    return Buffer.from(this.#chance.bytes(length));
  }
}
