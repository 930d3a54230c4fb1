import { hash } from 'node:crypto';

/** 8 bytes of a hash, in hex: what both stores keep of an idempotency key and of what was sent under it. No two of a device's 128 keys meet by chance. */
export function shortHash(bytes: string | Uint8Array): string {
  return hash('sha256', bytes, 'hex').slice(0, 16);
}
