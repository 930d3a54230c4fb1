import { hash } from 'node:crypto';
import { SignageError } from '../error.ts';
import { canonicalJson } from '../json/canonical-json.ts';
import type { CampaignView } from '../playlists/campaign-record.ts';
import type { ConfigBody } from '../records/config.ts';
import type { Playlist, Screen, Venue } from '../records/rows.ts';
import { screenSettings } from '../records/screen.ts';
import { venueSettings } from '../records/venue.ts';
import type { StoredSchedule, StoredTakeover } from '../schedule/rows.ts';
import type { Webhook } from '../webhooks/rows.ts';

type WebhookMember = 'id' | 'name' | 'url' | 'types' | 'venueIds' | 'state';
type PlaceSettings = Pick<Screen, 'id' | 'name' | 'hours' | 'labels'>;

/** Settings of 0.1.0. Without others, an ETag is that of a version that does not know them. */
const first = ['address', 'timezone', 'hours'];

/** Returns the other settings that a record has, with their names, in the order of `settings`. */
const furtherSettings = (settings: object, record: object): unknown[] =>
  Object.keys(settings)
    .filter((name) => !first.includes(name))
    .map((name) => [name, (record as Readonly<Record<string, unknown>>)[name]])
    .filter(([, value]) => value != null);

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
  venue: (row: PlaceSettings & Pick<Venue, 'address' | 'timezone'>) =>
    tagOf([
      ...[row.id, row.name, row.address, row.timezone, row.hours, row.labels],
      ...furtherSettings(venueSettings, row),
    ]),
  screen: (row: PlaceSettings) =>
    tagOf([row.id, row.name, row.hours, row.labels, ...furtherSettings(screenSettings, row)]),
  webhook: (row: Pick<Webhook, WebhookMember>) =>
    tagOf([row.id, row.name, row.url, row.types, row.venueIds, row.state]),
  config: (config: ConfigBody) => tagOf(config),
  campaign: (view: CampaignView) => tagOf(view),
  schedule: ({ entries }: Pick<StoredSchedule, 'entries'>) => tagOf(entries),
  takeover: ({ contentId, until }: Pick<StoredTakeover, 'contentId' | 'until'>) =>
    tagOf([contentId, until]),
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

/** What web servers append to an ETag when they compress an answer: `"…-gzip"`. */
const codingSuffix = /^(?:--?|[;:])(?:gzip|br|zstd|deflate)"$/;

/** Returns whether the tag is the ETag, with or without the suffix of a coding. */
function isTagOf(tag: string, etag: string): boolean {
  const opaque = etag.slice(0, -1);
  return tag === etag || (tag.startsWith(opaque) && codingSuffix.test(tag.slice(opaque.length)));
}

/**
 * Returns whether `If-Match` matches an ETag: it is `*`, or names the ETag in strong comparison
 * (RFC 9110 §13.1.1).
 */
function matchesStrongly(ifMatch: string, etag: string | undefined): boolean {
  return etag !== undefined && (ifMatch.trim() === '*' || tagsOf(ifMatch).includes(etag));
}

/** Like `matchesStrongly`, and an ETag may have the suffix of a content coding. */
export const matchesRevision = (ifMatch: string, etag: string | undefined) =>
  matchesStrongly(ifMatch, etag) ||
  (etag !== undefined && tagsOf(ifMatch).some((tag) => isTagOf(tag, etag)));

/**
 * Returns whether `If-None-Match` matches an ETag: it is `*`, or names the ETag in weak comparison
 * (RFC 9110 §13.1.2).
 */
export function matchesWeakly(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag) return true;
  // Node joins repeated headers with a comma, so `*` may be one entry of a list.
  return tagsOf(ifNoneMatch).some((tag) => tag === '*' || isTagOf(tag.replace(/^W\//, ''), etag));
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
  // An ETag of a record is a revision, whatever the coding of its answer was.
  if (ifMatch !== undefined && !matchesRevision(ifMatch, etag)) {
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
