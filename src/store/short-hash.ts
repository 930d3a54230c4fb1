import { hash } from 'node:crypto';

/**
 * Returns the first 8 bytes of a SHA-256 hash, in hex. Both stores keep such hashes of idempotency
 * keys and of the bytes sent under them. A collision among the 128 keys of a device is negligible.
 */
export function shortHash(bytes: string | Uint8Array): string {
  return hash('sha256', bytes, 'hex').slice(0, 16);
}
