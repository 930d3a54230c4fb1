import type { BatchSums } from '../domain/events/batch-counts.ts';
import type { EventQuery } from '../domain/events/event.ts';
import type { MaybePromise } from '../domain/maybe-promise.ts';
import type { AuditQuery } from '../domain/records/audit.ts';
import type { ReportQuery, ReportRow } from '../domain/records/report.ts';
import type {
  AuditEntry,
  Device,
  DeviceKey,
  GuessCounter,
  LastActivity,
  Playlist,
  Rows,
  Screen,
  TableName,
  TokenActivity,
} from '../domain/records/rows.ts';
import type { IndexOf, UniqueOf } from './tables.ts';

/**
 * What every store promises, whatever it is made of. Stores hold rows and transactions, no rules.
 *
 * Errors are `SignageError`s: `conflict` when a unique index is hit (`existingId` is the other row's id), `idempotency_key_reused`,
 * `unavailable` when a change cannot be made durable (nothing has changed then), `not_supported`.
 *
 * No page holds more than `maxPageBytes` of rows, unless it holds a single one: it may have fewer than `limit` and still a next.
 */
export interface Store {
  /** Reads what is durable, and only that. */
  readonly read: Reader;

  /** 32 random bytes, made at first start and kept with the store; all instances on one store share them. */
  readonly secret: Uint8Array;

  /**
   * Runs one change: all of it or nothing, durable (on disk past a power cut, or committed) when the promise resolves. A throw out of
   * `change` leaves no trace. Changes behave as if they ran one after another, and each sees all that were made before it.
   * `change` awaits nothing but calls of its `tx`, and may be run again.
   */
  write<T>(change: (tx: Tx) => Promise<T>): Promise<T>;

  /** One page of a table, ordered by id, from after `query.after` on. */
  list<T extends ListedTable>(table: T, query: ListQuery<T>): Promise<Slice<Rows[T]>>;

  /** One page of a screen's past playlist versions, newest first. */
  pastPlaylists(query: PastPlaylistQuery): Promise<Slice<Playlist>>;

  /** Ids of codes that ended before `timeMs`, oldest first, at most `limit`. */
  finishedCodes(timeMs: number, limit: number): Promise<string[]>;

  /**
   * Stores one batch of events, durable on return. With a key, the last 128 of each device are remembered, across restarts: the same key with
   * the same bytes answers `repeated` and stores nothing, also for two at the same moment; with other bytes it throws `idempotency_key_reused`.
   */
  appendBatch(batch: EventBatch): Promise<'stored' | 'repeated'>;

  /** One page of stored events. */
  events(query: EventPageQuery): Promise<Slice<StoredEvent>>;

  /** Impressions by group, exact, sorted by key. `from` and `to` are UTC days, `to` exclusive. */
  impressions(query: ImpressionQuery): Promise<ReportRow[]>;

  /** One page of the audit trail of these tenants, newest first; `null` stands for what belongs to no tenant. */
  audit(query: AuditPageQuery): Promise<Slice<AuditEntry>>;

  /**
   * Notes a device's or token's latest doings: seen at once by `marks`, kept within a minute, and then seen by other instances too; up to a minute is
   * lost in a crash. Of what several instances noted, the latest tells.
   */
  touch(kind: 'device', id: string, marks: LastActivity): void;
  touch(kind: 'token', id: string, marks: TokenActivity): void;
  marks(kind: 'device', id: string): Promise<LastActivity>;
  marks(kind: 'token', id: string): Promise<TokenActivity>;

  /**
   * Changes what is remembered of the attempts of some sources: of all of them or of none, one change after another over all instances. `change` is handed
   * what is remembered of each, and the store's time; it says what is to be of each (the same, or nothing: no change) and what to answer; it awaits nothing,
   * and may be run again. One that changes nothing waits for no other. What is remembered may be forgotten past its `forgetAt`, in a restart, and when there
   * are very many sources: first those without any attempts, then those changed longest ago.
   */
  updateGuessCounters<T>(sources: readonly string[], change: GuessCounterChange<T>): Promise<T>;

  /**
   * Calls `wake` after each durable change of a topic, `codes/<row id>` or `events/<tenant id>`; it may also be called for nothing.
   * Returns how to stop.
   */
  watch(topic: string, wake: () => void): () => void;

  /**
   * One consistent state of the whole store as a tar: every change that was acknowledged before the call, and no part of another. The stream is
   * to be read to its end or cancelled, for until then nothing is deleted; a reader who takes nothing for 5 minutes gets an error. A store of which the operator makes backups by its own tools throws
   * `not_supported`.
   */
  backup(): Promise<ReadableStream<Uint8Array>>;

  /** Resolves when the store can take writes; else throws `unavailable`, saying why. */
  ready(): Promise<void>;

  /** Deletes events and audit entries received before `timeMs`, in whole days. Reports keep counting them. */
  purgeBefore(timeMs: number): Promise<void>;

  /** Finishes what is under way, makes it durable, and lets go of everything. Calls after it throw `unavailable`. */
  close(): Promise<void>;
}

export interface Reader {
  /** Answers at once where the row is in memory. */
  get<T extends TableName>(table: T, id: string): MaybePromise<Rows[T] | undefined>;
  /** The row that has this key in a unique index; `tables.ts` says how keys are made. */
  find<T extends TableName>(
    table: T,
    index: UniqueOf<T>,
    key: string,
  ): Promise<Rows[T] | undefined>;
  /** All rows whose indexed member has one of these values, ordered by id. Meant for few: the keys of a device, the codes of a screen. */
  select<T extends TableName>(
    table: T,
    index: IndexOf<T>,
    values: readonly string[],
  ): Promise<Rows[T][]>;
  count<T extends TableName>(table: T, index: IndexOf<T>, value: string): Promise<number>;
  /** The device key with this hash, and the device and screen that it names: one look-up, for it precedes every request of a TV; at once, too, where it can. */
  findByKeyHash(hash: string): MaybePromise<KeyHolder | undefined>;
}

export interface KeyHolder {
  key: DeviceKey;
  device: Device | undefined;
  screen: Screen | undefined;
}

/** A change under way: reads see what it and all changes before it have put. */
export interface Tx extends Reader {
  /** The store's own time, in milliseconds: it alone judges expiry. */
  readonly now: number;
  /** Inserts the row, or replaces the one with its id. Throws `conflict` when another row has one of its unique keys. */
  put<T extends TableName>(table: T, row: Rows[T]): Promise<void>;
  /** Deletes the row; nothing happens when there is none. */
  delete(table: TableName, id: string): Promise<void>;
  /** Adds to the audit trail, with the change. */
  audit(entry: AuditEntry): Promise<void>;
}

/** In the order of the sources. */
export type GuessCountersOfEach = readonly (GuessCounter | undefined)[];
export type GuessCounterChange<T> = (
  known: GuessCountersOfEach,
  nowMs: number,
) => { attempts: GuessCountersOfEach; result: T };

export type ListedTable = 'tenants' | 'tokens' | 'venues' | 'screens' | 'devices' | 'mirrorPending';

export interface ListQuery<T extends ListedTable> {
  /** Members that must be equal to the value, or to one of the values. */
  where?: { [K in keyof Rows[T]]?: Rows[T][K] | readonly Rows[T][K][] };
  /** Labels that must all hold. */
  labels?: Record<string, string>;
  /** The whole name, or a part of it, without regard to case. */
  name?: string;
  search?: string;
  /** Of devices: seen within the window that their config gives (docs/protocol.md §2.7), and not suspended, at `now`. */
  online?: { is: boolean; now: number };
  limit: number;
  /** The last id of the page before. */
  after?: string;
}

export interface PastPlaylistQuery {
  screenId: string;
  /** Only versions below this one: the last of the page before. */
  below: number;
  limit: number;
}

/** Some rows, and where the next page begins (the `after` to ask for); `null` when there is none. */
export interface Slice<T> {
  items: T[];
  next: string | null;
}

export interface EventBatch {
  tenantId: string;
  venueId: string;
  screenId: string;
  deviceId: string;
  /** The batch as a JSON array in UTF-8, without line breaks: kept as it is. */
  body: Uint8Array;
  /** What is looked at in the same, validated. */
  sums: BatchSums;
  /** The `Idempotency-Key`, if there was one, and the bytes it stands for. */
  idempotency?: { key: string; sent: Uint8Array };
}

/** Narrows a query to a few venues; absent: all of the tenant. None at all find nothing. */
interface WithinVenues {
  venueIds?: readonly string[] | undefined;
}

export interface ImpressionQuery extends ReportQuery, WithinVenues {
  tenantId: string;
}

/** Within venues are the entries that are about venues, all of them among these. */
export interface AuditPageQuery extends Omit<AuditQuery, 'cursor'>, WithinVenues {
  tenantIds: readonly (string | null)[];
  after?: string;
}

export interface EventPageQuery
  extends WithinVenues,
    Pick<EventQuery, 'type' | 'deviceId' | 'screenId' | 'from' | 'to' | 'order' | 'limit'> {
  tenantId: string;
  /** The id of the last event of the page before. */
  after?: string;
}

export interface StoredEvent {
  id: string;
  deviceId: string;
  screenId: string;
  /** Milliseconds. */
  receivedAt: number;
  /** As it was sent. */
  event: Record<string, unknown>;
}
