import type { CallAnswer, CallInput } from '../../client/call.ts';

/** The active playlist, as the service returns it. */
export type Playlist = CallAnswer<'getPlaylist'>;
export type Item = Playlist['items'][number];
export type EventInput = CallInput<'postEvents'>['body'][number];

/**
 * Events sent together. The service stores them once per `idempotencyKey`, however often they are
 * sent.
 */
export interface Batch {
  readonly events: readonly EventInput[];
  readonly idempotencyKey: string;
}

/** Maximum number of events in a batch (docs/protocol.md §2.5). */
export const largestBatch = 100;

const seconds = (timeMs: number) => Math.floor(timeMs / 1000);

/**
 * Returns an impression: the proof that an item was played for `duration` seconds, until now.
 * Returns `undefined` if the item belongs to no campaign.
 */
export function impression(
  playlist: Playlist,
  { creativeId, campaignId }: Item,
  atMs: number,
  duration: number,
): EventInput | undefined {
  if (typeof campaignId !== 'string') return undefined;
  return {
    type: 'impression',
    timestamp: seconds(atMs),
    playlistId: playlist.id,
    campaignId,
    creativeId,
    duration,
  };
}

/** Returns an event about the state of the TV itself. */
export function statusEvent(
  type: 'heartbeat' | 'app_started' | 'app_stopped',
  atMs: number,
): EventInput {
  return { type, timestamp: seconds(atMs) };
}
