import { crc32 } from 'node:zlib';

export function hexChecksum(bytes: string | Uint8Array): string {
  return checksumText(crc32(bytes));
}

/** Formats a CRC-32 in hex. */
export function checksumText(checksum: number): string {
  return checksum.toString(16).padStart(8, '0');
}
