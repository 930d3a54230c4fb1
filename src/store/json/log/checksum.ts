import { crc32 } from 'node:zlib';

/** Returns the CRC-32 of bytes in hex. */
export function hexChecksum(bytes: Uint8Array): string {
  return crc32(bytes).toString(16).padStart(8, '0');
}
