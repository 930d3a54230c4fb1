import { hashKey, isKey } from '../../domain/api-key.ts';
import { bearer } from './bearer.ts';
import { refused } from './device-keys.ts';

/**
 * The hash of the device key that an `Authorization` header shows, by which the store knows it; `undefined` for what is no device key: a typo is seen without
 * a look-up. Throws `device_key_missing` when there is no such header.
 */
export function deviceKeyHeader(authorization: string | undefined): string | undefined {
  if (authorization === undefined) throw refused('missing');
  const text = bearer(authorization);
  return text !== undefined && isKey('dak_', text) ? hashKey(text) : undefined;
}
