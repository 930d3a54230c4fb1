import { sumOf } from './lazy-lines.ts';

const places = 32_768;

/** Which ids were asked for of late, more or less: some tens of thousands, each by a sum, in place of whichever had the place before. */
export class SeenLately {
  readonly #sums = new Int32Array(places);

  /** Notes an id, and answers whether it was there already. */
  again(id: string): boolean {
    const sum = sumOf(id);
    const place = sum & (places - 1);
    if (this.#sums[place] === sum) return true;
    this.#sums[place] = sum;
    return false;
  }
}
