import type { Playlist } from '../../domain/records/rows.ts';

/** A playlist as sent to TVs, with its strong ETag. */
export interface RenderedPlaylist {
  etag: string;
  bytes: Buffer;
}

/** The members that a body depends on, besides its screen. */
type Identity = Pick<Playlist, 'playlistId' | 'version' | 'publishedAt'>;
type CacheEntry = RenderedPlaylist & Identity & { validUntil: number };

/** Enough for 10,000 TVs with ten items each. Larger fleets keep the most recent ones. */
const defaultLimitBytes = 32 * 1024 * 1024;

function render(row: Playlist, validUntil: number): CacheEntry {
  const { playlistId, tenantId, screenId, version, publishedAt, items } = row;
  const status = 'active';
  const head = { id: playlistId, tenantId, screenId, status, version, validUntil };
  return {
    playlistId,
    version,
    publishedAt,
    validUntil,
    // Contains everything that the body depends on.
    etag: `"${playlistId}.${version}.${validUntil}"`,
    bytes: Buffer.from(`${JSON.stringify(head).slice(0, -1)},"items":${items}}`),
  };
}

const isOf = (row: Playlist, { playlistId, version, publishedAt }: Identity) =>
  row.playlistId === playlistId && row.version === version && row.publishedAt === publishedAt;

/**
 * Renders playlists, and caches the latest one of each screen. `validUntil` is in Unix epoch
 * seconds.
 *
 * @param limitBytes limit of the cache; the oldest entries are evicted
 */
export function makeRenderedPlaylists(limitBytes = defaultLimitBytes) {
  const cache = new Map<string, CacheEntry>();
  let totalBytes = 0;

  function evict(screenId: string): void {
    totalBytes -= cache.get(screenId)?.bytes.length ?? 0;
    cache.delete(screenId);
  }

  return (row: Playlist, validUntil: number): RenderedPlaylist => {
    const cached = cache.get(row.screenId);
    if (cached && cached.validUntil === validUntil && isOf(row, cached)) return cached;
    evict(row.screenId);
    const rendered = render(row, validUntil);
    cache.set(row.screenId, rendered);
    totalBytes += rendered.bytes.length;
    for (const oldest of cache.keys()) {
      if (totalBytes <= limitBytes) break;
      evict(oldest);
    }
    return rendered;
  };
}
