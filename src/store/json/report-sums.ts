import type { ReportRow } from '../../domain/report.ts';
import { type Cell, sumOf } from '../impression-tally.ts';

/**
 * What a report adds up, by key. Documents have their keys in order, mostly the same ones: of each key it is looked first whether it is the next of those that
 * are known, which is much quicker than to find it among 100,000.
 */
export class ReportSums {
  readonly #places = new Map<string, number>();
  readonly #keys: string[] = [];
  readonly #cells: Cell[] = [];
  #next = 0;

  /** Another document follows, from its first key on. */
  rewind(): void {
    this.#next = 0;
  }

  add(key: string, cell: Cell): void {
    while (this.#next < this.#keys.length && (this.#keys[this.#next] as string) < key) this.#next++;
    const place = this.#keys[this.#next] === key ? this.#next++ : this.#placeOf(key);
    this.#cells[place] = sumOf(this.#cells[place] as Cell, cell);
  }

  /** Sorted by key. */
  rows(): ReportRow[] {
    const sorted = [...this.#keys].sort();
    return sorted.map((key) => ({ key, ...(this.#cells[this.#places.get(key) as number] as Cell) }));
  }

  #placeOf(key: string): number {
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const place = this.#keys.push(key) - 1;
    this.#cells.push({ impressions: 0, seconds: 0 });
    this.#places.set(key, place);
    return place;
  }
}
