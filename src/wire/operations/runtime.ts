import type { Operation } from '../operation.ts';

/** What TVs call (docs/protocol.md §2, §3). */
export const runtimeOperations = {
  registerDevice: {
    method: 'POST',
    path: '/devices/register',
    access: 'public',
    summary: 'Bind a TV to the screen of a pairing code',
    body: 'registration',
    bodyLimit: 16 * 1024,
    status: 201,
    answer: 'registered',
    headers: ['Idempotency-Key'],
    errors: ['pairing_code_not_found', 'pairing_code_expired', 'pairing_code_cancelled', 'pairing_code_used', 'too_many_attempts'],
  },
  getPlaylist: {
    method: 'GET',
    path: '/devices/:id/playlist',
    access: 'device',
    summary: 'The active playlist of the screen',
    status: 200,
    answer: 'activePlaylist',
    conditional: true,
    errors: ['playlist_not_found', 'playlist_fetch_failed'],
  },
  getDeviceConfig: {
    method: 'GET',
    path: '/devices/:id/config',
    access: 'device',
    summary: 'The config that is in force for the device',
    status: 200,
    answer: 'deviceConfig',
    conditional: true,
    errors: ['config_fetch_failed'],
  },
  postEvents: {
    method: 'POST',
    path: '/devices/:id/events',
    access: 'device',
    summary: 'Store 1 to 100 telemetry events, all or none',
    body: 'eventBatch',
    status: 202,
    answer: 'eventsAccepted',
    headers: ['Idempotency-Key'],
    errors: ['idempotency_key_reused'],
  },
} as const satisfies Record<string, Operation>;
