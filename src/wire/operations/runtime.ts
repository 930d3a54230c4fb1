import { accept, create, get, type Operation } from '../operation.ts';

/** The API for TVs (docs/protocol.md §2, §3). */
export const runtimeOperations = {
  registerDevice: create('/devices/register', 'public', {
    summary: 'Bind a TV to the screen of a pairing code',
    body: 'registration',
    bodyLimit: 16 * 1024,
    answer: 'registered',
    headers: ['Idempotency-Key'],
    errors: [
      'pairing_code_not_found',
      'pairing_code_expired',
      'pairing_code_cancelled',
      'pairing_code_used',
      'too_many_attempts',
    ],
  }),
  createClaim: create('/devices/claims', 'public', {
    summary: 'Create a claim, which the TV shows until an installer offers it a screen',
    body: 'claimCreation',
    bodyLimit: 16 * 1024,
    answer: 'createdClaim',
    headers: ['Idempotency-Key'],
    errors: ['too_many_attempts', 'ticket_not_found', 'screen_already_bound'],
  }),
  getClaimStatus: get('/devices/claims/:claim', 'public', {
    summary:
      'Get the status of a claim; waitSeconds holds the answer until an installer offers a screen',
    query: 'claimStatusQuery',
    answer: 'claimStatus',
    errors: ['claim_not_found'],
  }),
  getPlaylist: get('/devices/:id/playlist', 'device', {
    summary: 'Get the active playlist of the screen',
    answer: 'activePlaylist',
    conditional: true,
    errors: ['playlist_not_found', 'playlist_fetch_failed'],
  }),
  getDeviceConfig: get('/devices/:id/config', 'device', {
    summary: 'Get the effective config of the device',
    answer: 'deviceConfig',
    conditional: true,
    errors: ['config_fetch_failed'],
  }),
  getDeviceChanges: get('/devices/:id/changes', 'device', {
    summary: 'Get the ETags of playlist and config; waitSeconds holds the answer until they change',
    query: 'deviceChangesQuery',
    answer: 'deviceChanges',
    errors: ['config_fetch_failed'],
  }),
  postEvents: accept('/devices/:id/events', 'device', {
    summary: 'Store 1 to 100 events, all or none',
    body: 'eventBatch',
    partLimit: 50_000,
    answer: 'eventsAccepted',
    headers: ['Idempotency-Key'],
    errors: ['idempotency_key_reused'],
  }),
  rotateDeviceKey: create('/devices/:id/keys/rotate', 'device', {
    summary: 'Create a new key for the device; the old one works until the new one is first used',
    answer: 'rotated',
    headers: ['Idempotency-Key'],
    errors: ['idempotency_key_reused'],
  }),
} satisfies Record<string, Operation>;
