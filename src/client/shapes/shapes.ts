import type { SchemaName } from '../../wire/schemas.ts';
import { runtimeShapes, type Shape } from './runtime-shapes.ts';

const page = (item: Shape): Shape => ({ items: ['list', item], nextCursor: 'text?' });

const tenant = { id: 'text', name: 'text', createdAt: 'text', updatedAt: 'text' } as const;

const scope = { expiresAt: 'text?', venueIds: ['maybe', ['list', 'text']] } as const;

const token = {
  id: 'text',
  tenantId: 'text?',
  name: 'text',
  role: 'text',
  ...scope,
  createdAt: 'text',
  lastUsedAt: 'text?',
} as const;

const venue = {
  ...tenant,
  tenantId: 'text',
  address: 'text?',
  timezone: 'text?',
  labels: 'map',
} as const;

const screen = {
  ...tenant,
  tenantId: 'text',
  venueId: 'text',
  labels: 'map',
  state: 'text',
  deviceId: 'text?',
  provisioningCode: ['maybe', { status: 'text', createdAt: 'text', expiresAt: 'text' }],
} as const;

const deviceInfo = {
  manufacturer: 'text?',
  model: 'text?',
  osVersion: 'text?',
  appVersion: 'text?',
  macAddress: 'text?',
  ipAddress: 'text?',
  deviceName: 'text?',
  locationHint: 'text?',
} as const;

const device = {
  id: 'text',
  screenId: 'text',
  state: 'text',
  deviceInfo,
  createdAt: 'text',
  lastSeenAt: 'text?',
  lastAddress: 'text?',
  lastPlaylistAt: 'text?',
  lastPlaylistVersion: 'number?',
  lastPlaylistStatus: 'number?',
  lastConfigAt: 'text?',
  lastEventAt: 'text?',
  lastRefusedAt: 'text?',
  lastSeq: 'number?',
  missingEvents: 'number',
  conflictingEvents: 'number',
  online: 'boolean',
  suspendedAt: 'text?',
  suspendReason: 'text?',
  simulated: 'boolean',
} as const;

const item = {
  creativeId: 'text',
  creativeUrl: 'text',
  creativeType: 'text',
  duration: 'number',
} as const;

const playlist = {
  id: 'text',
  tenantId: 'text',
  screenId: 'text',
  status: 'text',
  version: 'number',
  validUntil: 'number?',
  items: ['list', item],
} as const;

const code = {
  code: 'text',
  screenId: 'text',
  status: 'text',
  createdAt: 'text',
  expiresAt: 'text',
  simulated: 'boolean',
  expiresInSeconds: 'number',
} as const;

const auditEntry = {
  id: 'text',
  at: 'text',
  actor: { kind: 'text', id: 'text?', name: 'text?' },
  action: 'text',
  subject: { kind: 'text', id: 'text?' },
  address: 'text?',
  requestId: 'text?',
  details: 'object',
} as const;

const mirrorCopy = {
  screenId: 'text',
  venueId: 'text',
  screenName: 'text',
  version: 'number?',
  copiedVersion: 'number?',
  state: 'text',
  queuedAt: 'text?',
} as const;

/**
 * The shapes of all response bodies. They duplicate the schemas in `domain/`, because loading the
 * schemas is too slow for a command. A test keeps the two consistent. `runtime-shapes.ts` has the
 * shapes for TVs.
 */
export const shapes: Partial<Record<SchemaName, Shape>> = {
  ...runtimeShapes,
  claim: {
    claim: 'text',
    status: 'text',
    deviceInfo,
    address: 'text?',
    createdAt: 'text',
    expiresInSeconds: 'number',
  },
  tenant,
  tenantList: page(tenant),
  token,
  createdToken: { ...token, token: 'text' },
  rotatedToken: { ...token, token: 'text', oldTokenUntil: 'text' },
  tokenList: page(token),
  me: {
    tokenId: 'text',
    name: 'text',
    role: 'text',
    ...scope,
    tenantId: 'text?',
    tenantName: 'text?',
  },
  venue,
  venueList: page(venue),
  screen,
  screenList: page(screen),
  device,
  deviceList: page(device),
  revoked: { device, screen },
  screenStatusList: page({
    at: 'text',
    venueName: 'text',
    screen,
    device: ['maybe', device],
    playlist: [
      'maybe',
      { version: 'number', status: 'text', publishedAt: 'text', validUntil: 'number?' },
    ],
  }),
  createdCode: code,
  codeStatus: { ...code, usedAt: 'text?', deviceId: 'text?' },
  playlist,
  playlistVersions: page(playlist),
  playlistRefresh: { version: 'number', changed: 'boolean' },
  configBody: 'object',
  eventList: page({
    id: 'text',
    deviceId: 'text',
    screenId: 'text',
    receivedAt: 'text',
    event: 'object',
  }),
  auditList: page(auditEntry),
  tvRequestList: page({
    id: 'text',
    at: 'text',
    operation: 'text',
    status: 'number?',
    code: 'text?',
    detail: 'text?',
    faults: ['list', 'text'],
    deviceId: 'text?',
    screenId: 'text',
    requestId: 'text',
  }),
  mirrorList: page(mirrorCopy),
  mirrorRepair: { queued: 'number' },
  impressionReport: { items: ['list', { key: 'text', impressions: 'number', seconds: 'number' }] },
};
