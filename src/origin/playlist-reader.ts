import type { Clock } from '../domain/clock.ts';
import { inTime } from '../domain/in-time.ts';
import type { Reader } from '../store/store.ts';
import type { Breaker } from './breaker.ts';
import type { ReadPlaylist } from './origin.ts';

/** Reads playlists from the store: in time, and sparing it while it is down. */
export function makePlaylistReader(reader: Pick<Reader, 'get'>, clock: Clock, timeoutMs: number, breaker: Breaker): ReadPlaylist {
  return (screenId) => breaker.run(() => inTime(clock, timeoutMs, reader.get('playlists', screenId)));
}
