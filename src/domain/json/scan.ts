/** What one pass over the bytes of a JSON text tells, before anything is made of it. */
export interface JsonScan {
  /** How deep arrays and objects are nested. */
  depth: number;
  /** Bytes of each element of the outermost array, as sent, without the white space around it; of the first 1,000. */
  elements: number[];
  /** Members of all its objects, counted as they are written: duplicates too. */
  members: number;
  /** It is known to say each thing once, in as few characters as may be: one line, nothing twice. */
  isCompact?: true;
}

/** Ten times as many as a batch of events may have. */
const mostElements = 1000;

const space = 0x20;
const [quote, backslash, comma, colon, openBracket, closeBracket, openBrace, closeBrace] = [
  0x22, 0x5c, 0x2c, 0x3a, 0x5b, 0x5d, 0x7b, 0x7d,
];

/** The index of the quote that ends the string whose opening quote stands at `start`. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}

/** The bytes from `start` to `end`, less the white space (valid JSON has nothing else up to 0x20) at both ends. */
function trimmedSize(bytes: Uint8Array, start: number, end: number): number {
  let [from, to] = [start, end];
  while (from < to && (bytes[from] ?? 0) <= space) from++;
  while (to > from && (bytes[to - 1] ?? 0) <= space) to--;
  return to - from;
}

/** What the pass tells, and how many objects and arrays there are. */
export type FullScan = JsonScan & { containers: number };

/** Scans valid JSON in UTF-8; of anything else it says nothing useful, but ends. */
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
      if (--depth === 0 && elements.length < mostElements)
        elements.push(trimmedSize(bytes, elementStart, at));
    } else if (byte === colon) {
      members++;
    } else if (byte === comma && depth === 1 && elements.length < mostElements) {
      elements.push(trimmedSize(bytes, elementStart, at));
      elementStart = at + 1;
    }
  }
  return { depth: deepest, elements, members, containers };
}
