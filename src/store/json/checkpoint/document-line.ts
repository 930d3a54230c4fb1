import { hexChecksum } from '../log/checksum.ts';

/** Length of the checksum at the beginning of a line, with what surrounds it. */
export const checksumLength = 12;

/**
 * Returns a line of a document with its line feed. It begins with the CRC-32 of its text in hex,
 * `,"1c291ca3",`, so that a whole document is one JSON array.
 */
export function documentLine(text: string, opening: ',' | '[' = ','): string {
  return `${opening}"${hexChecksum(text)}",${text}\n`;
}

/** Returns the text of a line without its line feed, or `undefined` if it is damaged. */
export function textOfLine(line: Buffer): string | undefined {
  const [, checksum] =
    /^[,[]"([0-9a-f]{8})",$/.exec(line.toString('latin1', 0, checksumLength)) ?? [];
  const text = line.subarray(checksumLength);
  return hexChecksum(text) === checksum ? text.toString() : undefined;
}
