import type { ActivePlaylist, EventInput, PlaylistItem } from '../client/entities.ts';
import { type LayerName, layerOfEntry } from '../domain/layers/layer-names.ts';
import type { PlaybackFailure } from './stage.ts';

/**
 * A batch of events with its idempotency key. However often a batch is sent, the service stores its
 * events once.
 */
export interface Batch {
  readonly events: readonly EventInput[];
  readonly idempotencyKey: string;
}

/** Maximum number of events in a batch (docs/protocol.md §2.5). */
export const largestBatch = 100;

/** A clock may stand before 1970, and the service refuses such a time. */
const seconds = (timeMs: number) => Math.max(0, Math.floor(timeMs / 1000));

const guid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Returns the proof that an item was played for `duration` seconds until `atMs`. An item whose
 * `campaignId` is a UUID gives an `impression`, any other item a `play` (docs/protocol.md §2.5).
 */
export function proofOfPlay(
  playlist: ActivePlaylist,
  { creativeId, campaignId, duration: plannedDuration }: PlaylistItem,
  atMs: number,
  duration: number,
): EventInput {
  const hasCampaign = typeof campaignId === 'string' && guid.test(campaignId);
  return {
    type: hasCampaign ? 'impression' : 'play',
    timestamp: seconds(atMs),
    playlistId: playlist.id,
    ...(hasCampaign && { campaignId }),
    creativeId,
    duration,
    plannedDuration,
    ...(typeof playlist.entryId === 'string' && { entryId: playlist.entryId }),
  };
}

/**
 * Returns the event for the first item of another layer or version that is visible.
 * @param failedLayer the layer above it, all items of which failed
 */
export function shownEvent(
  playlist: ActivePlaylist,
  { creativeId }: PlaylistItem,
  atMs: number,
  failedLayer: LayerName | undefined,
): EventInput {
  return {
    type: 'shown',
    timestamp: seconds(atMs),
    playlistId: playlist.id,
    creativeId,
    version: playlist.version,
    layer: layerOfEntry(playlist.entryId),
    ...(typeof playlist.entryId === 'string' && { entryId: playlist.entryId }),
    ...(failedLayer !== undefined && { failedLayer }),
  };
}

/** Returns the event for an item that could not be played. */
export function playbackError(
  { creativeId }: PlaylistItem,
  atMs: number,
  reason: PlaybackFailure,
): EventInput {
  return { type: 'playback_error', timestamp: seconds(atMs), creativeId, reason };
}

/** Returns the event of a TV that draws who it is until `until`, in Unix epoch seconds. */
export function identifiedEvent(until: number, atMs: number): EventInput {
  return { type: 'identified', timestamp: seconds(atMs), identifyUntil: until };
}

/** Returns an event about the state of the TV itself. */
export function statusEvent(
  type: 'heartbeat' | 'app_started' | 'app_stopped',
  atMs: number,
  isHidden = false,
): EventInput {
  return { type, timestamp: seconds(atMs), ...(isHidden && { hidden: true }) };
}
