import { isAscii } from 'node:buffer';

/** The body of an answer as it goes out: text only where that is pure ASCII, which takes a byte for each character. */
export type BodyBytes = string | Uint8Array;

/** Pure ASCII, as most is, stays text: that goes out in one piece with the headers. */
export function bodyBytes(text: string): BodyBytes {
  const bytes = Buffer.from(text);
  return isAscii(bytes) ? bytes.toString('latin1') : bytes;
}
