import { z } from 'zod';
import { type Clock, secondMs } from '../../domain/clock.ts';
import { parseJson } from '../../domain/json/parse-json.ts';
import { type ConfigBody, configBody } from '../../domain/records/config.ts';
import type { StoredConfig } from '../../domain/records/rows.ts';
import { withTimeout } from '../../domain/timeout.ts';
import type { ConfigCopies, ConfigOf, HeldConfig } from '../origin.ts';
import type { ObjectStore, StoredObject } from './object-store.ts';

const readTimeoutMs = 2 * secondMs;
const writeTimeoutMs = 5 * secondMs;

/** Raised when older versions of the service could not read the objects any more. */
const format = 1;

const configObject = z.looseObject({
  format: z.literal(format),
  tenantId: z.guid(),
  level: z.enum(['screen', 'venue', 'tenant']),
  ownerId: z.guid(),
  config: configBody,
  updatedAt: z.int(),
});

/** `screen/<id>` of a row is its path below the tenant's folder. */
const keyOf = ({ id, tenantId }: ConfigOf) => `${tenantId}/configs/${id}.json`;

/** `undefined` when the object is none of ours, or of somebody else. */
function rowOf({ bytes }: StoredObject, { id, tenantId }: ConfigOf): StoredConfig | undefined {
  try {
    const { json } = parseJson(bytes ?? new Uint8Array());
    const { level, ownerId, updatedAt, tenantId: owningTenant } = configObject.parse(json);
    if (`${level}/${ownerId}` !== id || owningTenant !== tenantId) return undefined;
    return {
      id,
      tenantId,
      level,
      ownerId,
      config: (json as { config: ConfigBody }).config,
      updatedAt,
    };
  } catch {
    return undefined;
  }
}

/** Copies of stored configs in an object store: one object each, beside the playlists of the tenant. */
export function makeConfigCopies(store: ObjectStore, clock: Clock): ConfigCopies {
  function within<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const end = new AbortController();
    return withTimeout(clock, timeoutMs, work(end.signal), () => end.abort());
  }

  return {
    async read(config): Promise<HeldConfig | undefined> {
      const object = await within(readTimeoutMs, (signal) => store.get(keyOf(config), signal));
      return object && { row: rowOf(object, config), etag: object.etag };
    },
    async write({ id: _, ...row }, held) {
      const bytes = Buffer.from(`${JSON.stringify({ format, ...row })}\n`);
      const key = keyOf({ id: `${row.level}/${row.ownerId}`, tenantId: row.tenantId });
      return within(writeTimeoutMs, (signal) => store.put(key, bytes, held?.etag ?? null, signal));
    },
    async remove(config) {
      await within(writeTimeoutMs, (signal) => store.delete(keyOf(config), signal));
    },
  };
}
