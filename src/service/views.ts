import { iso, isoOrNull } from '../domain/clock.ts';
import { type MediaView, mediaPath } from '../domain/media/media.ts';
import type { Media } from '../domain/media/rows.ts';
import { type PlaylistView, playlistStatusAt } from '../domain/playlists/playlist.ts';
import type { TokenActivity } from '../domain/records/activity.ts';
import type { AuditEntry, AuditView } from '../domain/records/audit.ts';
import { codeStatusAt } from '../domain/records/pairing-code.ts';
import type {
  PairingCode,
  Playlist,
  Screen,
  Tenant,
  Token,
  Venue,
} from '../domain/records/rows.ts';
import { type ScreenView, screenSettings } from '../domain/records/screen.ts';
import type { TenantView } from '../domain/records/tenant.ts';
import type { TokenView } from '../domain/records/token.ts';
import { type VenueView, venueSettings } from '../domain/records/venue.ts';
import { settingsView } from './place-settings.ts';

/**
 * Views: records as callers see them, with ISO 8601 times and without secrets (docs/protocol.md
 * §5.3).
 */
export function tenantView(row: Tenant): TenantView {
  return {
    id: row.id,
    name: row.name,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}

/** Expiry and venue binding of a token. */
export function reachView({
  expiresAt,
  venueIds,
}: Pick<Token, 'expiresAt' | 'venueIds'>): Pick<TokenView, 'expiresAt' | 'venueIds'> {
  return { expiresAt: isoOrNull(expiresAt), venueIds: venueIds ? [...venueIds] : null };
}

export function tokenView(row: Token, activity: TokenActivity): TokenView {
  const { id, tenantId, name, role } = row;
  const times = { createdAt: iso(row.createdAt), lastUsedAt: isoOrNull(activity.lastUsedAt) };
  return { id, tenantId, name, role, ...reachView(row), ...times };
}

export function venueView(row: Venue): VenueView {
  const { id, tenantId, name, labels } = row;
  const times = { createdAt: iso(row.createdAt), updatedAt: iso(row.updatedAt) };
  return { id, tenantId, name, ...settingsView(venueSettings, row), labels, ...times };
}

/** `usedBy` is the number of screens whose playlists name the file. */
export function mediaView(row: Media, usedBy: number): MediaView {
  const { fileId, name, type, bytes, createdAt } = row;
  return {
    id: fileId,
    name,
    type,
    bytes,
    url: mediaPath(fileId, type),
    usedBy,
    createdAt: iso(createdAt),
  };
}

/** `newestCode` is the newest code of the screen that has not been purged. */
export function screenView(
  row: Screen,
  newestCode: PairingCode | undefined,
  nowMs: number,
): ScreenView {
  const { id, tenantId, venueId, name, labels, state, deviceId } = row;
  const provisioningCode = newestCode
    ? {
        status: codeStatusAt(newestCode, nowMs),
        createdAt: iso(newestCode.createdAt),
        expiresAt: iso(newestCode.expiresAt),
      }
    : null;
  const times = { createdAt: iso(row.createdAt), updatedAt: iso(row.updatedAt) };
  const place = { id, tenantId, venueId, name, ...settingsView(screenSettings, row), labels };
  return { ...place, state, deviceId, provisioningCode, ...times };
}

export function playlistView(row: Playlist, items: string, nowMs: number): PlaylistView {
  return {
    id: row.playlistId,
    tenantId: row.tenantId,
    screenId: row.screenId,
    status: playlistStatusAt(row, nowMs),
    version: row.version,
    validUntil: row.validUntil === null ? null : Math.floor(row.validUntil / 1000),
    items: JSON.parse(items),
  };
}

export function auditView(row: AuditEntry): AuditView {
  const { id, actor, action, subject, address, requestId, details } = row;
  return { id, at: iso(row.at), actor, action, subject, address, requestId, details };
}
