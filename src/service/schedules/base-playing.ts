import { playlistStatusAt } from '../../domain/playlists/playlist.ts';
import type { Screen } from '../../domain/records/rows.ts';
import type { Reader } from '../../store/store.ts';
import { readLayers } from './layers.ts';
import { hasLayers, planOf } from './plan-of-screen.ts';

/** Whether TVs play the playlist of a screen now, and no layer above it. Not for changes. */
export async function isBasePlaying(
  reader: Pick<Reader, 'get'>,
  screen: Pick<Screen, 'id' | 'venueId'>,
  nowMs: number,
): Promise<boolean> {
  const [row, layers] = await Promise.all([
    reader.get('playlists', screen.id),
    readLayers(reader, screen),
  ]);
  if (!row || playlistStatusAt(row, nowMs) !== 'active') return false;
  if (!hasLayers(layers, nowMs)) return true;
  const { spans } = await planOf(reader, screen, { layers, base: row, nowMs });
  return spans[0].playable?.entryId === null;
}
