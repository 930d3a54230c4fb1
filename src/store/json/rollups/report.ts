import { count, type ImpressionCount, sumOfSeconds } from '../../../domain/events/batch-counts.ts';
import type { ReportRow } from '../../../domain/records/report.ts';
import { lowerBound } from '../rows/table-index.ts';
import type { RollupRun } from './runs.ts';

const quote = 0x22;
const comma = 0x2c;
const bracket = 0x5d;
const zero = 0x30;
const nine = 0x39;
/** A double represents integers of this many digits exactly. */
const maxExactDigits = 15;
/** Known keys to skip, when a document lacks them, before a binary search. */
const maxSkippedKeys = 3;

/**
 * Totals of a report, by key. Documents have sorted and mostly equal keys. The next known key is
 * compared byte by byte first, which creates no string. Keys out of order are merged in before the
 * next document.
 */
export class ReportTotals {
  #keys: string[] = [];
  #impressions: number[] = [];
  #seconds: number[] = [];
  #next = 0;
  readonly #unordered = new Map<string, ImpressionCount>();
  /** Read position in a line. */
  #at = 0;

  /** Call before each document: starts again at the first key. */
  rewind(): void {
    if (this.#unordered.size > 0)
      this.#mergeIn([...this.#unordered].sort(([one], [other]) => (one < other ? -1 : 1)));
    this.#unordered.clear();
    this.#next = 0;
  }

  add(key: string, cell: ImpressionCount): void {
    this.#addAt(this.#positionOf(key), key, cell.impressions, cell.seconds);
  }

  /**
   * Adds the lines of a run. After the common prefix, each has its key, impressions and seconds.
   */
  addRun({ bytes, start, end, opening }: RollupRun): void {
    for (this.#at = start; this.#at < end; ) {
      const keyAt = this.#at + opening;
      const position = this.#readKnown(bytes, keyAt);
      const key = position < 0 ? this.#readKey(bytes, keyAt) : '';
      const impressions = this.#readNumber(bytes, comma);
      const seconds = this.#readNumber(bytes, bracket);
      // Skips the line feed.
      this.#at++;
      this.#addAt(position < 0 ? this.#positionOf(key) : position, key, impressions, seconds);
    }
  }

  /** Returns the totals, sorted by key. */
  rows(): ReportRow[] {
    this.rewind();
    return this.#keys.map((key, position) => ({
      key,
      impressions: this.#impressions[position] as number,
      seconds: this.#seconds[position] as number,
    }));
  }

  #addAt(position: number, key: string, impressions: number, seconds: number): void {
    if (position < 0) {
      count(this.#unordered, key, { impressions, seconds });
      return;
    }
    this.#impressions[position] = (this.#impressions[position] as number) + impressions;
    this.#seconds[position] = sumOfSeconds(this.#seconds[position] as number, seconds);
  }

  /** Returns the position of a key, or -1 if it is out of order. */
  #positionOf(key: string): number {
    const keys = this.#keys;
    for (
      let position = this.#next;
      position < this.#next + maxSkippedKeys && position < keys.length;
      position++
    )
      if (keys[position] === key) return this.#advancePast(position);
    if (keys.length === 0 || (keys.at(-1) as string) < key) {
      this.#impressions.push(0);
      this.#seconds.push(0);
      return this.#advancePast(keys.push(key) - 1);
    }
    const position = lowerBound(keys, key);
    this.#next = position;
    return keys[position] === key ? this.#advancePast(position) : -1;
  }

  #advancePast(position: number): number {
    this.#next = position + 1;
    return position;
  }

  /**
   * Reads the next known key, with its quote, and returns its position; -1 if another key follows.
   */
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
    let at = start;
    let value = 0;
    for (let byte = bytes[at] as number; byte >= zero && byte <= nine; byte = bytes[++at] as number)
      value = value * 10 + byte - zero;
    if (bytes[at] !== end || at - start > maxExactDigits || at === start) {
      at = bytes.indexOf(end, start);
      value = JSON.parse(bytes.toString('latin1', start, at));
    }
    this.#at = at + 1;
    return value;
  }

  #mergeIn(unordered: readonly [string, ImpressionCount][]): void {
    const before = { keys: this.#keys, impressions: this.#impressions, seconds: this.#seconds };
    this.#keys = [];
    this.#impressions = [];
    this.#seconds = [];
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
    for (const [key, { impressions, seconds }] of unordered) {
      while (at < before.keys.length && (before.keys[at] as string) < key) pushKnown();
      push(key, impressions, seconds);
    }
    while (at < before.keys.length) pushKnown();
  }
}
