import { type Cell, count, sumOfSeconds } from '../../../domain/events/batch-counts.ts';
import type { ReportRow } from '../../../domain/records/report.ts';
import { lowerBound } from '../rows/table-index.ts';
import type { RollupRun } from './runs.ts';

const quote = 0x22;
const comma = 0x2c;
const bracket = 0x5d;
const zero = 0x30;
const nine = 0x39;
/** So many digits are exact. */
const mostDigits = 15;
/** So many keys that a document lacks are stepped over; for more, the place is looked up. */
const steps = 3;

/**
 * What a report adds up, by key. Documents have their keys in order, mostly the same ones: of each it is looked first whether it is the next of those that are
 * known, byte by byte, for which no string needs to be made. What comes out of order is put in order before the next document.
 */
export class ReportTotals {
  #keys: string[] = [];
  #impressions: number[] = [];
  #seconds: number[] = [];
  #next = 0;
  readonly #strays = new Map<string, Cell>();
  /** How far a line is read. */
  #at = 0;

  /** Another document follows, from its first key on. */
  rewind(): void {
    if (this.#strays.size > 0)
      this.#takeIn([...this.#strays].sort(([one], [other]) => (one < other ? -1 : 1)));
    this.#strays.clear();
    this.#next = 0;
  }

  add(key: string, cell: Cell): void {
    this.#addAt(this.#placeOf(key), key, cell.impressions, cell.seconds);
  }

  /** Adds the lines of a document, each its key behind what all begin with, then impressions and seconds. */
  addRun({ bytes, start, end, opening }: RollupRun): void {
    for (this.#at = start; this.#at < end; ) {
      const keyAt = this.#at + opening;
      const place = this.#readKnown(bytes, keyAt);
      const key = place < 0 ? this.#readKey(bytes, keyAt) : '';
      const impressions = this.#readNumber(bytes, comma);
      const seconds = this.#readNumber(bytes, bracket);
      // The line feed.
      this.#at++;
      this.#addAt(place < 0 ? this.#placeOf(key) : place, key, impressions, seconds);
    }
  }

  /** Sorted by key. */
  rows(): ReportRow[] {
    this.rewind();
    return this.#keys.map((key, place) => ({
      key,
      impressions: this.#impressions[place] as number,
      seconds: this.#seconds[place] as number,
    }));
  }

  #addAt(place: number, key: string, impressions: number, seconds: number): void {
    if (place < 0) {
      count(this.#strays, key, { impressions, seconds });
      return;
    }
    this.#impressions[place] = (this.#impressions[place] as number) + impressions;
    this.#seconds[place] = sumOfSeconds(this.#seconds[place] as number, seconds);
  }

  /** The place of a key, if it is in order; else -1. */
  #placeOf(key: string): number {
    const keys = this.#keys;
    for (let place = this.#next; place < this.#next + steps && place < keys.length; place++)
      if (keys[place] === key) return this.#stepPast(place);
    if (keys.length === 0 || (keys.at(-1) as string) < key) {
      this.#impressions.push(0);
      this.#seconds.push(0);
      return this.#stepPast(keys.push(key) - 1);
    }
    const place = lowerBound(keys, key);
    this.#next = place;
    return keys[place] === key ? this.#stepPast(place) : -1;
  }

  #stepPast(place: number): number {
    this.#next = place + 1;
    return place;
  }

  /** The next key, if that is what stands there, with its quote; else -1. */
  #readKnown(bytes: Buffer, start: number): number {
    const key = this.#keys[this.#next];
    if (key === undefined) return -1;
    let at = start;
    for (let n = 0; n < key.length; n++, at++) if (bytes[at] !== key.charCodeAt(n)) return -1;
    if (bytes[at] !== quote) return -1;
    this.#at = at + '",'.length;
    return this.#next++;
  }

  #readKey(bytes: Buffer, start: number): string {
    const end = bytes.indexOf(quote, start);
    this.#at = end + '",'.length;
    return bytes.toString('latin1', start, end);
  }

  #readNumber(bytes: Buffer, end: number): number {
    const start = this.#at;
    let [at, value] = [start, 0];
    for (let byte = bytes[at] as number; byte >= zero && byte <= nine; byte = bytes[++at] as number)
      value = value * 10 + byte - zero;
    if (bytes[at] !== end || at - start > mostDigits || at === start) {
      at = bytes.indexOf(end, start);
      value = JSON.parse(bytes.toString('latin1', start, at));
    }
    this.#at = at + 1;
    return value;
  }

  #takeIn(strays: readonly [string, Cell][]): void {
    const before = { keys: this.#keys, impressions: this.#impressions, seconds: this.#seconds };
    [this.#keys, this.#impressions, this.#seconds] = [[], [], []];
    let at = 0;
    const push = (key: string, impressions: number, seconds: number) => {
      this.#keys.push(key);
      this.#impressions.push(impressions);
      this.#seconds.push(seconds);
    };
    const pushKnown = () =>
      push(
        before.keys[at] as string,
        before.impressions[at] as number,
        before.seconds[at++] as number,
      );
    for (const [key, { impressions, seconds }] of strays) {
      while (at < before.keys.length && (before.keys[at] as string) < key) pushKnown();
      push(key, impressions, seconds);
    }
    while (at < before.keys.length) pushKnown();
  }
}
