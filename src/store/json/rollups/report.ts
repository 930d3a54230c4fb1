import { addTo, type ImpressionCount } from '../../../domain/events/batch-counts.ts';
import type { ImpressionRow } from '../../../domain/records/report.ts';
import { checksumLength } from '../checkpoint/document-line.ts';
import type { WrittenDocument } from '../checkpoint/document-owner.ts';
import { yieldToEventLoop } from '../disk/yield.ts';

const lineFeed = 0x0a;
const quote = 0x22;
const comma = 0x2c;
const bracket = 0x5d;
const zero = 0x30;
const nine = 0x39;
/** A double represents integers of this many digits exactly. */
const maxExactDigits = 15;

/**
 * Consecutive whole lines of the same section and day. They share the bytes from their checksum to
 * `opening`.
 */
interface RollupRun {
  bytes: Buffer;
  start: number;
  end: number;
  opening: number;
  day: string;
}

/**
 * Yields the lines of some sections of one group, in order, and reads little beyond them. A report
 * by screen has a million lines, and creating a string for each takes most of a second. So a run is
 * a byte range of many lines. A run is valid until the next one is requested.
 */
export async function* sectionRuns(
  document: WrittenDocument,
  sections: readonly string[],
): AsyncGenerator<RollupRun> {
  const wanted = new Set(sections);
  const first = sections[0];
  const last = sections.at(-1);
  if (first === undefined || last === undefined) return;
  const comesBefore = (head: Buffer) =>
    head.toString('latin1', checksumLength, checksumLength + first.length) < first;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of document.chunks(comesBefore)) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = bytes.lastIndexOf(lineFeed) + 1;
    const isPast = yield* runsWithin(bytes.subarray(0, end), wanted, last);
    if (isPast) return;
    rest = Buffer.from(bytes.subarray(end));
    await yieldToEventLoop();
  }
  if (rest.length > 0) yield* runsWithin(Buffer.concat([rest, Buffer.of(lineFeed)]), wanted, last);
}

/**
 * Yields the runs in `bytes`, which must consist of whole lines. Returns whether a line after
 * section `last` was found.
 */
function* runsWithin(
  bytes: Buffer,
  wanted: ReadonlySet<string>,
  last: string,
): Generator<RollupRun, boolean> {
  const scopeOffset = checksumLength + last.indexOf(',') + ',"'.length;
  for (let start = 0; start < bytes.length; ) {
    const scopeEnd = bytes.indexOf(quote, start + scopeOffset);
    const section = bytes.toString('latin1', start + checksumLength, scopeEnd + '",'.length);
    if (wanted.has(section)) {
      const dayStart = start + checksumLength + section.length + 1;
      const dayEnd = bytes.indexOf(quote, dayStart);
      const run = {
        bytes,
        start,
        end: 0,
        opening: dayEnd + '","'.length - start,
        day: bytes.toString('latin1', dayStart, dayEnd),
      };
      run.end = endOfRun(run);
      yield run;
      start = run.end;
    } else if (section > last) return true;
    else start = endOfLine(bytes, start);
  }
  return false;
}

function endOfLine(bytes: Buffer, start: number): number {
  return bytes.indexOf(lineFeed, start) + 1;
}

function endOfRun({ bytes, start, opening }: RollupRun): number {
  // Lines are sorted: if the last line has the same prefix, all lines before it have it, too. This
  // is the most frequent case.
  if (haveSamePrefix(bytes, start, bytes.lastIndexOf(lineFeed, bytes.length - 2) + 1, opening))
    return bytes.length;
  let end = endOfLine(bytes, start);
  while (end < bytes.length && haveSamePrefix(bytes, start, end, opening))
    end = endOfLine(bytes, end);
  return end;
}

function haveSamePrefix(bytes: Buffer, one: number, other: number, length: number): boolean {
  // Compares from the end, where differences are likely.
  for (let at = length - 1; at >= checksumLength; at--)
    if (bytes[one + at] !== bytes[other + at]) return false;
  return true;
}

/**
 * Totals of a report, by key. Most documents have the same keys in the same order. So each key is
 * first compared with the key that is expected next. This comparison creates no string.
 */
export class ReportTotals {
  readonly #rows: ImpressionRow[] = [];
  readonly #positions = new Map<string, number>();
  /** Position of the row whose key is expected next. */
  #next = 0;
  /** Offset of the next byte to read, in the bytes of the run. */
  #at = 0;

  add(key: string, cell: ImpressionCount): void {
    addTo(this.#rowOf(key), cell);
  }

  /**
   * Adds the lines of a run. After the common prefix, each line has its key, impressions and
   * seconds.
   */
  addRun({ bytes, start, end, opening }: RollupRun): void {
    for (this.#at = start; this.#at < end; ) {
      const row = this.#readRow(bytes, this.#at + opening);
      const impressions = this.#readNumber(bytes, comma);
      const seconds = this.#readNumber(bytes, bracket);
      // Skips the line feed.
      this.#at++;
      addTo(row, { impressions, seconds });
    }
  }

  /** Returns the totals, sorted by key. */
  rows(): ImpressionRow[] {
    return this.#rows.sort((one, other) => (one.key < other.key ? -1 : 1));
  }

  #rowOf(key: string): ImpressionRow {
    const known = this.#positions.get(key);
    const position = known ?? this.#rows.push({ key, impressions: 0, seconds: 0 }) - 1;
    if (known === undefined) this.#positions.set(key, position);
    this.#next = position + 1;
    return this.#rows[position] as ImpressionRow;
  }

  /** Reads a key and returns the row with this key. */
  #readRow(bytes: Buffer, start: number): ImpressionRow {
    const next = this.#rows[this.#next];
    if (next && isKeyAt(bytes, start, next.key)) {
      this.#next++;
      this.#at = start + next.key.length + '",'.length;
      return next;
    }
    const end = bytes.indexOf(quote, start);
    this.#at = end + '",'.length;
    return this.#rowOf(bytes.toString('latin1', start, end));
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
}

function isKeyAt(bytes: Buffer, start: number, key: string): boolean {
  for (let n = 0; n < key.length; n++) if (bytes[start + n] !== key.charCodeAt(n)) return false;
  return bytes[start + key.length] === quote;
}
