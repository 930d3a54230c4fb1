import { hashKey, isKey } from '../../domain/api-key.ts';
import { adminTokenForm } from '../../domain/records/token.ts';
import { deviceKeyError } from './device-keys.ts';

/**
 * Returns the token of an `Authorization: Bearer …` header (RFC 6750 §2.1), or `undefined`. The
 * scheme is case-insensitive.
 */
export function bearerToken(authorization: string): string | undefined {
  return /^bearer +([^\s]+) *$/i.exec(authorization)?.[1];
}

/**
 * Returns the hash of the device key in an `Authorization` header. Returns `undefined` for a
 * malformed key, so that typos need no look-up. Throws `device_key_missing` without the header.
 */
export function deviceKeyHash(authorization: string | undefined): string | undefined {
  if (authorization === undefined) throw deviceKeyError('missing');
  const text = bearerToken(authorization);
  return text !== undefined && isKey('dak_', text) ? hashKey(text) : undefined;
}

/** Like `deviceKeyHash`, for the management token in a header. */
export function tokenHash(authorization: string): string | undefined {
  const text = bearerToken(authorization);
  return text !== undefined && adminTokenForm.test(text) ? hashKey(text) : undefined;
}
