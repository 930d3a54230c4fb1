import type { CallAnswer, CallInput } from '../client/call.ts';

export type Playlist = CallAnswer<'getPlaylist'>;
export type Item = Playlist['items'][number];
export type EventInput = CallInput<'postEvents'>['body'][number];

/** Events that go out together, and the key under which they are stored once, however often they are sent. */
export interface Batch {
  events: EventInput[];
  idempotencyKey: string;
}

const seconds = (timeMs: number) => Math.floor(timeMs / 1000);

/** Proof that an item was played to its end; `undefined` when it belongs to no campaign, for then there is nobody to prove it to. */
export function impression(playlist: Playlist, item: Item, atMs: number): EventInput | undefined {
  const { creativeId, duration, campaignId } = item;
  if (typeof campaignId !== 'string') return undefined;
  return { type: 'impression', timestamp: seconds(atMs), playlistId: playlist.id, campaignId, creativeId, duration };
}

export function heartbeat(atMs: number): EventInput {
  return { type: 'heartbeat', timestamp: seconds(atMs) };
}

export function appStarted(atMs: number): EventInput {
  return { type: 'app_started', timestamp: seconds(atMs) };
}
