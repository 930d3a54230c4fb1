import { hashKey, isKey } from '../../domain/api-key.ts';
import { bearerToken } from './bearer.ts';
import { deviceKeyError } from './device-keys.ts';

/**
 * Returns the hash of the device key in an `Authorization` header. Returns `undefined` for a
 * malformed key, so that typos need no look-up. Throws `device_key_missing` without the header.
 */
export function deviceKeyHeader(authorization: string | undefined): string | undefined {
  if (authorization === undefined) throw deviceKeyError('missing');
  const text = bearerToken(authorization);
  return text !== undefined && isKey('dak_', text) ? hashKey(text) : undefined;
}
