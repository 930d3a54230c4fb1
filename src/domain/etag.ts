import { hash } from 'node:crypto';
import { SignageError } from './error.ts';
import type { ConfigBody } from './records/config.ts';
import type { Playlist, Screen, Venue } from './records/rows.ts';
import type { StoredSchedule } from './schedule/rows.ts';
import type { Webhook } from './webhooks/rows.ts';

type WebhookMember = 'id' | 'name' | 'url' | 'types' | 'venueIds' | 'state';
type VenueMember = 'id' | 'name' | 'address' | 'timezone' | 'hours' | 'labels';

/**
 * Serialises to JSON with the members of objects sorted by name, because databases reorder them.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
}

function tagOf(content: unknown): string {
  return `"${hash('sha256', canonicalJson(content), 'base64url').slice(0, 27)}"`;
}

/**
 * ETags of the records that can be changed. An ETag changes with the writable members. Members that
 * change on their own, such as `lastUsedAt` or `state`, do not affect it (docs/protocol.md §5.10).
 */
export const revision = {
  tenant: ({ id, name }: { id: string; name: string }) => tagOf([id, name]),
  token: ({ id }: { id: string }) => tagOf([id]),
  venue: ({ id, name, address, timezone, hours, labels }: Pick<Venue, VenueMember>) =>
    tagOf([id, name, address, timezone, hours, labels]),
  screen: ({ id, name, hours, labels }: Pick<Screen, 'id' | 'name' | 'hours' | 'labels'>) =>
    tagOf([id, name, hours, labels]),
  webhook: (row: Pick<Webhook, WebhookMember>) =>
    tagOf([row.id, row.name, row.url, row.types, row.venueIds, row.state]),
  config: (config: ConfigBody) => tagOf(config),
  schedule: ({ entries }: Pick<StoredSchedule, 'entries'>) => tagOf(entries),
  playlist: (row: PlaylistVersion) => `"${versionTag(row)}"`,
};

type PlaylistVersion = Pick<Playlist, 'playlistId' | 'version' | 'publishedAt'>;

/**
 * Returns a text that identifies one version of a playlist. The content of a version never changes.
 * After a restore, new versions reuse the numbers of lost ones. The result therefore includes the
 * time of publication.
 */
function versionTag({ playlistId, version, publishedAt }: PlaylistVersion): string {
  return `${playlistId}.${version}.${publishedAt}`;
}

/** Returns the ETag of a playlist as a TV gets it. `validUntil`: Unix epoch seconds. */
export function servedPlaylistEtag(row: PlaylistVersion, validUntil: number): string {
  return `"${versionTag(row)}.${validUntil}"`;
}

/** Returns the ETag of a playlist whose URLs depend on the address of the service. */
export function etagAt(etag: string, baseUrl: string): string {
  return `${etag.slice(0, -1)}.${hash('sha256', baseUrl, 'base64url').slice(0, 10)}"`;
}

/** The headers `If-Match` and `If-None-Match` of a request (RFC 9110 §13.1). */
export interface Precondition {
  ifMatch?: string | undefined;
  ifNoneMatch?: string | undefined;
}

const tagsOf = (header: string) => header.split(',').map((tag) => tag.trim());

/**
 * Returns whether `If-Match` matches an ETag: it is `*`, or names the ETag in strong comparison
 * (RFC 9110 §13.1.1).
 */
function matchesStrongly(ifMatch: string, etag: string | undefined): boolean {
  return etag !== undefined && (ifMatch.trim() === '*' || tagsOf(ifMatch).includes(etag));
}

/**
 * Returns whether `If-None-Match` matches an ETag: it is `*`, or names the ETag in weak comparison
 * (RFC 9110 §13.1.2).
 */
export function matchesWeakly(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag) return true;
  // Node joins repeated headers with a comma, so `*` may be one entry of a list.
  return tagsOf(ifNoneMatch).some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag);
}

/**
 * Evaluates the preconditions of a read (RFC 9110 §13.2.2). Returns whether the reader has the
 * current representation, so that the answer is 304. Throws `precondition_failed` if `If-Match`
 * names only other ETags.
 */
export function isUnchanged({ ifMatch, ifNoneMatch }: Precondition, etag: string): boolean {
  if (ifMatch !== undefined && !matchesStrongly(ifMatch, etag))
    throw new SignageError(
      'precondition_failed',
      `If-Match does not name the current ETag, ${etag}. Read without If-Match to get it.`,
    );
  return matchesWeakly(ifNoneMatch, etag);
}

/**
 * Evaluates the preconditions of a change (RFC 9110 §13.2.2). Throws `precondition_failed` if they
 * do not hold for the current record. Call it inside the transaction of the change.
 *
 * @param etag of the current record; `undefined` if there is none
 */
export function checkPrecondition(
  { ifMatch, ifNoneMatch }: Precondition,
  etag: string | undefined,
): void {
  if (ifMatch !== undefined && !matchesStrongly(ifMatch, etag)) {
    throw new SignageError(
      'precondition_failed',
      etag === undefined
        ? 'If-Match needs an existing record, and there is none. Nothing was changed.'
        : 'The record has changed since it was read, so nothing was changed. Read it again.',
    );
  }
  if (etag !== undefined && matchesWeakly(ifNoneMatch, etag))
    throw new SignageError(
      'precondition_failed',
      'If-None-Match names the existing record, so nothing was changed.',
    );
}
