import type { JsonScan } from './scan.ts';

/** Matches a number with an exponent wherever one can occur in an object. */
const exponent = /[\s:]-?[\d.]+e/i;

/**
 * Returns whether JSON has a shorter form of a number than the default: 176e7 for 1760000000, 1e-3
 * for 0.001.
 */
function isShortenable(value: number): boolean {
  return value % 1000 === 0 ? value !== 0 : Math.abs(value) < 0.01 || Math.abs(value) >= 1e15;
}

function numberSize(value: number): number {
  if (!Number.isSafeInteger(value)) return String(value).length;
  const size = Math.abs(value);
  let digits = size >= 1e9 ? 10 : 1;
  let limit = size >= 1e9 ? 1e10 : 10;
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
 * Computes the result of `scanJson` from parsed JSON: a list of flat objects in ASCII text without
 * `\`, as programs write it. The computed size is the smallest text for the same value. White space
 * or a duplicate member would make the text longer. Returns `undefined` for anything else. Most
 * event batches are of this kind, and scanning each character takes four times as long.
 */
export function scanFlat(json: unknown, text: string): JsonScan | undefined {
  if (!Array.isArray(json) || json.length === 0) return undefined;
  const elements: number[] = [];
  let members = 0;
  let mayBeShorter = false;
  // The brackets, and the commas between elements.
  let total = json.length + 1;
  for (const element of json) {
    if (typeof element !== 'object' || element === null || Array.isArray(element)) return undefined;
    // The opening brace. Each member adds its quotes, its colon, and the comma or brace after it.
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
