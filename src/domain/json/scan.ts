/** Result of one pass over the bytes of a JSON text, before parsing. */
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
  /** The text is known to be minimal: one line, no white space, no duplicates. */
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
 * Returns the number of bytes from `start` to `end` without white space at both ends. Valid JSON
 * has no other bytes up to 0x20 there.
 */
function trimmedSize(bytes: Uint8Array, start: number, end: number): number {
  let from = start;
  let to = end;
  while (from < to && (bytes[from] ?? 0) <= space) from++;
  while (to > from && (bytes[to - 1] ?? 0) <= space) to--;
  return to - from;
}

/** A scan result with the number of objects and arrays. */
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
