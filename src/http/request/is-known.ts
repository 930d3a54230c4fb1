import type { IncomingMessage } from 'node:http';
import { hashKey } from '../../domain/api-key.ts';
import type { KnownHashes } from '../../domain/known-hashes.ts';
import { adminTokenForm } from '../../domain/records/token.ts';
import { bearerToken } from '../../service/auth/bearer.ts';
import { cachedKeyHash } from '../fast-path/cached-key-hash.ts';

/**
 * Returns a function that tells, without a look-up, whether a request carries a recently verified
 * device key or management token.
 */
export function makeIsKnown(known: KnownHashes): (incoming: IncomingMessage) => boolean {
  return (incoming) => {
    const { authorization } = incoming.headers;
    if (authorization === undefined) return false;
    const hash = incoming.url?.startsWith('/v1/')
      ? tokenHash(authorization)
      : cachedKeyHash(incoming);
    return hash !== undefined && known.has(hash);
  };
}

function tokenHash(authorization: string): string | undefined {
  const text = bearerToken(authorization);
  return text !== undefined && adminTokenForm.test(text) ? hashKey(text) : undefined;
}
