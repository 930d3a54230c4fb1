import { type LayerName, takeoverId } from '../../domain/layers/layer-names.ts';
import { playlistStatusAt } from '../../domain/playlists/playlist.ts';
import type { Screen } from '../../domain/records/rows.ts';
import { entryIdOf } from '../../domain/schedule/entry-times.ts';
import type { PlaylistSummary } from '../../store/queries.ts';
import type { Reader } from '../../store/store.ts';
import { layerName, recordedVersion } from './delivered.ts';
import { hasLayers, readLayers, type ScreenLayers, scheduleOf } from './layers.ts';
import { type Playable, planOf } from './plan.ts';

/** A layer of a screen, and its content. */
export interface GivenLayer {
  layer: LayerName;
  entryId: string | null;
  contentId: string;
}

/** What TVs of a screen get at the moment. */
export interface DeliveredNow {
  /** The playlist: that of the screen, or what a layer puts above it. */
  summary: PlaylistSummary;
  layer: LayerName;
  entryId: string | null;
  /** Since when it is due, in Unix epoch milliseconds. */
  sinceMs: number;
  /** Whether a TV has met the switch to it, so that `summary` has its version. */
  isMet: boolean;
  /** What lies beneath, the highest first. */
  beneath: readonly GivenLayer[];
  /** All other layers. One of them may be on the screen around a switch. */
  others: readonly GivenLayer[];
}

/** Returns all layers that a screen has, whether or not they hold now. */
function allLayers(layers: ScreenLayers, base: PlaylistSummary | undefined): GivenLayer[] {
  const { takeover } = layers.own ?? {};
  const entries = scheduleOf(layers)?.entries ?? [];
  return [
    ...(base ? [{ layer: baseName(base), entryId: null, contentId: base.contentId }] : []),
    ...entries.flatMap(({ contentId, name }, place) =>
      contentId === null
        ? []
        : [{ layer: 'entry' as const, entryId: entryIdOf({ name }, place), contentId }],
    ),
    ...(takeover
      ? [{ layer: 'takeover' as const, entryId: takeoverId, contentId: takeover.contentId }]
      : []),
  ];
}

const baseName = ({ origin }: PlaylistSummary): LayerName =>
  origin === 'on-demand' ? 'on-demand' : 'base';

const plainly = (base: PlaylistSummary): DeliveredNow => ({
  summary: base,
  layer: baseName(base),
  entryId: null,
  sinceMs: base.publishedAt,
  isMet: true,
  beneath: [],
  others: [],
});

interface DeliveredInput {
  layers: ScreenLayers;
  base: PlaylistSummary | undefined;
  nowMs: number;
}

/**
 * Returns what TVs of a screen get. A switch that no TV has met yet is not recorded, so the version
 * is then the last one, if there is one.
 */
export async function deliveredNow(
  reader: Pick<Reader, 'get'>,
  screen: Screen,
  { layers, base, nowMs }: DeliveredInput,
): Promise<DeliveredNow | undefined> {
  if (!hasLayers(layers, nowMs)) return base && plainly(base);
  const active = base && playlistStatusAt(base, nowMs) === 'active' ? base : undefined;
  const plan = await planOf(reader, screen, { layers, base: active, nowMs });
  const [{ playable, fromMs }] = plan.spans;
  if (!playable) return base && plainly(base);
  const { delivered } = layers.own ?? {};
  const last = delivered ? { ...delivered, publishedAt: delivered.at } : base;
  const recorded = recordedVersion(playable, active, layers.own);
  const version = recorded ?? last;
  if (!version) return undefined;
  const { contentId, hasMedia, entryId } = playable;
  const givenOf = (one: Playable): GivenLayer => ({
    layer: layerName(one, active),
    entryId: one.entryId,
    contentId: one.contentId,
  });
  return {
    summary: {
      playlistId: version.playlistId,
      version: version.version,
      publishedAt: version.publishedAt,
      state: 'active',
      validUntil: active && entryId === null ? active.validUntil : null,
      hasMedia,
      contentId,
      origin: active?.origin ?? 'published',
    },
    layer: layerName(playable, active),
    entryId,
    sinceMs: Math.max(version.publishedAt, fromMs, recorded ? 0 : (scheduleOf(layers)?.since ?? 0)),
    isMet: recorded !== undefined,
    beneath: plan.beneath.map(givenOf),
    others: allLayers(layers, base),
  };
}

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
