import type { Activities } from '../domain/records/activity.ts';
import type { AuditEntry } from '../domain/records/audit.ts';
import type { GuessCounter } from '../domain/records/pairing-code.ts';
import type { ImpressionRow } from '../domain/records/report.ts';
import type { Content, Device, DeviceKey, Playlist, Screen } from '../domain/records/rows.ts';
import type {
  AuditPageQuery,
  EventBatch,
  EventPageQuery,
  ImpressionQuery,
  ListQuery,
  LoggedTvRequest,
  PastPlaylistQuery,
  PlaylistSummary,
  PlayQuery,
  PlayVisitor,
  Slice,
  StoredEvent,
  TvRequestPageQuery,
} from './queries.ts';
import type { IndexOf, ListedTable, MultipleOf, Rows, TableName, UniqueOf } from './sections.ts';

export type { Rows, TableName } from './sections.ts';

/** Reads the bytes of media files. A media store is one. */
export interface MediaReader {
  /** Returns `undefined` for a file that does not exist. */
  open(id: string): Promise<AsyncIterable<Uint8Array> | undefined>;
}

/**
 * The contract that every store implements. Stores keep rows and transactions; they contain no
 * business rules.
 *
 * Errors are `SignageError`s. `conflict`: another row has the unique key; `existingId` is its id.
 * `idempotency_key_reused`: see `appendBatch`. `unavailable`: the change cannot be made durable,
 * and nothing has changed.
 *
 * The rows of a page take at most `maxPageBytes`, unless the page has a single row. A page may
 * therefore have fewer than `limit` items and still a `next`.
 */
export interface Store {
  /** Reads durable state only. */
  readonly read: Reader;

  /**
   * 32 random bytes, created at the first start and stored. All instances on one store share them.
   */
  readonly secret: Uint8Array;

  /**
   * Returns the decision time in milliseconds: the only clock that decides what is valid, expired,
   * online or due. A store on files uses the clock of the machine, a database its own, so that all
   * instances agree. It follows a corrected clock, and may step back.
   */
  now(): number;

  /**
   * How many records to read at a time, if many are needed. In memory 1, because the reads of many
   * only take memory together. A database reads many with one statement.
   */
  readonly readsAtOnce: number;

  /**
   * Returns how far the store's newest time is ahead of the clock of this machine, in milliseconds.
   * On files, this is the newest stamp; in a database, its clock.
   */
  aheadMs(): number;

  /**
   * Runs one change atomically. The change is durable when the promise resolves: synced to disk, or
   * committed. If `change` throws, nothing has changed.
   *
   * Changes are serializable: each sees the effects of all changes before it. `change` may await
   * only calls of its `tx`, and may run more than once.
   */
  write<T>(change: (tx: Tx) => Promise<T>): Promise<T>;

  /** Returns one page of a table, ordered by id, starting after `query.after`. */
  list<T extends ListedTable>(table: T, query: ListQuery<T>): Promise<Slice<Rows[T]>>;

  /** Returns the summary of the newest playlist of a screen. */
  playlistSummary(screenId: string): Promise<PlaylistSummary | undefined>;

  /**
   * Returns the summaries of the newest playlists of these screens, by the id of the screen. The
   * map has no entry for a screen without a playlist. `signal` stops the work, as in `ListQuery`.
   */
  playlistSummaries(
    screenIds: readonly string[],
    signal?: AbortSignal,
  ): Promise<Map<string, PlaylistSummary>>;

  /** Returns one page of a screen's past playlist versions, newest first. */
  pastPlaylists(query: PastPlaylistQuery): Promise<Slice<Playlist>>;

  /**
   * Returns the ids of `contents` that neither newest playlist versions nor layers name. A version
   * that is stored meanwhile may name one of them.
   */
  supersededContents(): Promise<string[]>;

  /** Returns the ids of `pastContents` that no version and no layers name. */
  unnamedContents(): Promise<string[]>;

  /** Returns the ids of rows whose `until` is before `timeMs`. */
  endedRows(table: 'pastInputs' | 'loops', timeMs: number): Promise<string[]>;

  /** Returns the ids of codes that ended before `timeMs`, oldest first, at most `limit`. */
  finishedCodes(timeMs: number, limit: number): Promise<string[]>;

  /**
   * Stores one batch of events, durable when the promise resolves.
   *
   * The last 128 idempotency keys of each device are remembered, across restarts. The same key with
   * the same bytes returns `repeated` and stores nothing, also for concurrent calls. The same key
   * with other bytes throws `idempotency_key_reused`.
   */
  appendBatch(batch: EventBatch): Promise<'stored' | 'repeated'>;

  events(query: EventPageQuery): Promise<Slice<StoredEvent>>;

  /**
   * Gives the exact counts of batches with offsets (`BatchSums`) to the visitor that `begin` makes.
   * May begin again with a new visitor. Returns the one that got all counts.
   */
  plays<V extends PlayVisitor>(query: PlayQuery, begin: () => V): Promise<V>;

  /**
   * Returns exact impressions of batches without offsets, by group, sorted by key. `from` and `to`
   * are UTC days; `to` is exclusive. Only 0.1.0 stored such batches.
   */
  impressions(query: ImpressionQuery): Promise<ImpressionRow[]>;

  /**
   * Returns one page of the audit trail of `query.tenantIds`, newest first. The tenant id `null`
   * selects entries that belong to no tenant.
   */
  audit(query: AuditPageQuery): Promise<Slice<AuditEntry>>;

  /**
   * Records the last activity of a device or token. `marks` returns it immediately. It is
   * persisted, and visible to other instances, within a minute. A crash loses up to a minute of it.
   * When several instances record activity, the latest wins.
   */
  touch<K extends keyof Activities>(kind: K, id: string, activity: Activities[K]['recorded']): void;
  marks<K extends keyof Activities>(kind: K, id: string): Promise<Activities[K]['known']>;

  /**
   * Updates the guess counters of some sources atomically: all of them or none. Updates are
   * serialized across all instances.
   *
   * `change` receives each source's counter and the decision time. It returns the new counters and
   * a result. A counter that is returned unchanged, or as `undefined`, is not updated. `change`
   * must not await anything, and may run more than once. An update that changes nothing does not
   * wait for others.
   *
   * Counters may be evicted after their `forgetAt`, on a restart, and when there are very many
   * sources. Counters without guesses never displace counters with guesses. The least recently
   * changed are evicted first.
   */
  updateGuessCounters<T>(sources: readonly string[], change: GuessCounterChange<T>): Promise<T>;

  /**
   * Calls `wake` after each durable change of a topic. Spurious calls are possible. Returns a
   * function that stops the watch.
   *
   * Topics: `claims/<id>`, `codes/<id>`, `devices/<id>`, `events/<tenant id>`, and `screens/<id>`
   * for a screen, its playlist or its config. `venues/<id>` and `tenants/<id>` are for their
   * configs, and `signals/<level>/<id>` for their signals. `notices/outbox` and `notices/log` are
   * for notices, and `webhooks/<id>` for a webhook. `*` stands for all topics. `wake` gets the
   * changed topic, or `*` if the store does not know which changed.
   */
  watch(topic: string, wake: (topic: string) => void): () => void;

  /** Refused requests of TVs that all instances share. Absent if a store has a single instance. */
  readonly refusedRequests?: RefusedRequests;

  /**
   * Returns a dump of one state of the whole store (`dump/dump.ts`), in UTF-8. It contains every
   * change acknowledged before the call. It contains any other change completely or not at all.
   *
   * Read the stream to its end or cancel it: until then the store deletes nothing. A reader that
   * reads nothing for 5 minutes gets an error.
   *
   * @param files where the media of the store lie. `undefined`: the dump has no bytes of media
   */
  backup(files?: MediaReader): Promise<ReadableStream<Uint8Array>>;

  /** Resolves if the store accepts writes. Otherwise throws `unavailable` with the reason. */
  ready(): Promise<void>;

  /**
   * Deletes events and audit entries received before `timeMs`, in whole days. Reports keep counting
   * those events. Calls `record` at least once before a deletion. If it throws, nothing is deleted.
   */
  purgeBefore(timeMs: number, record?: () => Promise<void>): Promise<void>;

  /**
   * Completes pending operations, makes them durable, and releases all resources. Later calls throw
   * `unavailable`.
   */
  close(): Promise<void>;
}

export interface Reader {
  get<T extends TableName>(table: T, id: string): Promise<Rows[T] | undefined>;
  /** Returns the row with this key in a unique index. `sections.ts` defines the keys. */
  find<T extends TableName>(
    table: T,
    index: UniqueOf<T>,
    key: string,
  ): Promise<Rows[T] | undefined>;
  /**
   * Returns all rows whose indexed member has one of these values, ordered by id. Intended for
   * small results, such as the keys of a device or the codes of a screen.
   */
  select<T extends TableName>(
    table: T,
    index: IndexOf<T>,
    values: readonly string[],
  ): Promise<Rows[T][]>;
  count<T extends TableName>(table: T, index: IndexOf<T>, value: string): Promise<number>;
  /**
   * Returns the ids of the rows that have one of these values in an index of several values for
   * each row, without reading the rows.
   */
  ids<T extends TableName>(
    table: T,
    index: MultipleOf<T>,
    values: readonly string[],
  ): Promise<ReadonlySet<string>>;
  /**
   * Returns the device key with this hash, with its device and screen, in one lookup. Every request
   * of a TV needs this lookup.
   */
  findByKeyHash(hash: string): Promise<KeyHolder | undefined>;
}

export interface KeyHolder {
  key: DeviceKey;
  device: Device | undefined;
  screen: Screen | undefined;
}

/** The transaction of one change. Reads see its own writes and all earlier changes. */
export interface Tx extends Reader {
  /** The decision time (`Store.now`) at the start of the change. */
  readonly now: number;
  /**
   * Orders records by time: never before the stamp of an earlier change, even if the clock is set
   * back. In milliseconds. Compare it with other stamps only, never with `now`.
   */
  readonly stamp: number;
  /**
   * Inserts the row, or replaces the row with the same id. Throws `conflict` when another row has
   * one of its unique keys.
   */
  put<T extends TableName>(table: T, row: Rows[T]): Promise<void>;
  /** Deletes the row. Does nothing if the row does not exist. */
  delete(table: TableName, id: string): Promise<void>;
  /** Adds an entry to the audit trail as part of the change. */
  audit(entry: AuditEntry): Promise<void>;
}

/** One counter per source, in the order of the sources. `undefined`: none is stored. */
export type GuessCountersOfEach = readonly (GuessCounter | undefined)[];
export type GuessCounterChange<T> = (
  known: GuessCountersOfEach,
  nowMs: number,
) => { attempts: GuessCountersOfEach; result: T };

/** The newest refused requests of TVs. They may be lost in a crash, and are not copied. */
export interface RefusedRequests {
  append(requests: readonly LoggedTvRequest[]): Promise<void>;
  /** Returns one page, newest first. */
  page(query: TvRequestPageQuery): Promise<LoggedTvRequest[]>;
}

/** Returns the items that a version names (`contentId`), or `undefined` if they are lost. */
export async function readContent(
  reader: Pick<Reader, 'get'>,
  id: string,
): Promise<Content | undefined> {
  return (await reader.get('contents', id)) ?? (await reader.get('pastContents', id));
}

/** Yields all rows that match a query, in slices of `limit` rows, in the order of their ids. */
export async function* slicesOf<T extends ListedTable>(
  store: Pick<Store, 'list'>,
  table: T,
  query: Omit<ListQuery<T>, 'after'>,
): AsyncGenerator<readonly Rows[T][]> {
  for (let after: string | null | undefined; after !== null; ) {
    const slice: Slice<Rows[T]> = await store.list(table, {
      ...query,
      ...(after !== undefined && { after }),
    });
    yield slice.items;
    after = slice.next;
  }
}
