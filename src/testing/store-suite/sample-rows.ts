import type { AuditEntry } from '../../domain/records/audit.ts';
import type {
  Claim,
  Creation,
  Device,
  DeviceKey,
  PairingCode,
  Playlist,
  Screen,
  StoredConfig,
  Tenant,
  Token,
  Venue,
} from '../../domain/records/rows.ts';
import { guid, tenantA } from './sample-batch.ts';

const created = { createdAt: 1_760_000_000_000, updatedAt: 1_760_000_000_000 };

export function creationRow(number: number, more: Partial<Creation> = {}): Creation {
  const { createdAt } = created;
  return {
    id: guid('crea', number),
    tokenId: guid('toke', 1),
    request: `request ${number}`,
    body: 'body',
    recordId: guid('venu', number),
    createdAt,
    ...more,
  };
}

export function claimRow(number: number, more: Partial<Claim> = {}): Claim {
  const { createdAt } = created;
  const deviceInfo = {
    manufacturer: null,
    model: 'TV',
    osVersion: null,
    appVersion: null,
    macAddress: null,
    ipAddress: null,
    deviceName: null,
    locationHint: null,
  };
  return {
    id: `CLAIM${number}`,
    tokenHash: `hash ${number}`,
    deviceInfo,
    address: '192.0.2.17',
    shard: '7',
    network: '192.0.2.17',
    share: null,
    state: 'waiting',
    createdAt,
    expiresAt: createdAt + 600_000,
    offer: null,
    ...more,
  };
}

/** Returns a row whose id and name contain `number`. `more` replaces members. */
export function tenantRow(number: number, more: Partial<Tenant> = {}): Tenant {
  return { id: guid('tena', number), name: `Tenant ${number}`, ...created, ...more };
}

export function tokenRow(number: number, more: Partial<Token> = {}): Token {
  const { createdAt } = created;
  return {
    id: guid('toke', number),
    tenantId: tenantA,
    name: `Token ${number}`,
    role: 'viewer',
    hash: `hash ${number}`,
    createdAt,
    bootstrap: false,
    expiresAt: null,
    venueIds: null,
    firstUsedAt: null,
    retiring: null,
    ...more,
  };
}

export function venueRow(number: number, more: Partial<Venue> = {}): Venue {
  return {
    id: guid('venu', number),
    tenantId: tenantA,
    name: `Venue ${number}`,
    address: null,
    timezone: null,
    labels: {},
    ...created,
    ...more,
  };
}

export function screenRow(number: number, more: Partial<Screen> = {}): Screen {
  const venueId = guid('venu', 1);
  return {
    id: guid('scre', number),
    tenantId: tenantA,
    venueId,
    name: `Screen ${number}`,
    labels: {},
    state: 'provisioning',
    deviceId: null,
    ...created,
    ...more,
  };
}

export function deviceRow(number: number, more: Partial<Device> = {}): Device {
  const nothing = {
    manufacturer: null,
    model: null,
    osVersion: null,
    appVersion: null,
    macAddress: null,
    ipAddress: null,
    deviceName: null,
  };
  return {
    id: guid('devi', number),
    tenantId: tenantA,
    venueId: guid('venu', 1),
    screenId: guid('scre', number),
    state: 'bound',
    deviceInfo: { ...nothing, locationHint: `wall ${number}` },
    createdAt: created.createdAt,
    suspendedAt: null,
    suspendReason: null,
    simulated: false,
    ...more,
  };
}

export function deviceKeyRow(number: number, more: Partial<DeviceKey> = {}): DeviceKey {
  const ids = {
    id: guid('keys', number),
    tenantId: tenantA,
    deviceId: guid('devi', number),
    screenId: guid('scre', number),
  };
  return {
    ...ids,
    hash: `key ${number}`,
    state: 'active',
    createdAt: created.createdAt,
    firstUsedAt: null,
    revokedAt: null,
    ...more,
  };
}

export function codeRow(number: number, more: Partial<PairingCode> = {}): PairingCode {
  return {
    id: `code-${String(number).padStart(4, '0')}`,
    tenantId: tenantA,
    venueId: guid('venu', 1),
    screenId: guid('scre', 1),
    state: 'pending',
    createdAt: created.createdAt,
    expiresAt: created.createdAt + 900_000,
    usedAt: null,
    cancelledAt: null,
    deviceId: null,
    answeredConfig: null,
    simulated: false,
    ...more,
  };
}

export function playlistRow(
  screen: number,
  version: number,
  more: Partial<Playlist> = {},
): Playlist {
  const screenId = guid('scre', screen);
  return {
    id: screenId,
    screenId,
    tenantId: tenantA,
    playlistId: guid('play', screen),
    version,
    state: 'active',
    items: `[{"creativeUrl":"https://media.example.com/${version}.mp4"}]`,
    validUntil: null,
    publishedAt: created.createdAt,
    origin: 'published',
    noneSince: null,
    ...more,
  };
}

export function pastPlaylistRow(screen: number, version: number): Playlist {
  return playlistRow(screen, version, {
    id: `${guid('scre', screen)}/${version}`,
    state: 'superseded',
  });
}

export function configRow(
  level: StoredConfig['level'],
  ownerId: string,
  config: StoredConfig['config'],
): StoredConfig {
  return {
    id: `${level}/${ownerId}`,
    tenantId: tenantA,
    level,
    ownerId,
    config,
    updatedAt: created.updatedAt,
  };
}

export function auditRow(number: number, more: Partial<AuditEntry> = {}): AuditEntry {
  return {
    id: guid('audi', number),
    tenantId: tenantA,
    at: created.createdAt + number,
    actor: { kind: 'system', id: null, name: null },
    action: 'venue.create',
    subject: { kind: 'venue', id: guid('venu', number) },
    address: null,
    requestId: null,
    details: {},
    ...more,
  };
}
