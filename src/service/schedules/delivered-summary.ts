import { playlistStatusAt } from '../../domain/playlists/playlist.ts';
import type { Screen } from '../../domain/records/rows.ts';
import type { PlaylistSummary } from '../../store/queries.ts';
import type { Reader } from '../../store/store.ts';
import { recordedVersion } from './delivered.ts';
import { readLayers } from './layers.ts';
import { hasLayers, planOf } from './plan-of-screen.ts';

/**
 * Returns the playlist that TVs of a screen get: its own, or what a layer puts above it. A switch
 * that no TV has met yet is not recorded, so the version is then the last one, if there is one.
 */
export async function deliveredSummary(
  reader: Pick<Reader, 'get'>,
  screen: Screen,
  base: PlaylistSummary | undefined,
  nowMs: number,
): Promise<PlaylistSummary | undefined> {
  const layers = await readLayers(reader, screen);
  if (!hasLayers(layers, nowMs)) return base;
  const active = base && playlistStatusAt(base, nowMs) === 'active' ? base : undefined;
  const { spans } = await planOf(reader, screen, { layers, base: active, nowMs });
  const { playable } = spans[0];
  if (!playable) return base;
  const { delivered } = layers.own ?? {};
  const last = delivered ? { ...delivered, publishedAt: delivered.at } : base;
  const version = recordedVersion(playable, active, layers.own) ?? last;
  if (!version) return undefined;
  return {
    playlistId: version.playlistId,
    version: version.version,
    publishedAt: version.publishedAt,
    state: 'active',
    validUntil: active && playable.entryId === null ? active.validUntil : null,
    hasMedia: playable.hasMedia,
    contentId: playable.contentId,
    origin: active?.origin ?? 'published',
  };
}
