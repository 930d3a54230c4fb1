import { z } from 'zod';
import { storedExceptions, storedHours } from '../hours/hours.ts';
import { configBody } from './config.ts';
import { shownDeviceInfo } from './device.ts';
import { roles } from './role.ts';

/**
 * The rows of stores. Times are Unix epoch milliseconds, missing values are `null`, and ids are
 * lower-case UUIDs except where noted. An unknown member is damage.
 */
const text = z.string();
const time = z.number();
const labels = z.record(text, text);
/** Without exceptions, the row lacks the member, as rows of 0.1.0 do. */
const openingHours = {
  hours: storedHours.nullable(),
  hoursExceptions: storedExceptions.optional(),
};
const deviceInfo = z.strictObject(shownDeviceInfo.shape);

export const tenantRow = z.strictObject({ id: text, name: text, createdAt: time, updatedAt: time });
export type Tenant = z.infer<typeof tenantRow>;

export const tokenRow = z.strictObject({
  id: text,
  /** `null` for a platform token, which belongs to no tenant. */
  tenantId: text.nullable(),
  name: text,
  role: z.enum(roles),
  /** SHA-256 of the current secret, in hex. */
  hash: text,
  createdAt: time,
  /**
   * True for the token from `SIGNAGE_ADMIN_TOKEN`. A changed `SIGNAGE_ADMIN_TOKEN` replaces this
   * token.
   */
  bootstrap: z.boolean(),
  /** Time from which the token is rejected. `null`: never. */
  expiresAt: time.nullable(),
  /** The venues that the token is bound to. `null`: the whole tenant. Deleted venues stay. */
  venueIds: z.array(text).readonly().nullable(),
  /**
   * Time of the first request that the current secret authenticated. `null`: none yet, so the
   * response with the secret can still be repeated. The time of creation if that response is never
   * repeated.
   */
  firstUsedAt: time.nullable(),
  /**
   * The secret that a rotation replaced. It works until the first use of its successor, at most
   * until `until`.
   */
  retiring: z.strictObject({ hash: text, until: time }).nullable(),
});
export type Token = z.infer<typeof tokenRow>;

export const venueRow = z.strictObject({
  id: text,
  tenantId: text,
  name: text,
  address: text.nullable(),
  timezone: text.nullable(),
  ...openingHours,
  labels,
  createdAt: time,
  updatedAt: time,
});
export type Venue = z.infer<typeof venueRow>;

export const screenRow = z.strictObject({
  id: text,
  tenantId: text,
  venueId: text,
  name: text,
  ...openingHours,
  labels,
  state: z.enum(['provisioning', 'active']),
  /** Id of the bound device, if the screen is active. */
  deviceId: text.nullable(),
  /** Serial number of the TV that it expects. */
  serial: text.optional(),
  createdAt: time,
  updatedAt: time,
});
export type Screen = z.infer<typeof screenRow>;

export const deviceRow = z.strictObject({
  id: text,
  tenantId: text,
  venueId: text,
  screenId: text,
  state: z.enum(['bound', 'suspended']),
  deviceInfo,
  createdAt: time,
  suspendedAt: time.nullable(),
  suspendReason: text.nullable(),
  /** Whether its code was created for a simulated TV. */
  simulated: z.boolean(),
});
export type Device = z.infer<typeof deviceRow>;

/**
 * A device key. It is kept after its device is deleted, so that requests with it get
 * `device_key_orphaned`.
 */
export const deviceKeyRow = z.strictObject({
  id: text,
  tenantId: text,
  deviceId: text,
  screenId: text,
  /** SHA-256 of the key, in hex. */
  hash: text,
  state: z.enum(['active', 'retiring', 'revoked']),
  createdAt: time,
  /**
   * Time of the first request that the key authenticated. `null`: none yet. From this time on, the
   * response with the key is not repeated.
   */
  firstUsedAt: time.nullable(),
  revokedAt: time.nullable(),
});
export type DeviceKey = z.infer<typeof deviceKeyRow>;

export const codeRow = z.strictObject({
  /** HMAC of the code (`hashCode`), in hex. The code itself is never stored. */
  id: text,
  tenantId: text,
  venueId: text,
  screenId: text,
  /** Stays `pending` after `expiresAt`: see `codeStatusAt`. */
  state: z.enum(['pending', 'used', 'cancelled']),
  createdAt: time,
  expiresAt: time,
  usedAt: time.nullable(),
  cancelledAt: time.nullable(),
  deviceId: text.nullable(),
  /**
   * The config in the response to the registration, so that a repeated response has the same bytes.
   * `null` until the code is used.
   */
  answeredConfig: configBody.nullable(),
  /** Whether the device that uses the code is a simulated TV. */
  simulated: z.boolean(),
  /** Id of the ticket with which the TV asked for it. */
  ticketId: text.optional(),
});
export type PairingCode = z.infer<typeof codeRow>;

/**
 * The items of playlists. All versions and screens of a tenant with the same items share one row
 * (`contentId`), which never changes.
 */
export const contentRow = z.strictObject({
  id: text,
  tenantId: text,
  /** The items as JSON text, sent without parsing. */
  items: text,
});
export type Content = z.infer<typeof contentRow>;

/** A row of `contents` whose items take many bytes, which count for its tenant. */
export const largeContentRow = z.strictObject({ id: text, tenantId: text, bytes: z.number() });

/** Items that perhaps only past versions name. They may be in `contents` as well. */
export const pastContentRow = contentRow.extend({ movedAt: time });

/** The name of a creative, as items name it. `id` is `<tenant id>/<creative id>`. */
export const nameRow = z.strictObject({ id: text, tenantId: text, name: text });

/** A campaign. `id` is `<tenant id>/<campaign id>`. The row lacks what nobody has booked. */
export const campaignRow = nameRow.extend({
  client: text.optional(),
  /** The first booked day of the venues, and the day after the last one. */
  from: text.optional(),
  to: text.optional(),
  bookedPlays: z.number().optional(),
  bookedSeconds: z.number().optional(),
});
export type Campaign = z.infer<typeof campaignRow>;

/**
 * A playlist version. The newest version of a screen has the screen's id, and a past one has the id
 * `<screenId>/<version>`.
 */
export const playlistRow = z.strictObject({
  id: text,
  screenId: text,
  tenantId: text,
  /** Id of the playlist, which is the same for all versions of a screen. */
  playlistId: text,
  version: z.number(),
  /**
   * The kept past versions, newest first. Switches of schedules take numbers, too, so versions may
   * have gaps. Empty in a past version.
   */
  past: z.array(z.number()).readonly(),
  /** Stays `active` after `validUntil`: see `playlistStatusAt`. */
  state: z.enum(['active', 'superseded', 'withdrawn']),
  /** Id of the row with the items. */
  contentId: text,
  /** Whether items name files of the service, whose URLs depend on the address of the service. */
  hasMedia: z.boolean(),
  /** Expiry that the publisher gave, if any. */
  validUntil: time.nullable(),
  publishedAt: time,
  origin: z.enum(['published', 'on-demand']),
  /** Time since which the on-demand source has reported no playlist. `null`: the source has one. */
  noneSince: time.nullable(),
});
export type Playlist = z.infer<typeof playlistRow>;

/**
 * The stored config of one screen, venue or tenant. `id` is the level and the id of that record,
 * such as `venue/<id>`.
 */
export const configRow = z.strictObject({
  id: text,
  tenantId: text,
  level: z.enum(['screen', 'venue', 'tenant']),
  ownerId: text,
  config: configBody,
  updatedAt: time,
});
export type StoredConfig = z.infer<typeof configRow>;
export type ConfigLevel = StoredConfig['level'];

/**
 * A record that was created with an `Idempotency-Key` (docs/protocol.md §5.11). The response is
 * not stored, and secrets are derived again.
 */
export const creationRow = z.strictObject({
  id: text,
  /** The token that created the record. */
  tokenId: text,
  /** HMAC of tenant, token, operation and `Idempotency-Key`, in hex. */
  request: text,
  /** HMAC of the request body, in hex. */
  body: text,
  recordId: text,
  createdAt: time,
});
export type Creation = z.infer<typeof creationRow>;

/** A TV that shows a claim, and waits for an installer (docs/protocol.md §3.6). */
export const claimRow = z.strictObject({
  /** The text that the TV shows. */
  id: text,
  /** SHA-256 of the TV's secret, in hex. */
  tokenHash: text,
  deviceInfo,
  /** The TV's address. `null`: unknown. */
  address: text.nullable(),
  /** The claims of one shard are counted together. */
  shard: text,
  /** The IPv4 address or IPv6 /48 of the TV, or `unknown`. */
  network: text,
  /** The tenant whose share the claim uses. `null`: no tenant trusts the address. */
  share: text.nullable(),
  state: z.enum(['waiting', 'offered']),
  createdAt: time,
  expiresAt: time,
  /** `null` while waiting. The pairing code is derived from `id`. `codeId` is the id of its row. */
  offer: z.strictObject({ id: text, codeId: text, screenId: text, tenantId: text }).nullable(),
  /** The ticket of the TV, with its tenant and venue. Absent without a ticket. */
  ticketId: text.optional(),
  tenantId: text.optional(),
  venueId: text.optional(),
});
export type Claim = z.infer<typeof claimRow>;

/** Somebody without a credential who waits for a token (docs/protocol.md §5.20). */
export const loginRow = z.strictObject({
  /** The code that the asker reads out to an admin. */
  id: text,
  /** SHA-256 of the asker's secret, in hex. */
  tokenHash: text,
  /** What the asker says of itself. */
  user: text,
  host: text,
  ...claimRow.pick({ address: true, shard: true, network: true, share: true }).shape,
  createdAt: time,
  expiresAt: time,
  /**
   * The token that an admin of the tenant gave. `null` while waiting. Until the asker reads it, its
   * row has `hash`, whose secret nobody knows.
   */
  grant: z.strictObject({ tokenId: text, tenantId: text, hash: text }).nullable(),
});
export type Login = z.infer<typeof loginRow>;

/** What is known about the clock of the store: a single row, with the id `clock`. */
export const clockRow = z.strictObject({
  id: text,
  /** The newest time that is no error of the clock. */
  confirmedAt: time,
  /** The first time after a jump, while the clock waits to be believed. */
  steadySince: time.nullable(),
  /** Running time since then, in milliseconds. */
  ranMs: time,
  /** Time of the last look at the clock. */
  lookedAt: time,
  /** Whether it went back by more than an hour, and is not believed yet. */
  wentBack: z.boolean(),
  /** Time at which a clock that was never set, or had gone back, leapt forwards. */
  setAt: time.nullable(),
  /** Time since which past inputs are kept. Missing in data of 0.1.0. */
  inputsSince: time.optional(),
});
export type ClockRow = z.infer<typeof clockRow>;
