import type { Clock } from '../domain/clock.ts';
import { hasCode } from '../domain/error.ts';
import type { LogSink } from '../domain/log.ts';
import type { Reader } from '../store/store.ts';
import { makeChain } from './chain.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import type { BrokenSource } from './on-demand/source.ts';
import type {
  OnDemandSource,
  OriginHealth,
  PlaylistChain,
  PlaylistOrigin,
  ReadPlaylist,
  RemoteOrigin,
} from './origin.ts';
import { OriginHealthTracker } from './origin-health.ts';
import { makePlaylistReader } from './playlist-reader.ts';
import { makeStoredOrigin } from './stored.ts';
import { validPlaylist } from './valid-playlist.ts';
import { originTimeout } from './with-timeout.ts';

/** An origin that has not answered within this has failed; the on-demand source has its own. */
const originTimeoutMs = 2000;

export interface OriginsOptions {
  clock: Clock;
  reader: Pick<Reader, 'get'>;
  /** The on-demand source, and how its contents become versions that the store keeps. */
  onDemand?:
    | {
        source: BrokenSource;
        versions: (source: OnDemandSource, read: ReadPlaylist) => PlaylistOrigin;
      }
    | undefined;
  objectStore?: RemoteOrigin | undefined;
  /** Makes a copy fail that is older than what was served. */
  notOlder: (origin: PlaylistOrigin) => RemoteOrigin;
  log: LogSink;
}

export interface Origins {
  ask: PlaylistChain;
  /** How each fares, in the order in which they are asked. */
  health(): OriginHealth[];
}

/** The origins that there are, in their order: on-demand source, persisted store, object store (docs/protocol.md §2.3). */
export function makeOrigins({
  clock,
  reader,
  onDemand,
  objectStore,
  notOlder,
  log,
}: OriginsOptions): Origins {
  const watch = (origin: PlaylistOrigin, breaker: CircuitBreaker) => ({
    origin,
    watch: new OriginHealthTracker(origin.name, { clock, breaker, log }),
  });
  const storeBreaker = new CircuitBreaker({ clock });
  const read = makePlaylistReader(reader, clock, originTimeoutMs, storeBreaker);
  const all = [watch(makeStoredOrigin(read, clock), storeBreaker)];
  if (onDemand) {
    const { source, versions } = onDemand;
    const readSound: ReadPlaylist = async (screenId) => validPlaylist(await read(screenId));
    all.unshift(watch(versions(source, readSound), source.breaker));
  }
  if (objectStore) {
    // A copy that is damaged says nothing of the others.
    const breaker = new CircuitBreaker({
      clock,
      tells: (error) => (hasCode(error, 'origin_bad_answer') ? 'up' : 'down'),
    });
    all.push(watch(notOlder(originTimeout(objectStore, clock, originTimeoutMs, breaker)), breaker));
  }
  return { ask: makeChain(all, clock), health: () => all.map((link) => link.watch.health()) };
}
