import { hash } from 'node:crypto';
import { servedPlaylistEtag } from '../../domain/etags/etag.ts';
import { type LayerName, layerOfEntry } from '../../domain/layers/layer-names.ts';
import { servedValidUntilSeconds } from '../../domain/playlists/playlist.ts';
import { nothingId } from '../../domain/schedule/entry-times.ts';
import type { Layers } from '../../domain/schedule/rows.ts';
import type { Base, Plan, Playable } from './plan.ts';

/** A version that TVs get: one of the playlist, or one that a switch has made. */
export interface DeliveredVersion {
  playlistId: string;
  version: number;
  /** Since when TVs get it, in Unix epoch milliseconds. */
  publishedAt: number;
}

/**
 * Returns the version of what plays now, or `undefined` if a switch to it has not been recorded
 * yet. A new version of the playlist needs no switch.
 */
export function recordedVersion(
  playable: Playable | undefined,
  base: Base | undefined,
  own: Layers | undefined,
): DeliveredVersion | undefined {
  const delivered = own?.delivered;
  const isBase = playable?.entryId === null;
  if (isBase && base && base.version > (delivered?.version ?? 0)) {
    const { playlistId, version, publishedAt } = base;
    return { playlistId, version, publishedAt };
  }
  const isSame =
    delivered != null &&
    delivered.entryId === (playable?.entryId ?? null) &&
    delivered.contentId === (playable?.contentId ?? null);
  if (!isSame) return undefined;
  const { playlistId, version, at } = delivered;
  return { playlistId, version, publishedAt: at };
}

/** Limit of the items of entries in a playlist, in bytes (docs/protocol.md §5.18). */
const maxEntryBytes = 64 * 1024;

/** What TVs are told of later switches. */
interface Upcoming {
  spans: { from: number; until: number; entryId: string | null }[];
  /** By the id of the entry. */
  entries: Map<string, Playable>;
  base: Playable | undefined;
  /** Whether the last span says that nothing plays any more. */
  endsWithNothing: boolean;
}

const seconds = (ms: number) => Math.floor(ms / 1000);

/** Returns as many spans as fit, with what they play. */
function upcomingOf({ spans, range }: Pick<Plan, 'spans' | 'range'>): Upcoming {
  const upcoming: Upcoming = {
    spans: [],
    entries: new Map(),
    base: undefined,
    endsWithNothing: false,
  };
  let bytes = 0;
  for (const { fromMs, untilMs, playable } of spans) {
    const times = { from: seconds(fromMs), until: seconds(untilMs) };
    if (!playable) {
      upcoming.endsWithNothing = untilMs >= range.untilMs && upcoming.spans.length > 0;
      if (upcoming.endsWithNothing) upcoming.spans.push({ ...times, entryId: nothingId });
      continue;
    }
    const { entryId } = playable;
    if (entryId === null) upcoming.base = playable;
    else if (!upcoming.entries.has(entryId)) {
      bytes += playable.bytes;
      if (bytes > maxEntryBytes) break;
      upcoming.entries.set(entryId, playable);
    }
    upcoming.spans.push({ ...times, entryId });
  }
  return upcoming;
}

/** Returns the name of the layer of what plays. */
export function layerName(
  { entryId }: Playable,
  base: Pick<Base, 'origin'> | undefined,
): LayerName {
  const layer = layerOfEntry(entryId);
  return layer === 'base' && base?.origin === 'on-demand' ? 'on-demand' : layer;
}

/** A layer that TVs play if all items above it fail. */
interface LayerBeneath {
  layer: LayerName;
  playable: Playable;
}

/** What a TV gets under layers, without the items. */
export interface DeliveredPlaylist extends DeliveredVersion {
  playable: Playable | undefined;
  upcoming: Upcoming | undefined;
  /** The highest first. */
  beneath: LayerBeneath[];
  validUntil: number;
  etag: string;
  /** Hash of all that plays now and later. Two screens with the same one get the same items. */
  digest: string;
  hasMedia: boolean;
}

/** Returns what a TV gets, or `undefined` if nothing plays, and nothing will. */
export function deliver(
  plan: Plan,
  base: Base | undefined,
  version: DeliveredVersion,
  nowMs: number,
): DeliveredPlaylist | undefined {
  const { playable } = plan.spans[0];
  const upcoming = plan.isLayered ? upcomingOf(plan) : undefined;
  if (!playable && (upcoming?.spans.length ?? 0) === 0) return undefined;
  const isBase = playable?.entryId === null;
  const validity = { validUntil: isBase ? (base?.validUntil ?? null) : null };
  const validUntil = servedValidUntilSeconds(
    { ...validity, publishedAt: version.publishedAt },
    nowMs,
  );
  const beneath = plan.beneath.map((one) => ({ layer: layerName(one, base), playable: one }));
  const used = [playable, ...(upcoming?.entries.values() ?? []), upcoming?.base];
  const contents = used.map((one) => one && [one.entryId, one.contentId]);
  const lower = beneath.map((one) => [one.layer, one.playable.entryId, one.playable.contentId]);
  const all = [contents, upcoming?.spans, ...(lower.length > 0 ? [lower] : [])];
  const digest = hash('sha256', JSON.stringify(all), 'base64url').slice(0, 22);
  const etag = `${servedPlaylistEtag(version, validUntil).slice(0, -1)}.${digest}"`;
  return {
    ...version,
    playable,
    upcoming,
    beneath,
    validUntil,
    etag,
    digest,
    hasMedia: [...used, ...plan.beneath].some((one) => one?.hasMedia),
  };
}
