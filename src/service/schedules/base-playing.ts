import { playlistStatusAt } from '../../domain/records/playlist.ts';
import type { Playlist, Screen } from '../../domain/records/rows.ts';
import type { Reader } from '../../store/store.ts';
import type { ScreenLayers } from './layers.ts';
import { hasLayers, planOf } from './plan-of-screen.ts';

/** Whether TVs play the playlist of a screen now, and no layer above it. */
export async function isBasePlaying(
  reader: Pick<Reader, 'get'>,
  screen: Screen,
  { layers, row, nowMs }: { layers: ScreenLayers; row: Playlist; nowMs: number },
): Promise<boolean> {
  const base = playlistStatusAt(row, nowMs) === 'active' ? row : undefined;
  if (!base || !hasLayers(layers, nowMs)) return base !== undefined;
  const { spans } = await planOf(reader, screen, { layers, base, nowMs });
  return spans[0].playable?.entryId === null;
}
