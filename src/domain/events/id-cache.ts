import { guidForm } from './event.ts';

export const guidLength = 36;
/** Bytes in a floating-point number, as which text is compared: those of ASCII are equal only if all their bits are, and others equal none of them. */
export const word = 8;
/** The last begins where it ends with the id. */
const wordStarts = [0, 8, 16, 24, guidLength - word] as const;
/** A power of two: where a network has a few hundred campaigns and creatives, nearly all of them keep their places. */
const slots = 2048;
const slotShift = 32 - Math.log2(slots);

const words = new Float64Array(slots * wordStarts.length);
const texts: (string | undefined)[] = new Array(slots).fill(undefined);

/**
 * The UUID that stands in a text at `start`, in lower case; `null` for what is none. Campaigns and creatives come again and again: each is checked, and made a string, once, as
 * long as no other takes its place. So maps that it is looked up in need not read it anew, either.
 *
 * @param view of the same bytes
 */
export function guidAt(bytes: Buffer, view: DataView, start: number): string | null {
  if (start + guidLength > bytes.length) return null;
  const slot = slotOf(view, start);
  const known = texts[slot];
  return known !== undefined && isSame(view, start, slot) ? known : keep(bytes, view, start, slot);
}

/** Of nearly all digits, each four by a factor of their own: so the processor need not wait for one product to begin with the next. */
function slotOf(view: DataView, start: number): number {
  const sum =
    Math.imul(view.getInt32(start, true), 0x9e3779b1) ^
    Math.imul(view.getInt32(start + 4, true), 0x85ebca6b) ^
    Math.imul(view.getInt32(start + 10, true), 0xc2b2ae35) ^
    Math.imul(view.getInt32(start + 15, true), 0x27d4eb2f) ^
    Math.imul(view.getInt32(start + 20, true), 0x165667b1) ^
    Math.imul(view.getInt32(start + 24, true), 0xd3a2646d) ^
    Math.imul(view.getInt32(start + 28, true), 0xfd7046c5) ^
    Math.imul(view.getInt32(start + 32, true), 0xb55a4f09);
  return Math.imul(sum ^ (sum >>> 15), 0x85ebca6b) >>> slotShift;
}

function isSame(view: DataView, start: number, slot: number): boolean {
  const at = slot * wordStarts.length;
  for (let n = 0; n < wordStarts.length; n++)
    if (view.getFloat64(start + (wordStarts[n] as number), true) !== words[at + n]) return false;
  return true;
}

function keep(bytes: Buffer, view: DataView, start: number, slot: number): string | null {
  const text = bytes.toString('latin1', start, start + guidLength).toLowerCase();
  if (!guidForm.test(text)) return null;
  for (const [n, from] of wordStarts.entries())
    words[slot * wordStarts.length + n] = view.getFloat64(start + from, true);
  texts[slot] = text;
  return text;
}
