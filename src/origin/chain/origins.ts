import type { Clock } from '../../domain/clock.ts';
import { hasCode } from '../../domain/error.ts';
import type { LogSink } from '../../domain/log.ts';
import { playlistStatusAt } from '../../domain/playlists/playlist.ts';
import type { Screen } from '../../domain/records/rows.ts';
import { withTimeout } from '../../domain/timeout.ts';
import { type Reader, readContent } from '../../store/store.ts';
import { CircuitBreaker } from '../circuit-breaker.ts';
import type { GuardedSource } from '../on-demand/source.ts';
import type {
  OnDemandOrigin,
  OnDemandSource,
  OriginAnswer,
  OriginHealth,
  PlaylistChain,
  PlaylistOrigin,
  ReadPlaylist,
} from '../origin.ts';
import { makeFailureLog, OriginHealthTracker } from '../origin-health.ts';
import { RenderedItems, renderPlaylist, validPlaylist } from '../rendered-playlists.ts';

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
  async function fetch(screen: Screen): Promise<OriginAnswer> {
    const row = await read(screen.id);
    if (!row) return { kind: 'none' };
    validPlaylist(row);
    return playlistStatusAt(row, clock.now()) === 'active'
      ? { kind: 'playlist', playlist: row }
      : { kind: 'decided-none' };
  }

  return { name: 'store', fetch };
}

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

  return async (screen) => {
    let failure: { cause: unknown } | undefined;
    for (const { origin, tracker } of links) {
      const startMs = clock.now();
      try {
        const answer = await origin.fetch(screen);
        if (answer.kind === 'playlist') {
          const rest = await items.of(answer.playlist, answer.items);
          const endMs = clock.now();
          const playlist = renderPlaylist(answer.playlist, rest, endMs);
          tracker?.answered('playlist', startMs, endMs);
          return { kind: 'playlist', playlist, source: origin.name };
        }
        tracker?.answered('none', startMs, clock.now());
        if (answer.kind === 'decided-none') return { kind: 'none' };
      } catch (cause) {
        tracker?.failed(cause, startMs);
        logFailure(origin.name, cause);
        failure ??= { cause };
      }
    }
    return failure ? { kind: 'failed', ...failure } : { kind: 'none' };
  };
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
  objectStore?: PlaylistOrigin | undefined;
  /** Decorates an origin: a copy older than the served version counts as failed. */
  notOlder: (origin: PlaylistOrigin) => PlaylistOrigin;
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
      breaker.run(() => withTimeout(clock, originTimeoutMs, reader.get(table, id))),
  };
}

/** Decorates an origin with a time-out and a circuit breaker. */
function guarded(origin: PlaylistOrigin, clock: Clock, breaker: CircuitBreaker): PlaylistOrigin {
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
