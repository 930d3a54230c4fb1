import type { Playlist } from '../../domain/records/rows.ts';
import { type BodyBytes, bodyBytes } from './body-bytes.ts';

interface Held {
  validUntil: number;
  bytes: BodyBytes;
}

/** Of a herd of 10,000 TVs with ten items each, all; of a larger fleet, those that were asked for last. */
const mostBytes = 32 * 1024 * 1024;

function render(
  { playlistId: id, tenantId, screenId, version, items }: Playlist,
  validUntil: number,
): BodyBytes {
  const head = JSON.stringify({ id, tenantId, screenId, status: 'active', version, validUntil });
  return bodyBytes(`${head.slice(0, -1)},"items":${items}}`);
}

/**
 * What TVs get of a playlist, as the bytes that go out. Kept for rows that are frozen, which is how the embedded store hands out the ones it holds; those of a
 * database are never the same twice.
 *
 * @param limitBytes beyond which those go that were made first
 */
export function makeRenderedPlaylists(limitBytes = mostBytes) {
  const held = new Map<Playlist, Held>();
  let total = 0;

  function drop(row: Playlist): void {
    total -= held.get(row)?.bytes.length ?? 0;
    held.delete(row);
  }

  return (row: Playlist, validUntil: number): BodyBytes => {
    const before = held.get(row);
    if (before?.validUntil === validUntil) return before.bytes;
    const bytes = render(row, validUntil);
    if (!Object.isFrozen(row)) return bytes;
    drop(row);
    held.set(row, { validUntil, bytes });
    total += bytes.length;
    for (const [oldest] of held) {
      if (total <= limitBytes) break;
      drop(oldest);
    }
    return bytes;
  };
}
