import { crc32 } from 'node:zlib';
import { JsonText, lineBounds } from './json-text.ts';

const comma = 0x2c;

/** Where the lines are: of each the checksum of its id, and its bounds; the end is 0 of one that was deleted. */
interface Places {
  sums: Int32Array;
  bounds: Uint32Array;
  left: number;
}

/**
 * The lines of a document as they were loaded, each found by the id that it begins with. They stay the bytes that were read, and are not even looked at before
 * somebody asks for one of them: a start has hundreds of thousands. An object and a string for each would take 150 bytes, this takes 12.
 */
export class LoadedLines {
  #bytes: Buffer;
  readonly #opening: string;
  #found: Places | undefined;

  /** `opening` is what stands before the id; a line that begins otherwise holds nothing, and a comma at the end is not part of it. */
  constructor(bytes: Buffer, opening: string) {
    this.#bytes = bytes;
    this.#opening = opening;
  }

  find(id: string): JsonText | undefined {
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

  *texts(): Generator<JsonText> {
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
    while (place >= 0 && this.#textAt(place)?.quotedAfter(this.#opening) !== id) place = sums.indexOf(sum, place + 1);
    return place;
  }

  #textAt(place: number): JsonText | undefined {
    const { bounds } = this.#places;
    const [start = 0, end = 0] = [bounds[2 * place], bounds[2 * place + 1]];
    return end === 0 ? undefined : new JsonText(this.#bytes, start, end);
  }
}

function sumOf(id: string): number {
  return crc32(id) | 0;
}

function placesOf(bytes: Buffer, opening: string): Places {
  const [sums, bounds]: [number[], number[]] = [[], []];
  for (const [start, end] of lineBounds(bytes)) {
    const id = new JsonText(bytes, start, end).quotedAfter(opening);
    if (id === undefined) continue;
    sums.push(sumOf(id));
    bounds.push(start, bytes[end - 1] === comma ? end - 1 : end);
  }
  return { sums: Int32Array.from(sums), bounds: Uint32Array.from(bounds), left: sums.length };
}
