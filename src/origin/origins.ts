import type { Clock } from '../domain/clock.ts';
import { hasCode } from '../domain/error.ts';
import type { LogSink } from '../domain/log.ts';
import { andThen, type MaybePromise } from '../domain/maybe-promise.ts';
import { playlistStatusAt } from '../domain/playlists/playlist.ts';
import type { Playlist, Screen } from '../domain/records/rows.ts';
import { withTimeout } from '../domain/timeout.ts';
import { type Reader, readContent } from '../store/store.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import type { GuardedSource } from './on-demand/source.ts';
import type {
  ChainAnswer,
  OnDemandOrigin,
  OnDemandSource,
  OriginAnswer,
  OriginHealth,
  PlaylistChain,
  PlaylistOrigin,
  ReadPlaylist,
  RemoteOrigin,
} from './origin.ts';
import { makeFailureLog, OriginHealthTracker } from './origin-health.ts';
import { RenderedItems, renderPlaylist, validPlaylist } from './rendered-playlists.ts';

/** An origin. One that can hang has a health tracker. */
export interface ChainLink {
  origin: PlaylistOrigin;
  tracker?: OriginHealthTracker;
}

/**
 * The store as an origin. If a playlist is withdrawn or expired, the screen has no playlist, and no
 * other origin is asked. Throws `origin_bad_answer` if such a row is damaged.
 */
export function makeStoredOrigin(read: ReadPlaylist, clock: Clock): PlaylistOrigin {
  function answerOf(row: Playlist | undefined): OriginAnswer {
    if (!row) return { kind: 'none' };
    validPlaylist(row);
    return playlistStatusAt(row, clock.now()) === 'active'
      ? { kind: 'playlist', playlist: row }
      : { kind: 'decided-none' };
  }

  return { name: 'store', fetch: (screen) => andThen(read(screen.id), answerOf) };
}

/** An answer with the items of its playlist (`RenderedItems`). */
type FoundAnswer =
  | Exclude<OriginAnswer, { kind: 'playlist' }>
  | { kind: 'playlist'; playlist: Playlist; rest: Buffer };

/**
 * Asks the origins in order until one returns a playlist or decides that there is none. If an
 * origin fails, the next one is asked. If no origin decides and at least one failed, the answer is
 * `failed` (docs/protocol.md §2.3). Never throws.
 */
export function makeChain(
  links: readonly ChainLink[],
  items: RenderedItems,
  clock: Clock,
  log: LogSink,
): PlaylistChain {
  const logFailure = makeFailureLog(log, clock);

  function withItems(answer: OriginAnswer): MaybePromise<FoundAnswer> {
    if (answer.kind !== 'playlist') return answer;
    const { kind, playlist } = answer;
    return andThen(items.of(playlist, answer.items), (rest) => ({ kind, playlist, rest }));
  }

  function askNext(
    index: number,
    screen: Screen,
    failure?: { cause: unknown },
  ): MaybePromise<ChainAnswer> {
    const link = links[index];
    if (!link) return failure ? { kind: 'failed', ...failure } : { kind: 'none' };
    const { origin, tracker } = link;
    const startMs = clock.now();
    const onAnswer = (answer: FoundAnswer, endMs: number): MaybePromise<ChainAnswer> => {
      if (answer.kind === 'playlist') {
        const playlist = renderPlaylist(answer.playlist, answer.rest, endMs);
        tracker?.answered('playlist', startMs, endMs);
        return { kind: 'playlist', playlist, source: origin.name };
      }
      tracker?.answered('none', startMs, endMs);
      return answer.kind === 'decided-none'
        ? { kind: 'none' }
        : askNext(index + 1, screen, failure);
    };
    const onFailure = (cause: unknown) => {
      tracker?.failed(cause, startMs);
      logFailure(origin.name, cause);
      return askNext(index + 1, screen, failure ?? { cause });
    };
    try {
      const answer = andThen(origin.fetch(screen), withItems);
      // The latency of a synchronous answer counts as 0.
      return answer instanceof Promise
        ? answer.then((late) => onAnswer(late, clock.now())).catch(onFailure)
        : onAnswer(answer, startMs);
    } catch (cause) {
      return onFailure(cause);
    }
  }

  return (screen) => askNext(0, screen);
}

/** Time-out of the store and the object store. The on-demand source has a time-out of its own. */
const originTimeoutMs = 2000;

export interface OriginsOptions {
  clock: Clock;
  reader: Pick<Reader, 'get'>;
  /** Whether the rows are in the memory of this process, so that a read cannot hang. */
  isInMemory: boolean;
  /**
   * The on-demand source, and a function that turns it into an origin by assigning versions to its
   * content.
   */
  onDemand?:
    | {
        source: GuardedSource;
        versions: (source: OnDemandSource, read: ReadPlaylist) => OnDemandOrigin;
      }
    | undefined;
  objectStore?: RemoteOrigin | undefined;
  /** Decorates an origin: a copy older than the served version counts as failed. */
  notOlder: (origin: PlaylistOrigin) => RemoteOrigin;
  log: LogSink;
}

export interface Origins {
  ask: PlaylistChain;
  /** Reads rows, with the time-out and the circuit breaker of the origin `store`. */
  reader: Pick<Reader, 'get'>;
  /** Calls the on-demand source, bypassing its cache. `undefined` without such a source. */
  refresh: OnDemandOrigin['refresh'] | undefined;
  /** Returns the health of each origin that can hang, in the order in which they are asked. */
  health(): OriginHealth[];
}

/** Reads rows from a store that can hang, with a time-out and a circuit breaker. */
function guardedReader(
  reader: Pick<Reader, 'get'>,
  clock: Clock,
  breaker: CircuitBreaker,
): Pick<Reader, 'get'> {
  return {
    get: (table, id) =>
      breaker.run(() =>
        withTimeout(clock, originTimeoutMs, Promise.resolve(reader.get(table, id))),
      ),
  };
}

/** Decorates an origin with a time-out and a circuit breaker. */
function guarded(origin: RemoteOrigin, clock: Clock, breaker: CircuitBreaker): RemoteOrigin {
  return {
    name: origin.name,
    fetch: (screen) => breaker.run(() => withTimeout(clock, originTimeoutMs, origin.fetch(screen))),
  };
}

/**
 * Creates the configured origins, in the order in which they are asked: on-demand source, store,
 * object store (docs/protocol.md §2.3).
 */
export function makeOrigins({
  clock,
  reader,
  isInMemory,
  onDemand,
  objectStore,
  notOlder,
  log,
}: OriginsOptions): Origins {
  const tracked = (origin: PlaylistOrigin, breaker: CircuitBreaker): ChainLink => ({
    origin,
    tracker: new OriginHealthTracker(origin.name, { clock, breaker }),
  });
  const storeBreaker = isInMemory ? undefined : new CircuitBreaker({ clock });
  const guardedRows = storeBreaker ? guardedReader(reader, clock, storeBreaker) : reader;
  const read: ReadPlaylist = (screenId) => guardedRows.get('playlists', screenId);
  const items = new RenderedItems((id) => readContent(guardedRows, id));
  const stored = makeStoredOrigin(read, clock);
  const links = [storeBreaker ? tracked(stored, storeBreaker) : { origin: stored }];
  const readValid: ReadPlaylist = async (screenId) => {
    const row = await read(screenId);
    return row && validPlaylist(row);
  };
  const onDemandOrigin = onDemand?.versions(onDemand.source, readValid);
  if (onDemand && onDemandOrigin) links.unshift(tracked(onDemandOrigin, onDemand.source.breaker));
  if (objectStore) {
    // Damaged copies count as successes, because a damaged copy says nothing about the other
    // copies.
    const breaker = new CircuitBreaker({
      clock,
      classify: (error) => (hasCode(error, 'origin_bad_answer') ? 'success' : 'failure'),
    });
    links.push(tracked(notOlder(guarded(objectStore, clock, breaker)), breaker));
  }
  return {
    ask: makeChain(links, items, clock, log),
    reader: guardedRows,
    refresh: onDemandOrigin?.refresh,
    health: () => links.flatMap(({ tracker }) => tracker?.health() ?? []),
  };
}
