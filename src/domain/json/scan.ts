/** Properties of a JSON text as sent. */
export interface JsonScan {
  /** Depth of nested arrays and objects. */
  depth: number;
  /**
   * Size in bytes of each element of the outermost array as sent, without surrounding white space.
   * Limited to the first 1,000 elements.
   */
  elements: number[];
  /** Number of members of all objects as written, including duplicates. */
  members: number;
  /** True if the text is known to be minimal: one line, no white space, no duplicate members. */
  isCompact?: true;
}

/** Ten times the maximum of an event batch. */
const maxElements = 1000;

const space = 0x20;
const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Returns the index of the quote that ends the string starting at `start`. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}

/**
 * Returns the number of bytes from `start` to `end` without white space at both ends. In valid
 * JSON, all bytes up to 0x20 at these ends are white space.
 */
function trimmedSize(bytes: Uint8Array, start: number, end: number): number {
  let from = start;
  let to = end;
  while (from < to && (bytes[from] ?? 0) <= space) from++;
  while (to > from && (bytes[to - 1] ?? 0) <= space) to--;
  return to - from;
}

/** A scan result, with the number of objects and arrays. */
export type FullScan = JsonScan & { containers: number };

/** Scans valid JSON in UTF-8. For other input, it terminates with a meaningless result. */
export function scanJson(bytes: Uint8Array): FullScan {
  const elements: number[] = [];
  let containers = 0;
  let depth = 0;
  let deepest = 0;
  let elementStart = 0;
  let members = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) at = endOfString(bytes, at);
    else if (byte === openBracket || byte === openBrace) {
      containers++;
      if (depth++ === 0) elementStart = at + 1;
      if (depth > deepest) deepest = depth;
    } else if (byte === closeBracket || byte === closeBrace) {
      if (--depth === 0 && elements.length < maxElements)
        elements.push(trimmedSize(bytes, elementStart, at));
    } else if (byte === colon) {
      members++;
    } else if (byte === comma && depth === 1 && elements.length < maxElements) {
      elements.push(trimmedSize(bytes, elementStart, at));
      elementStart = at + 1;
    }
  }
  return { depth: deepest, elements, members, containers };
}

/** Matches a number with an exponent wherever a number can occur in an object. */
const exponent = /[\s:]-?\d+(?:\.\d+)?e/i;

/**
 * Returns whether a number may have a shorter form in JSON than `JSON.stringify` writes: 176e7 for
 * 1760000000, 1e-3 for 0.001.
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
 * Computes the result of `scanJson` from parsed JSON. Supports lists of flat objects in ASCII text
 * without `\`. Most programs send batches of events in this form. Scanning each character takes
 * four times as long.
 *
 * The computed size is the size of the smallest text for the same value. If `text` has this size,
 * it has no white space and no duplicate members. Returns `undefined` for all other input.
 */
export function scanFlat(json: unknown, text: string): JsonScan | undefined {
  if (!Array.isArray(json) || json.length === 0) return undefined;
  const elements: number[] = [];
  let members = 0;
  let mayBeShorter = false;
  // Counts the brackets, and the commas between elements.
  let total = json.length + 1;
  for (const element of json) {
    if (typeof element !== 'object' || element === null || Array.isArray(element)) return undefined;
    // Counts the opening brace. Each member adds its quotes, its colon, and the comma or brace
    // after it.
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
