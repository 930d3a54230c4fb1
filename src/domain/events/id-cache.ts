import { guidForm } from './event.ts';

export const guidLength = 36;
/**
 * Bytes of a float64. Text is compared as float64s: two words of ASCII are equal as numbers only if
 * all their bits are equal.
 */
export const word = 8;
/** The last word ends with the id, and overlaps the one before. */
const wordStarts = [0, 8, 16, 24, guidLength - word] as const;
/** A power of two. Networks have a few hundred campaigns and creatives, so collisions are rare. */
const slots = 2048;
const slotShift = 32 - Math.log2(slots);

const words = new Float64Array(slots * wordStarts.length);
const texts: (string | undefined)[] = new Array(slots).fill(undefined);

/**
 * Returns the UUID at `start` of a text, in lower case, or `null`. Campaigns and creatives recur,
 * so their strings are cached: each is validated and allocated once while its slot is not reused.
 * Maps keyed by these strings then need not hash them again.
 *
 * @param view of the same bytes
 */
export function guidAt(bytes: Buffer, view: DataView, start: number): string | null {
  if (start + guidLength > bytes.length) return null;
  const slot = slotOf(view, start);
  const cached = texts[slot];
  return cached !== undefined && isSame(view, start, slot)
    ? cached
    : keep(bytes, view, start, slot);
}

/**
 * Hashes nearly all digits. Each group of four has a factor of its own, so that the multiplications
 * run in parallel.
 */
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
