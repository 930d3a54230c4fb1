export const guidLength = 36;
const word = 4;
/** A power of two, and twice as many as a batch of events can have different ids, or nearly so. */
const slots = 512;

/** Of which kind a character is, and which kind stands where in a UUID: a hexadecimal digit, or a dash. */
const [digit, dash] = [1, 2];
const kinds = new Uint8Array(256);
for (const character of '0123456789abcdefABCDEF') kinds[character.charCodeAt(0)] = digit;
kinds['-'.charCodeAt(0)] = dash;
const wanted = Uint8Array.from({ length: guidLength }, (_, place) => ([8, 13, 18, 23].includes(place) ? dash : digit));

/**
 * The ids in a text, of which most come again and again: each is checked, and made a string, once. So maps that it is looked up in need not read it anew,
 * either. Reads four bytes at a time.
 */
export class IdTable {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  /** Places in `#starts` and `#texts`, from 1, by the sum of an id and what follows. */
  readonly #slots = new Uint16Array(slots);
  readonly #starts: number[] = [];
  readonly #texts: string[] = [];

  /** @param view of the same bytes */
  constructor(bytes: Buffer, view: DataView) {
    this.#bytes = bytes;
    this.#view = view;
  }

  /** The UUID that begins there; `null` for what is none. Of at most 400 different ones. */
  at(start: number): string | null {
    const view = this.#view;
    if (start + guidLength > view.byteLength) return null;
    let sum = 0;
    for (let at = start; at < start + guidLength; at += word) sum = Math.imul(sum, 0x9e3779b1) ^ view.getInt32(at, true);
    sum = Math.imul(sum ^ (sum >>> 15), 0x85ebca6b);
    for (let slot = sum >>> 23; ; slot = (slot + 1) & (slots - 1)) {
      const known = this.#slots[slot] as number;
      if (known === 0) return this.#isId(start) ? this.#add(start, slot) : null;
      if (this.#isSame(start, this.#starts[known - 1] as number)) return this.#texts[known - 1] as string;
    }
  }

  #isId(start: number): boolean {
    const bytes = this.#bytes;
    for (let place = 0; place < guidLength; place++) if (kinds[bytes[start + place] as number] !== wanted[place]) return false;
    return true;
  }

  #add(start: number, slot: number): string {
    const text = this.#bytes.toString('latin1', start, start + guidLength);
    this.#starts.push(start);
    this.#slots[slot] = this.#texts.push(text);
    return text;
  }

  #isSame(one: number, other: number): boolean {
    const view = this.#view;
    for (let at = 0; at < guidLength; at += word) if (view.getInt32(one + at, true) !== view.getInt32(other + at, true)) return false;
    return true;
  }
}
