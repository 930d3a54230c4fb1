import { crc32 } from 'node:zlib';

/** The CRC-32 of each byte (ISO 3309, reflected). */
const byteSums = Int32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  return sum;
});

/**
 * The CRC-32 of a text as UTF-8, or of its characters from `start` to `end`: the same as the library's, whose call costs twice as much for so few
 * bytes as an id or a key has. Every request of a TV asks for some.
 */
export function textSum(text: string, start = 0, end = text.length): number {
  let sum = -1;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) return crc32(text.slice(start, end));
    sum = (sum >>> 8) ^ (byteSums[(sum ^ code) & 0xff] as number);
  }
  return ~sum >>> 0;
}
