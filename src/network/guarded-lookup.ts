import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/**
 * Returns a `lookup` for one connection. It calls `check` with each address of the name. If `check`
 * throws, the connection fails with this error. The connection uses the addresses that were
 * checked, so a name that resolves to others a moment later (DNS rebinding) has no effect. Node
 * calls no `lookup` for a host that is an address.
 */
export const guardedLookup =
  (
    check: (address: string) => void,
    lookup: LookupFunction = systemLookup as LookupFunction,
  ): LookupFunction =>
  (host, options, callback) =>
    lookup(host, options, (error, found, family) => {
      if (error) return callback(error, found, family);
      try {
        for (const { address } of Array.isArray(found) ? found : [{ address: found }])
          check(address);
      } catch (refusal) {
        return callback(refusal as Error, found, family);
      }
      callback(null, found, family);
    });
