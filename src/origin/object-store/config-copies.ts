import { z } from 'zod';
import type { Clock } from '../../domain/clock.ts';
import { parseJson } from '../../domain/json/parse-json.ts';
import { type ConfigBody, configBody } from '../../domain/records/config.ts';
import type { StoredConfig } from '../../domain/records/rows.ts';
import type { ConfigCopies, ConfigKey, StoredConfigCopy } from '../origin.ts';
import { type ObjectStore, type StoredObject, withTimeouts } from './object-store.ts';

/**
 * Version of the object format. Increase it for a change that older versions of the service cannot
 * read.
 */
const format = 1;

const configObject = z.looseObject({
  format: z.literal(format),
  tenantId: z.guid(),
  level: z.enum(['screen', 'venue', 'tenant']),
  ownerId: z.guid(),
  config: configBody,
  updatedAt: z.int(),
});

/** The id of a row, such as `screen/<id>`, is its path below the folder `configs` of the tenant. */
const keyOf = ({ id, tenantId }: ConfigKey) => `${tenantId}/configs/${id}.json`;

/** Returns `undefined` if the object is invalid, or belongs to another config or tenant. */
function rowOf({ bytes }: StoredObject, { id, tenantId }: ConfigKey): StoredConfig | undefined {
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

/**
 * Mirror copies of configs in an object store. Each config is one object, below the folder of its
 * tenant.
 */
export function makeConfigCopies(store: ObjectStore, clock: Clock): ConfigCopies {
  const objects = withTimeouts(store, clock);

  return {
    async read(config): Promise<StoredConfigCopy | undefined> {
      const object = await objects.get(keyOf(config));
      return object && { row: rowOf(object, config), etag: object.etag };
    },
    async write({ id: _, ...row }, stored) {
      const bytes = Buffer.from(`${JSON.stringify({ format, ...row })}\n`);
      const key = keyOf({ id: `${row.level}/${row.ownerId}`, tenantId: row.tenantId });
      return objects.put(key, bytes, stored);
    },
    remove: (config) => objects.delete(keyOf(config)),
  };
}
