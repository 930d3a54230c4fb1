import type { Clock } from '../domain/clock.ts';
import { withTimeout } from '../domain/timeout.ts';
import type { Reader } from '../store/store.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { ReadPlaylist } from './origin.ts';

/** Reads playlists from the store: in time, and sparing it while it is down. */
export function makePlaylistReader(
  reader: Pick<Reader, 'get'>,
  clock: Clock,
  timeoutMs: number,
  breaker: CircuitBreaker,
): ReadPlaylist {
  return (screenId) =>
    breaker.run(() => {
      const row = reader.get('playlists', screenId);
      return row instanceof Promise ? withTimeout(clock, timeoutMs, row) : row;
    });
}
