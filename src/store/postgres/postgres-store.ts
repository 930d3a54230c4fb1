import { secondMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { ReportRow } from '../../domain/records/report.ts';
import type {
  AuditEntry,
  LastActivity,
  Playlist,
  Rows,
  TokenActivity,
} from '../../domain/records/rows.ts';
import type { ChainKey } from '../audit/audit-chain.ts';
import type { ChangeTopics } from '../change-topics.ts';
import type {
  AuditPageQuery,
  EventBatch,
  EventPageQuery,
  GuessCounterChange,
  ImpressionQuery,
  ListedTable,
  ListQuery,
  PastPlaylistQuery,
  Reader,
  Slice,
  Store,
  StoredEvent,
  Tx,
} from '../store.ts';
import { auditPage, purgeAuditBefore } from './audit/trail.ts';
import type { Database } from './connection/database.ts';
import { unavailable } from './connection/errors.ts';
import type { Query } from './connection/query.ts';
import type { EventLog } from './events/event-log.ts';
import { eventPage } from './events/event-pages.ts';
import { dropPartitionsBefore } from './events/partitions.ts';
import type { Rollups } from './events/rollups.ts';
import type { SharedGuessCounters } from './guess-counters.ts';
import type { LastActivityTable } from './last-activity.ts';
import type { AnyActivity } from './merge-activity.ts';
import type { Listener } from './notify/listener.ts';
import type { Notifier } from './notify/notifier.ts';
import { listFinishedCodes, listPastPlaylists, listRows } from './rows/listing.ts';
import { RowReader } from './rows/row-reader.ts';
import type { VersionedRows } from './rows/versioned-rows.ts';
import type { Writer } from './rows/writer.ts';

const readyTimeoutMs = 2 * secondMs;

interface StoreParts {
  database: Database;
  topics: ChangeTopics;
  notifier: Notifier;
  listener: Listener;
  rows: VersionedRows;
  writer: Writer;
  events: EventLog;
  rollups: Rollups;
  lastActivity: LastActivityTable;
  guessCounters: SharedGuessCounters;
  secret: Uint8Array;
  chainKey: ChainKey;
  warn: (message: string) => void;
  stopJobs: () => Promise<void>;
}

/** The PostgreSQL store, shared by any number of instances. */
export class PostgresStore implements Store {
  readonly read: Reader;
  readonly secret: Uint8Array;
  readonly #parts: StoreParts;
  readonly #query: Query;
  #closing: Promise<void> | undefined;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.secret = parts.secret;
    this.#query = async (text, parameters) => {
      this.#refuseClosed();
      return parts.database.query(text, parameters);
    };
    this.read = new RowReader(this.#query, parts.rows, () => this.#refuseClosed());
  }

  async write<T>(change: (tx: Tx) => Promise<T>): Promise<T> {
    this.#refuseClosed();
    return this.#parts.writer.write(change);
  }

  async list<T extends ListedTable>(table: T, query: ListQuery<T>): Promise<Slice<Rows[T]>> {
    this.#refuseClosed();
    // The database evaluates `online`, so it must know the activity of this instance.
    if (query.online) await this.#parts.lastActivity.flush();
    return listRows(this.#query, table, query);
  }

  async pastPlaylists(query: PastPlaylistQuery): Promise<Slice<Playlist>> {
    return listPastPlaylists(this.#query, query);
  }

  async finishedCodes(timeMs: number, limit: number): Promise<string[]> {
    return listFinishedCodes(this.#query, timeMs, limit);
  }

  async appendBatch(batch: EventBatch): Promise<'stored' | 'repeated'> {
    this.#refuseClosed();
    return this.#parts.events.append(batch);
  }

  async events(query: EventPageQuery): Promise<Slice<StoredEvent>> {
    return eventPage(this.#query, query);
  }

  async impressions(query: ImpressionQuery): Promise<ReportRow[]> {
    this.#refuseClosed();
    return this.#parts.rollups.impressions(query);
  }

  async audit(query: AuditPageQuery): Promise<Slice<AuditEntry>> {
    return auditPage(this.#query, query);
  }

  touch(kind: 'device', id: string, activity: LastActivity): void;
  touch(kind: 'token', id: string, activity: TokenActivity): void;
  touch(kind: 'device' | 'token', id: string, activity: AnyActivity): void {
    this.#refuseClosed();
    this.#parts.lastActivity.touch(kind, id, activity);
  }

  marks(kind: 'device', id: string): Promise<LastActivity>;
  marks(kind: 'token', id: string): Promise<TokenActivity>;
  async marks(kind: 'device' | 'token', id: string): Promise<AnyActivity> {
    this.#refuseClosed();
    return this.#parts.lastActivity.marks(kind, id);
  }

  async updateGuessCounters<T>(
    sources: readonly string[],
    change: GuessCounterChange<T>,
  ): Promise<T> {
    this.#refuseClosed();
    return this.#parts.guessCounters.change(sources, change);
  }

  watch(topic: string, wake: () => void): () => void {
    this.#refuseClosed();
    return this.#parts.topics.watch(topic, wake);
  }

  async backup(): Promise<never> {
    throw new SignageError(
      'not_supported',
      'This deployment keeps its data in PostgreSQL: back it up with the tools of the database.',
    );
  }

  async ready(): Promise<void> {
    this.#refuseClosed();
    const { database } = this.#parts;
    const [standby] = await database.queryWithin<{ on: boolean }>(
      readyTimeoutMs,
      'SELECT pg_is_in_recovery() AS on',
    );
    if (standby?.on !== false)
      throw unavailable('The database is a standby and accepts no changes.');
  }

  async purgeBefore(timeMs: number): Promise<void> {
    this.#refuseClosed();
    const { database, rollups } = this.#parts;
    await dropPartitionsBefore(database, timeMs, () => rollups.fold());
    const { chainKey, warn } = this.#parts;
    if (!(await purgeAuditBefore(database, chainKey, timeMs)))
      warn('Audit entries past their retention do not verify: see signage audit verify.');
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { database, notifier, listener, writer, events, lastActivity, stopJobs } = this.#parts;
    await Promise.all([writer.settled(), events.settled(), stopJobs()]);
    await lastActivity.flush().catch(() => undefined);
    await Promise.all([notifier.close(), listener.close()]);
    await database.close();
  }

  #refuseClosed(): void {
    if (this.#closing) throw unavailable('The store is closed.');
  }
}
