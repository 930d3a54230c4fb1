import { ByteSlice } from './byte-slice.ts';

const comma = 0x2c;
const quote = 0x22;
const firstNotAscii = 0x80;
const lineFeed = 0x0a;
const nextLineFeed = Uint8Array.prototype.indexOf;
const [fnvStart, fnvPrime] = [0x811c9dc5, 0x01000193];

/** Where the lines are: of each a sum of its id, and its bounds; the end is 0 of one that was deleted. */
interface Places {
  sums: Int32Array;
  bounds: Uint32Array;
  left: number;
}

/**
 * The lines of a document as they were loaded, each found by the id that it begins with. They stay the bytes that were read, and are not even looked at before
 * somebody asks for one of them: a start has hundreds of thousands. An object and a string for each would take 150 bytes, this takes 12.
 */
export class LazyLines {
  #bytes: Buffer;
  readonly #opening: string;
  #found: Places | undefined;

  /** `opening` is what stands before the id; a line that begins otherwise holds nothing, and a comma at the end is not part of it. */
  constructor(bytes: Buffer, opening: string) {
    this.#bytes = bytes;
    this.#opening = opening;
  }

  find(id: string): ByteSlice | undefined {
    return this.#textAt(this.#placeOf(id));
  }

  /** Answers whether it was there. */
  delete(id: string): boolean {
    const place = this.#placeOf(id);
    if (place < 0) return false;
    const places = this.#places;
    places.bounds[2 * place + 1] = 0;
    places.left--;
    this.#letGoIfEmpty(places);
    return true;
  }

  /** Nobody can ask for any of them any more. */
  #letGoIfEmpty({ left }: Places): void {
    if (left === 0) this.#bytes = Buffer.alloc(0);
  }

  *texts(): Generator<ByteSlice> {
    for (let place = 0; place < this.#places.sums.length; place++) {
      const text = this.#textAt(place);
      if (text) yield text;
    }
  }

  *ids(): Generator<string> {
    for (const text of this.texts()) yield text.quotedAfter(this.#opening) as string;
  }

  get #places(): Places {
    if (this.#found === undefined) {
      this.#found = placesOf(this.#bytes, this.#opening);
      this.#letGoIfEmpty(this.#found);
    }
    return this.#found;
  }

  #placeOf(id: string): number {
    const { sums } = this.#places;
    const sum = sumOf(id);
    let place = sums.indexOf(sum);
    while (place >= 0 && this.#textAt(place)?.quotedAfter(this.#opening) !== id)
      place = sums.indexOf(sum, place + 1);
    return place;
  }

  #textAt(place: number): ByteSlice | undefined {
    const { bounds } = this.#places;
    const [start = 0, end = 0] = [bounds[2 * place], bounds[2 * place + 1]];
    return end === 0 ? undefined : new ByteSlice(this.#bytes, start, end);
  }
}

/** FNV-1a. */
export function sumOf(id: string): number {
  let sum = fnvStart;
  for (let at = 0; at < id.length; at++) sum = Math.imul(sum ^ id.charCodeAt(at), fnvPrime);
  return sum | 0;
}

/** The same of what stands in quotes, of which `start` is the first byte. */
function sumOfQuoted(bytes: Buffer, start: number): number {
  let sum = fnvStart;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === quote) break;
    if (byte >= firstNotAscii)
      return sumOf(bytes.toString('utf8', start, bytes.indexOf(quote, start)));
    sum = Math.imul(sum ^ byte, fnvPrime);
  }
  return sum | 0;
}

/** Makes no strings: the first TV of a document waits for this, and right after a start many wait for one each. */
function placesOf(bytes: Buffer, opening: string): Places {
  const [sums, bounds]: [number[], number[]] = [[], []];
  const head = Buffer.from(opening);
  for (let start = 0, end: number; start < bytes.length; start = end + 1) {
    end = nextLineFeed.call(bytes, lineFeed, start);
    if (end < 0) end = bytes.length;
    if (!beginsWith(bytes, start, head)) continue;
    sums.push(sumOfQuoted(bytes, start + head.length));
    bounds.push(start, bytes[end - 1] === comma ? end - 1 : end);
  }
  return { sums: Int32Array.from(sums), bounds: Uint32Array.from(bounds), left: sums.length };
}

function beginsWith(bytes: Buffer, start: number, head: Buffer): boolean {
  // From behind, where openings differ if they do.
  for (let at = head.length - 1; at >= 0; at--) if (bytes[start + at] !== head[at]) return false;
  return true;
}
