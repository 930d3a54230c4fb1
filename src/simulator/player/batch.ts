import type { CallAnswer, CallInput } from '../../client/call.ts';

export type Playlist = CallAnswer<'getPlaylist'>;
export type Item = Playlist['items'][number];
export type EventInput = CallInput<'postEvents'>['body'][number];

/** Events that go out together, and the key under which they are stored once, however often they are sent. */
export interface Batch {
  readonly events: readonly EventInput[];
  readonly idempotencyKey: string;
}

/** The most that one batch may hold (docs/protocol.md §2.5). */
export const largestBatch = 100;

const seconds = (timeMs: number) => Math.floor(timeMs / 1000);

/**
 * Proof that an item was played until now, for so many seconds; `undefined` when it belongs to no campaign, for then there is nobody to prove
 * it to.
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

/** What a TV says of itself: that it is there, has started, or is about to stop. */
export function statusEvent(
  type: 'heartbeat' | 'app_started' | 'app_stopped',
  atMs: number,
): EventInput {
  return { type, timestamp: seconds(atMs) };
}
