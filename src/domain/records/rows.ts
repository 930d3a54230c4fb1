import type { AuditDetails } from './audit.ts';
import type { ConfigBody } from './config.ts';
import type { DeviceInfo } from './device.ts';
import type { Role } from './role.ts';

/** The rows that stores keep. Times are Unix epoch milliseconds; what is empty is `null`; ids are lower-case UUIDs unless said otherwise. */
export interface Tenant {
  id: string;
  name: string;
  createdAt: number;
  updatedAt: number;
}

export interface Token {
  id: string;
  /** `null` for a platform token, which belongs to no tenant. */
  tenantId: string | null;
  name: string;
  role: Role;
  /** SHA-256 of the token, in hex. */
  hash: string;
  createdAt: number;
  /** Set on the one that `SIGNAGE_ADMIN_TOKEN` names; a changed value replaces it. */
  bootstrap: boolean;
  /** From then on it is refused; absent or `null`: never. */
  expiresAt?: number | null;
  /** All that it may know of; absent or `null`: the whole tenant. A venue that was deleted stays named. */
  venueIds?: readonly string[] | null;
}

export interface Venue {
  id: string;
  tenantId: string;
  name: string;
  address: string | null;
  timezone: string | null;
  labels: Record<string, string>;
  createdAt: number;
  updatedAt: number;
}

export interface Screen {
  id: string;
  tenantId: string;
  venueId: string;
  name: string;
  labels: Record<string, string>;
  state: 'provisioning' | 'active';
  /** The bound device, while active. */
  deviceId: string | null;
  createdAt: number;
  updatedAt: number;
}

export interface Device {
  id: string;
  tenantId: string;
  venueId: string;
  screenId: string;
  state: 'bound' | 'suspended';
  deviceInfo: DeviceInfo;
  createdAt: number;
  suspendedAt: number | null;
  suspendReason: string | null;
}

/** Kept when its device is deleted, so that the key can be told that it is an orphan. */
export interface DeviceKey {
  id: string;
  tenantId: string;
  deviceId: string;
  screenId: string;
  /** SHA-256 of the key, in hex. */
  hash: string;
  state: 'active' | 'retiring' | 'revoked';
  createdAt: number;
  /** When it first authenticated a request: from then on the registration's answer is not repeated. */
  firstUsedAt: number | null;
  revokedAt: number | null;
}

export interface PairingCode {
  /** HMAC of the code (`hashCode`), in hex: the code itself is never stored. */
  id: string;
  tenantId: string;
  /** The screen's venue; absent in rows of earlier versions, which had no tokens that ask for it. */
  venueId?: string;
  screenId: string;
  /** `pending` also past `expiresAt`: `codeStatusAt` tells. */
  state: 'pending' | 'used' | 'cancelled';
  createdAt: number;
  expiresAt: number;
  usedAt: number | null;
  cancelledAt: number | null;
  deviceId: string | null;
  /** The config that the registration answered, so that a repeat answers the same bytes. */
  answeredConfig: ConfigBody | null;
}

/** The newest playlist version of a screen (`id` of the row: the screen's), and the form of past ones (`id`: `<screenId>/<version>`). */
export interface Playlist {
  id: string;
  screenId: string;
  tenantId: string;
  /** The playlist's own id, the same for all versions of a screen. */
  playlistId: string;
  version: number;
  /** `active` also past `validUntil`: `playlistStatusAt` tells. */
  state: 'active' | 'superseded' | 'withdrawn';
  /** The items as JSON text, held once and sent as they are. */
  items: string;
  /** As the publisher gave it. */
  validUntil: number | null;
  publishedAt: number;
  /** Where it came from. */
  origin: 'published' | 'on-demand';
  /** Of one from the on-demand source: since when that says that there is none; absent while it does not. */
  noneSince?: number;
}

export type ConfigLevel = 'screen' | 'venue' | 'tenant';

/** The stored config of one level; `id` is `<level>/<owner's id>`. */
export interface StoredConfig {
  id: string;
  tenantId: string;
  level: ConfigLevel;
  ownerId: string;
  config: ConfigBody;
  updatedAt: number;
}

/**
 * What is still to be written to the object store: the newest version of a screen's playlist, or its end (`id`: the screen's), or a stored config, or that
 * there is none any more (`id`: the config's).
 */
export interface MirrorPending {
  id: string;
  tenantId: string;
  /** When the oldest of the changes was made that the object store lacks. */
  queuedAt: number;
}

/** The object store that has, or is about to get, a copy of every playlist (`id`: `current`), or config (`configs`); its location is empty when there was one and is none now. */
interface MirrorTarget {
  id: string;
  location: string;
}

/** Who did something: a management token, a TV, or the service itself. */
export interface Actor {
  kind: 'token' | 'device' | 'system';
  id: string | null;
  name: string | null;
}

export interface AuditEntry {
  id: string;
  tenantId: string | null;
  at: number;
  actor: Actor;
  /** Subject and verb: `screen.create`. */
  action: string;
  subject: { kind: string; id: string | null };
  address: string | null;
  requestId: string | null;
  details: AuditDetails;
  /** The venues that it is about; absent where that is the tenant as a whole, and in entries of earlier versions. */
  venueIds?: readonly string[];
}

/** What is noted of a device's latest doings: in memory, written at most once a minute. */
export interface LastActivity {
  lastSeenAt?: number;
  lastAddress?: string | null;
  lastPlaylistAt?: number;
  lastPlaylistVersion?: number | null;
  lastPlaylistStatus?: number;
  lastConfigAt?: number;
  lastEventAt?: number;
  /** A call with a key of it that is dead. */
  lastRefusedAt?: number;
}

/** Likewise of a token. */
export interface TokenActivity {
  lastUsedAt?: number;
}

/** What one source of unknown codes has tried, or several together. Not a row: kept for a while, and not for sure. */
export interface GuessCounter {
  /** When it sent them, within the window that counts. */
  times: readonly number[];
  /** Until when it was last told to wait, and for how long. */
  waitUntil: number;
  waitMs: number;
  /** From then on none of it counts. */
  forgetAt: number;
  /** When a credential of a tenant worked there, by the tenant's id; as told by the instances, which is seldom. */
  vouched?: Readonly<Record<string, number>>;
}

/** All tables by name. */
export interface Rows {
  tenants: Tenant;
  tokens: Token;
  venues: Venue;
  screens: Screen;
  devices: Device;
  deviceKeys: DeviceKey;
  codes: PairingCode;
  playlists: Playlist;
  pastPlaylists: Playlist;
  configs: StoredConfig;
  mirrorPending: MirrorPending;
  mirrorTargets: MirrorTarget;
}

export type TableName = keyof Rows;
