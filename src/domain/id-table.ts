import { guidForm } from './event.ts';

export const guidLength = 36;
const word = 4;
/** A power of two, and twice as many as a batch of events can have different ids, or nearly so. */
const slots = 512;

/** Places in the table's lists, from 1, by the sum of an id and what follows. All tables use the same: to get it from the system for each costs more than to clear it. */
const places = new Uint16Array(slots);

/**
 * The ids in a text, of which most come again and again: each is checked, and made a string, once. So maps that it is looked up in need not read it anew,
 * either. Reads four bytes at a time. Only the table that was made last may be asked.
 */
export class IdTable {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  readonly #starts: number[] = [];
  readonly #texts: string[] = [];

  /** @param view of the same bytes */
  constructor(bytes: Buffer, view: DataView) {
    this.#bytes = bytes;
    this.#view = view;
    places.fill(0);
  }

  /** The UUID that begins there; `null` for what is none. Of at most 400 different ones. */
  at(start: number): string | null {
    const view = this.#view;
    if (start + guidLength > this.#bytes.length) return null;
    let sum = 0;
    for (let at = start; at < start + guidLength; at += word) sum = Math.imul(sum, 0x9e3779b1) ^ view.getInt32(at, true);
    sum = Math.imul(sum ^ (sum >>> 15), 0x85ebca6b);
    for (let slot = sum >>> 23; ; slot = (slot + 1) & (slots - 1)) {
      const known = places[slot] as number;
      if (known === 0) return this.#add(start, slot);
      if (this.#isSame(start, this.#starts[known - 1] as number)) return this.#texts[known - 1] as string;
    }
  }

  #add(start: number, slot: number): string | null {
    const text = this.#bytes.toString('latin1', start, start + guidLength);
    if (!guidForm.test(text)) return null;
    this.#starts.push(start);
    places[slot] = this.#texts.push(text);
    return text;
  }

  #isSame(one: number, other: number): boolean {
    const view = this.#view;
    for (let at = 0; at < guidLength; at += word) if (view.getInt32(one + at, true) !== view.getInt32(other + at, true)) return false;
    return true;
  }
}
