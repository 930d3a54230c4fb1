import type { JsonScan } from './scan.ts';

/** A number with an exponent, wherever one can stand in an object. */
const exponent = /[\s:]-?[\d.]+e/i;

/** Whether JSON may have a shorter form for a number than the usual one: 176e7 for 1760000000, 1e-3 for 0.001. */
function isShortenable(value: number): boolean {
  return value % 1000 === 0 ? value !== 0 : Math.abs(value) < 0.01 || Math.abs(value) >= 1e15;
}

function numberSize(value: number): number {
  if (!Number.isSafeInteger(value)) return String(value).length;
  const size = Math.abs(value);
  let [digits, limit] = size >= 1e9 ? [10, 1e10] : [1, 10];
  for (; size >= limit; limit *= 10) digits++;
  return value < 0 ? digits + 1 : digits;
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value === 'number') return numberSize(value);
  if (value === null || value === true) return 4;
  return value === false ? 5 : Number.NaN;
}

/**
 * What `scanJson` would tell of a JSON text in ASCII without `\`, told from what was parsed of it: of a list of objects that have nothing in them but texts,
 * numbers and the like, written as programs write it. No text that means the same is shorter; so white space or a member that came twice would show in
 * its length. `undefined` for all else. A batch of events is nearly always of this kind, and a look at each of its characters takes four times as long.
 */
export function scanFlat(json: unknown, text: string): JsonScan | undefined {
  if (!Array.isArray(json) || json.length === 0) return undefined;
  const elements: number[] = [];
  let members = 0;
  let mayBeShorter = false;
  // Brackets, and commas between.
  let total = json.length + 1;
  for (const element of json) {
    if (typeof element !== 'object' || element === null || Array.isArray(element)) return undefined;
    // A brace; each member with its quotes, its colon, and the comma or brace behind it.
    let size = 1;
    for (const name in element) {
      const value = element[name];
      size += name.length + 4 + sizeOf(value);
      if (typeof value === 'number' && isShortenable(value)) mayBeShorter = true;
      members++;
    }
    if (size === 1) size = 2;
    elements.push(size);
    total += size;
  }
  if (total !== text.length || (mayBeShorter && exponent.test(text))) return undefined;
  return { depth: 2, elements, members, isCompact: true };
}
