import type { PlayKey } from '../../../domain/events/plays.ts';
import type { ReportClock } from '../../../domain/records/report.ts';
import { readCells } from '../../plays.ts';
import type { PlayPlace, PlayVisitor } from '../../queries.ts';
import { checksumLength } from '../checkpoint/document-line.ts';
import type { WrittenDocument } from '../checkpoint/document-owner.ts';
import { yieldToEventLoop } from '../disk/yield.ts';
import { keyOfLine, keyOpening } from './play-lines.ts';

const lineFeed = 0x0a;
const zero = 0x30;
const minus = 0x2d;
const digitsOfDay = 7;

/**
 * Gives the counts of a tenant in documents to a visitor. A report of a large fleet has ten million
 * cells, so it parses them where they are, without a string or object for each.
 */
export class PlayReader {
  readonly #place: ReadPlace;
  readonly #opening: string;
  readonly #within: (day: number) => boolean;
  readonly #visitor: PlayVisitor;

  constructor(
    clock: ReportClock,
    tenantId: string,
    within: (day: number) => boolean,
    visitor: PlayVisitor,
  ) {
    this.#place = new ReadPlace(clock, tenantId);
    this.#opening = `[${JSON.stringify(tenantId)},"`;
    this.#within = within;
    this.#visitor = visitor;
  }

  async read(document: WrittenDocument): Promise<void> {
    const keys: PlayKey[] = [];
    let rest: Buffer = Buffer.alloc(0);
    for await (const chunk of document.chunks()) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const end = bytes.lastIndexOf(lineFeed) + 1;
      this.#readLines(bytes.subarray(0, end), keys);
      rest = Buffer.from(bytes.subarray(end));
      await yieldToEventLoop();
    }
    if (rest.length > 0) this.#readLines(Buffer.concat([rest, Buffer.of(lineFeed)]), keys);
  }

  /** Reads whole lines. The names of entries in the lines of keys may have other than ASCII. */
  #readLines(bytes: Buffer, keys: PlayKey[]): void {
    const text = bytes.toString('latin1');
    for (let start = checksumLength; start < text.length; ) {
      const end = text.indexOf('\n', start);
      if (text.startsWith(keyOpening, start)) {
        const numbered = keyOfLine(bytes.toString('utf8', start, end));
        if (numbered) keys[numbered[0]] = numbered[1];
      } else if (text.startsWith(this.#opening, start)) this.#readPlace(text, start, end, keys);
      start = end + 1 + checksumLength;
    }
  }

  #readPlace(text: string, start: number, end: number, keys: readonly PlayKey[]): void {
    const dayAt = start + this.#opening.length;
    const day = numberAt(text, dayAt, digitsOfDay);
    if (!this.#within(day)) return;
    const venueAt = dayAt + digitsOfDay + '","'.length;
    const venueEnd = text.indexOf('"', venueAt);
    const screenEnd = text.indexOf('"', venueEnd + '","'.length);
    const shiftAt = screenEnd + '",'.length;
    const isBefore = text.charCodeAt(shiftAt) === minus;
    const shift = numberAt(text, shiftAt + (isBefore ? 1 : 0), 1);
    const simulatedAt = shiftAt + (isBefore ? 2 : 1) + 1;
    const place = this.#place;
    place.text = text;
    place.venueAt = venueAt;
    place.venueEnd = venueEnd;
    place.screenEnd = screenEnd;
    place.day = day;
    place.shift = isBefore ? -shift : shift;
    place.simulated = text.charCodeAt(simulatedAt) !== zero;
    if (!this.#visitor.place(place)) return;
    const cellsAt = simulatedAt + '0,"'.length;
    readCells(text, cellsAt, end - '"]'.length, (number) => keys[number], this.#visitor.cell);
  }
}

function numberAt(text: string, at: number, digits: number): number {
  let value = 0;
  for (let n = at; n < at + digits; n++) value = value * 10 + text.charCodeAt(n) - zero;
  return value;
}

/** The place of a line. Most reports need no ids of it, so that these are read on demand. */
class ReadPlace implements PlayPlace {
  readonly clock: ReportClock;
  readonly tenantId: string;
  simulated = false;
  day = 0;
  shift = 0;
  text = '';
  venueAt = 0;
  venueEnd = 0;
  screenEnd = 0;

  constructor(clock: ReportClock, tenantId: string) {
    this.clock = clock;
    this.tenantId = tenantId;
  }

  get venueId(): string {
    return this.text.slice(this.venueAt, this.venueEnd);
  }

  get screenId(): string {
    return this.text.slice(this.venueEnd + '","'.length, this.screenEnd);
  }
}
