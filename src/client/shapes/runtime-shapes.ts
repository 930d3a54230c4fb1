import type { SchemaName } from '../../wire/schemas.ts';

/** The kind of a value. `map` is an object with text values. A `?` allows `null`. */
type Kind = 'text' | 'number' | 'boolean' | 'object' | 'map';

/** The expected shape of a response, as far as programs depend on it. */
export type Shape =
  | Kind
  | `${Kind}?`
  | readonly ['list', Shape]
  | readonly ['maybe', Shape]
  | { readonly [member: string]: Shape };

/**
 * The shapes of the responses for TVs. They have their own file, because the web player needs only
 * these shapes. The shapes of playlist and config cover only top-level members.
 */
export const runtimeShapes: Partial<Record<SchemaName, Shape>> = {
  registered: {
    deviceId: 'text',
    screenId: 'text',
    apiKey: 'text',
    tenantId: 'text',
    config: 'object',
  },
  rotated: { apiKey: 'text' },
  createdClaim: { claim: 'text', token: 'text', expiresInSeconds: 'number' },
  claimStatus: {
    status: 'text',
    pairingCode: 'text?',
    expiresInSeconds: 'number',
    offer: [
      'maybe',
      { tenant: 'text', tenantId: 'text', venue: 'text', screen: 'text', confirm: 'boolean' },
    ],
  },
  activePlaylist: {
    id: 'text',
    tenantId: 'text',
    screenId: 'text',
    status: 'text',
    version: 'number',
    validUntil: 'number',
    items: ['list', 'object'],
  },
  deviceConfig: {
    syncIntervalMinutes: 'number',
    heartbeatIntervalMinutes: 'number',
    cachePolicy: 'object',
  },
  deviceChanges: {
    cursor: 'text',
    playlist: ['maybe', { version: 'number', etag: 'text' }],
    config: { etag: 'text' },
  },
  eventsAccepted: { received: 'number' },
};
