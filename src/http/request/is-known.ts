import type { KnownHashes } from '../../domain/known-hashes.ts';
import { deviceKeyHash, tokenHash } from '../../service/auth/credential-header.ts';
import type { ServedRequest } from './request-context.ts';

/**
 * Returns a function that tells, without a look-up, whether a request carries a recently verified
 * device key or management token. It leaves the hash of a device key for the authentication.
 */
export function makeIsKnown(known: KnownHashes): (incoming: ServedRequest) => boolean {
  return (incoming) => {
    const { authorization } = incoming.headers;
    if (authorization === undefined) return false;
    if (incoming.url?.startsWith('/v1/')) {
      const hash = tokenHash(authorization);
      return hash !== undefined && known.has(hash);
    }
    incoming.keyHash ??= deviceKeyHash(authorization);
    return incoming.keyHash !== undefined && known.has(incoming.keyHash);
  };
}
