import { guidForm } from './event.ts';

export const guidLength = 36;
const word = 4;
const wordsPerId = guidLength / word;
/** A power of two: where a network has a few hundred campaigns and creatives, nearly all of them keep their places. */
const slots = 2048;
const slotShift = 32 - Math.log2(slots);

const words = new Int32Array(slots * wordsPerId);
const texts: (string | undefined)[] = new Array(slots).fill(undefined);

/**
 * The UUID that stands in a text at `start`, in lower case; `null` for what is none. Campaigns and creatives come again and again: each is checked, and made a string, once, as
 * long as no other takes its place. So maps that it is looked up in need not read it anew, either. Reads four bytes at a time.
 *
 * @param view of the same bytes
 */
export function guidAt(bytes: Buffer, view: DataView, start: number): string | null {
  if (start + guidLength > bytes.length) return null;
  let sum = 0;
  for (let at = start; at < start + guidLength; at += word) sum = Math.imul(sum, 0x9e3779b1) ^ view.getInt32(at, true);
  sum = Math.imul(sum ^ (sum >>> 15), 0x85ebca6b);
  const slot = sum >>> slotShift;
  const known = texts[slot];
  return known !== undefined && isSame(view, start, slot) ? known : keep(bytes, view, start, slot);
}

function isSame(view: DataView, start: number, slot: number): boolean {
  for (let n = 0, at = slot * wordsPerId; n < wordsPerId; n++, at++) if (view.getInt32(start + n * word, true) !== words[at]) return false;
  return true;
}

function keep(bytes: Buffer, view: DataView, start: number, slot: number): string | null {
  const text = bytes.toString('latin1', start, start + guidLength).toLowerCase();
  if (!guidForm.test(text)) return null;
  for (let n = 0; n < wordsPerId; n++) words[slot * wordsPerId + n] = view.getInt32(start + n * word, true);
  texts[slot] = text;
  return text;
}
