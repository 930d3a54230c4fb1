import { isAscii } from 'node:buffer';

/** A response body: a string if it is pure ASCII, where each character is one byte. */
export type BodyBytes = string | Uint8Array;

/**
 * Keeps pure ASCII, the common case, as a string: Node then sends headers and body in one piece.
 */
export function bodyBytes(text: string): BodyBytes {
  const bytes = Buffer.from(text);
  return isAscii(bytes) ? bytes.toString('latin1') : bytes;
}
