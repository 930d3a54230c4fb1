import type { ConfigBody } from './config.ts';
import type { DeviceInfo } from './device.ts';
import type { Role } from './role.ts';

/**
 * The rows of stores. Times are Unix epoch milliseconds, missing values are `null`, and ids are
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
  /** SHA-256 of the current secret, in hex. */
  hash: string;
  createdAt: number;
  /**
   * True for the token from `SIGNAGE_ADMIN_TOKEN`. A changed `SIGNAGE_ADMIN_TOKEN` replaces this
   * token.
   */
  bootstrap: boolean;
  /** Time from which the token is rejected. Absent or `null`: never. */
  expiresAt?: number | null;
  /**
   * The venues that the token is bound to. Absent or `null`: the whole tenant. Deleted venues
   * remain listed.
   */
  venueIds?: readonly string[] | null;
  /**
   * Time of the first request that the current secret authenticated. `null`: none yet, so the
   * response with the secret can still be repeated. Absent: not recorded, because that response is
   * never repeated.
   */
  firstUsedAt?: number | null;
  /**
   * The secret that a rotation replaced. It works until the first use of its successor, at most
   * until `until`. Absent or `null` without a replaced secret.
   */
  retiring?: { hash: string; until: number } | null;
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
  /** Id of the bound device, if the screen is active. */
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
  /** Whether its code was created for a simulated TV. Absent: no. */
  simulated?: boolean;
}

/**
 * A device key. It is kept after its device is deleted, so that requests with it get
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
   * Time of the first request that the key authenticated. `null`: none yet. From this time on, the
   * response with the key is not repeated.
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
  /** Stays `pending` after `expiresAt`: see `codeStatusAt`. */
  state: 'pending' | 'used' | 'cancelled';
  createdAt: number;
  expiresAt: number;
  usedAt: number | null;
  cancelledAt: number | null;
  deviceId: string | null;
  /**
   * The config in the response to the registration, so that a repeated response has the same bytes.
   * `null` until the code is used.
   */
  answeredConfig: ConfigBody | null;
  /** Whether the device that uses the code is a simulated TV. Absent: no. */
  simulated?: boolean;
}

/**
 * A playlist version. The newest version of a screen has the screen's id, and a past one has the id
 * `<screenId>/<version>`.
 */
export interface Playlist {
  id: string;
  screenId: string;
  tenantId: string;
  /** Id of the playlist, which is the same for all versions of a screen. */
  playlistId: string;
  version: number;
  /** Stays `active` after `validUntil`: see `playlistStatusAt`. */
  state: 'active' | 'superseded' | 'withdrawn';
  /** The items as JSON text, sent without parsing. */
  items: string;
  /** Expiry that the publisher gave, if any. */
  validUntil: number | null;
  publishedAt: number;
  /** Source of the playlist. */
  origin: 'published' | 'on-demand';
  /**
   * Time since which the on-demand source has reported no playlist. Absent if the source has one.
   */
  noneSince?: number;
}

export type ConfigLevel = 'screen' | 'venue' | 'tenant';

/**
 * The stored config of one screen, venue or tenant. `id` is the level and the id of that record,
 * such as `venue/<id>`.
 */
export interface StoredConfig {
  id: string;
  tenantId: string;
  level: ConfigLevel;
  ownerId: string;
  config: ConfigBody;
  updatedAt: number;
}

/**
 * A record that was created with an `Idempotency-Key` (docs/protocol.md §5.11). The response is
 * not stored, and secrets are derived again.
 */
export interface Creation {
  id: string;
  /** The token that created the record. */
  tokenId: string;
  /** HMAC of tenant, token, operation and `Idempotency-Key`, in hex. */
  request: string;
  /** HMAC of the request body, in hex. */
  body: string;
  /** Id of the created row. */
  recordId: string;
  createdAt: number;
}

/** A TV that shows a claim, and waits for an installer (docs/protocol.md §3.6). */
export interface Claim {
  /** The text that the TV shows. */
  id: string;
  /** SHA-256 of the TV's secret, in hex. */
  tokenHash: string;
  deviceInfo: DeviceInfo;
  /** The TV's address. `null`: unknown. */
  address: string | null;
  /** The claims of one shard are counted together. */
  shard: string;
  /** The IPv4 address or IPv6 /48 of the TV, or `unknown`. */
  network: string;
  /** The tenant whose share the claim uses. `null`: no tenant trusts the address. */
  share: string | null;
  state: 'waiting' | 'offered';
  createdAt: number;
  expiresAt: number;
  /** `null` while waiting. The pairing code is derived from `id`. `codeId` is the id of its row. */
  offer: { id: string; codeId: string; screenId: string; tenantId: string } | null;
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
  creations: Creation;
  claims: Claim;
}

export type TableName = keyof Rows;
