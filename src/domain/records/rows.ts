import type { AuditDetails } from './audit.ts';
import type { ConfigBody } from './config.ts';
import type { DeviceInfo } from './device.ts';
import type { Role } from './role.ts';

/**
 * The rows of stores. Times are Unix epoch milliseconds, missing values are `null`, ids are
 * lower-case UUIDs except where noted.
 */
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
  /** True for the token from `SIGNAGE_ADMIN_TOKEN`. A changed value replaces it. */
  bootstrap: boolean;
  /** The token is rejected from then on. Absent or `null`: never. */
  expiresAt?: number | null;
  /**
   * The venues that the token is bound to. Absent or `null`: the whole tenant. Deleted venues
   * remain listed.
   */
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
  /** The bound device, if active. */
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

/**
 * Kept after its device is deleted, so that requests with the key are answered with
 * `device_key_orphaned`.
 */
export interface DeviceKey {
  id: string;
  tenantId: string;
  deviceId: string;
  screenId: string;
  /** SHA-256 of the key, in hex. */
  hash: string;
  state: 'active' | 'retiring' | 'revoked';
  createdAt: number;
  /**
   * Time of the first authenticated request. From then on, the registration's response is not
   * repeated.
   */
  firstUsedAt: number | null;
  revokedAt: number | null;
}

export interface PairingCode {
  /** HMAC of the code (`hashCode`), in hex. The code itself is never stored. */
  id: string;
  tenantId: string;
  /** The venue of the screen. Absent in rows of earlier versions. */
  venueId?: string;
  screenId: string;
  /** Stays `pending` past `expiresAt`; see `codeStatusAt`. */
  state: 'pending' | 'used' | 'cancelled';
  createdAt: number;
  expiresAt: number;
  usedAt: number | null;
  cancelledAt: number | null;
  deviceId: string | null;
  /** The config in the registration's response, so that a repetition returns the same bytes. */
  answeredConfig: ConfigBody | null;
}

/**
 * The newest playlist version of a screen (`id`: the screen's), or a past one (`id`:
 * `<screenId>/<version>`).
 */
export interface Playlist {
  id: string;
  screenId: string;
  tenantId: string;
  /** Id of the playlist, the same for all versions of a screen. */
  playlistId: string;
  version: number;
  /** Stays `active` past `validUntil`; see `playlistStatusAt`. */
  state: 'active' | 'superseded' | 'withdrawn';
  /** The items as JSON text, sent without parsing. */
  items: string;
  /** As given by the publisher. */
  validUntil: number | null;
  publishedAt: number;
  /** Source of the playlist. */
  origin: 'published' | 'on-demand';
  /** Since when the on-demand source has reported no playlist. Absent if it has one. */
  noneSince?: number;
}

export type ConfigLevel = 'screen' | 'venue' | 'tenant';

/** The stored config of one level. `id` is `<level>/<owner's id>`. */
export interface StoredConfig {
  id: string;
  tenantId: string;
  level: ConfigLevel;
  ownerId: string;
  config: ConfigBody;
  updatedAt: number;
}

/**
 * A change still to be written to the object store: a playlist or its withdrawal (`id`: the
 * screen's), or a config or its deletion (`id`: the config's).
 */
export interface MirrorPending {
  id: string;
  tenantId: string;
  /** Time of the oldest change missing in the object store. */
  queuedAt: number;
}

/**
 * The object store with a copy of every playlist (`id`: `current`) or config (`configs`), complete
 * or being filled. `location` is empty if an object store was configured before, but is not now.
 */
interface MirrorTarget {
  id: string;
  location: string;
}

/** The author of a change: a management token, a TV, or the service itself. */
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
  /** Subject and verb, such as `screen.create`. */
  action: string;
  subject: { kind: string; id: string | null };
  address: string | null;
  requestId: string | null;
  details: AuditDetails;
  /**
   * The venues concerned. Absent if the entry concerns the whole tenant, and in entries of earlier
   * versions.
   */
  venueIds?: readonly string[];
}

/** Latest activity of a device. Kept in memory, and written at most once a minute. */
export interface LastActivity {
  lastSeenAt?: number;
  lastAddress?: string | null;
  lastPlaylistAt?: number;
  lastPlaylistVersion?: number | null;
  lastPlaylistStatus?: number;
  lastConfigAt?: number;
  lastEventAt?: number;
  /** Time of the latest request with a revoked or replaced key. */
  lastRefusedAt?: number;
}

/** Latest activity of a token. */
export interface TokenActivity {
  lastUsedAt?: number;
}

/**
 * Guesses of unknown codes by one source, or by a group of sources. Not a row: kept temporarily,
 * and may be lost.
 */
export interface GuessCounter {
  /** Times of the guesses within the window. */
  times: readonly number[];
  /** End and length of the latest lock-out. */
  waitUntil: number;
  waitMs: number;
  /** The counter expires at this time. */
  forgetAt: number;
  /**
   * Time when a credential of a tenant last worked there, by tenant id. Instances share it rarely.
   */
  vouched?: Readonly<Record<string, number>>;
}

/** All tables and their row types. */
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
