import { BoundedMap } from '../domain/bounded-map.ts';
import { SignageError } from '../domain/error.ts';
import { servedPlaylistEtag } from '../domain/etag.ts';
import { servedValidUntilSeconds } from '../domain/records/playlist.ts';
import type { Playlist } from '../domain/records/rows.ts';
import type { RenderedPlaylist } from './origin.ts';

const states = ['active', 'superseded', 'withdrawn'];

/**
 * The items are not parsed: they were valid when they were published, and checksums detect damage
 * of a document. Checking both brackets detects truncated text.
 */
function isPlaylist({ version, playlistId, items, state }: Playlist): boolean {
  return (
    Number.isSafeInteger(version) &&
    version >= 1 &&
    typeof playlistId === 'string' &&
    typeof items === 'string' &&
    items.startsWith('[') &&
    items.endsWith(']') &&
    states.includes(state)
  );
}

/**
 * Returns the row if it can be served. Throws `origin_bad_answer` for a damaged row, so that only
 * its screen fails, and not the whole store.
 */
export function validPlaylist(row: Playlist): Playlist {
  if (isPlaylist(row)) return row;
  throw new SignageError(
    'origin_bad_answer',
    'The row of this screen in the store is not a valid playlist.',
  );
}

/** Members of a row that determine the rendered body, in addition to the screen. */
type Identity = Pick<Playlist, 'playlistId' | 'version' | 'publishedAt'>;
/** `validUntil` is in Unix epoch seconds. */
type CacheEntry = RenderedPlaylist & Identity & { validUntil: number };

/** Memory for playlists of 10,000 TVs with ten items each. */
const defaultLimitBytes = 32 * 1024 * 1024;

function render(row: Playlist, validUntil: number): CacheEntry {
  const { playlistId, tenantId, screenId, version, publishedAt, items } = validPlaylist(row);
  const status = 'active';
  const head = { id: playlistId, tenantId, screenId, status, version, validUntil };
  return {
    playlistId,
    version,
    publishedAt,
    validUntil,
    // The body depends only on the members that the ETag contains.
    etag: servedPlaylistEtag(row, validUntil),
    bytes: Buffer.from(`${JSON.stringify(head).slice(0, -1)},"items":${items}}`),
  };
}

const isOf = (row: Playlist, { playlistId, version, publishedAt }: Identity) =>
  row.playlistId === playlistId && row.version === version && row.publishedAt === publishedAt;

/** Renders an active playlist at a time. Throws `origin_bad_answer` for a damaged row. */
export type RenderPlaylist = (row: Playlist, nowMs: number) => RenderedPlaylist;

/**
 * Validates and renders playlists. Caches the latest rendering for screens that are read often.
 *
 * @param limitBytes limit of the cache
 */
export function makeRenderedPlaylists(limitBytes = defaultLimitBytes): RenderPlaylist {
  const cache = new BoundedMap<string, CacheEntry>(limitBytes / 2, ({ bytes }) => bytes.length);
  return (row, nowMs) => {
    const validUntil = servedValidUntilSeconds(row, nowMs);
    const cached = cache.get(row.screenId);
    if (cached && cached.validUntil === validUntil && isOf(row, cached)) return cached;
    const rendered = render(row, validUntil);
    cache.offer(row.screenId, rendered);
    return rendered;
  };
}
