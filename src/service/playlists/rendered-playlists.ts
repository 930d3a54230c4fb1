import type { Playlist } from '../../domain/records/rows.ts';
import { type BodyBytes, bodyBytes } from './body-bytes.ts';

interface RenderedPlaylist {
  validUntil: number;
  bytes: BodyBytes;
}

/** Enough for 10,000 TVs with ten items each. Larger fleets keep the most recent ones. */
const defaultLimitBytes = 32 * 1024 * 1024;

function render(
  { playlistId: id, tenantId, screenId, version, items }: Playlist,
  validUntil: number,
): BodyBytes {
  const head = JSON.stringify({ id, tenantId, screenId, status: 'active', version, validUntil });
  return bodyBytes(`${head.slice(0, -1)},"items":${items}}`);
}

/**
 * Renders playlists to response bodies, and caches them. Only frozen rows are cached: the embedded
 * store returns the same frozen object each time, a database never does.
 *
 * @param limitBytes limit of the cache; the oldest entries are evicted
 */
export function makeRenderedPlaylists(limitBytes = defaultLimitBytes) {
  const cache = new Map<Playlist, RenderedPlaylist>();
  let totalBytes = 0;

  function evict(row: Playlist): void {
    totalBytes -= cache.get(row)?.bytes.length ?? 0;
    cache.delete(row);
  }

  return (row: Playlist, validUntil: number): BodyBytes => {
    const cached = cache.get(row);
    if (cached?.validUntil === validUntil) return cached.bytes;
    const bytes = render(row, validUntil);
    if (!Object.isFrozen(row)) return bytes;
    evict(row);
    cache.set(row, { validUntil, bytes });
    totalBytes += bytes.length;
    for (const [oldest] of cache) {
      if (totalBytes <= limitBytes) break;
      evict(oldest);
    }
    return bytes;
  };
}
