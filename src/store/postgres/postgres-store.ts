import {
  type Clock,
  hourMs,
  iso,
  minuteMs,
  type Random,
  secondMs,
  systemClock,
} from '../../domain/clock.ts';
import { startPeriodicJob } from '../../domain/periodic-job.ts';
import type { AnyActivity } from '../../domain/records/activity.ts';
import type { AuditEntry } from '../../domain/records/audit.ts';
import type { ImpressionRow } from '../../domain/records/report.ts';
import type { Playlist } from '../../domain/records/rows.ts';
import type { ChainKey } from '../audit/audit-chain.ts';
import { ChangeTopics } from '../change-topics.ts';
import { OpenDumps } from '../dump/dump-stream.ts';
import { writeDump } from '../dump/write-dump.ts';
import type {
  AuditPageQuery,
  EventBatch,
  EventPageQuery,
  ImpressionQuery,
  ListQuery,
  PastPlaylistQuery,
  PlaylistSummary,
  PlayQuery,
  PlayVisitor,
  Slice,
  StoredEvent,
} from '../queries.ts';
import type { ListedTable, Rows } from '../sections.ts';
import type { GuessCounterChange, MediaReader, Reader, Store, Tx } from '../store.ts';
import { unavailable } from '../unavailable.ts';
import { auditPage, purgeAuditBefore } from './audit/trail.ts';
import type { Connect, DatabaseLimits } from './connection/connect.ts';
import type { Database } from './connection/database.ts';
import { databaseLocked } from './connection/instance-lock.ts';
import { beginSnapshot, databaseSource } from './dump/database-source.ts';
import { DumpSession } from './dump/dump-session.ts';
import { dropPartitionsBefore, EventLog } from './events/event-log.ts';
import { eventPage } from './events/event-pages.ts';
import { Rollups } from './events/rollups.ts';
import { SharedGuessCounters } from './guess-counters.ts';
import { LastActivityTable } from './last-activity.ts';
import { Listener } from './notify/listener.ts';
import { Notifier } from './notify/notifier.ts';
import { RefusedRequestsTable } from './refused-requests.ts';
import { Batcher } from './rows/batcher.ts';
import { DatabaseClock } from './rows/database-clock.ts';
import {
  endedRows,
  listFinishedCodes,
  listPastPlaylists,
  listRows,
  readPlaylistSummaries,
  supersededContents,
  unnamedContents,
} from './rows/listing.ts';
import { RowReader } from './rows/row-reader.ts';
import { lookUpLimits, VersionedRows } from './rows/versioned-rows.ts';
import { Writer } from './rows/writer.ts';

const readyTimeoutMs = 2 * secondMs;
export interface PostgresOptions extends DatabaseLimits {
  /** The clock of the store. `undefined`: the clock of the database. */
  clock: Clock | undefined;
  random: Random;
  warn: (message: string, cause?: unknown) => void;
  onReachable: ((isReachable: boolean, reason?: unknown) => void) | undefined;
}

interface StoreOptions extends PostgresOptions {
  secret: Uint8Array;
  chainKey: ChainKey;
}

/** The PostgreSQL store, shared by any number of instances. */
export class PostgresStore implements Store {
  readonly read: Reader;
  readonly readsAtOnce = lookUpLimits.maxItems;
  readonly secret: Uint8Array;
  readonly refusedRequests: RefusedRequestsTable;
  readonly #database: Database;
  readonly #clock: DatabaseClock;
  readonly #options: StoreOptions;
  readonly #topics = new ChangeTopics();
  readonly #notifier: Notifier;
  readonly #listener: Listener;
  readonly #writer: Writer;
  readonly #events: EventLog;
  readonly #rollups: Rollups;
  readonly #lastActivity: LastActivityTable;
  readonly #guessCounters: SharedGuessCounters;
  readonly #playlistSummaries: Batcher<string, PlaylistSummary | undefined>;
  readonly #dumps = new OpenDumps();
  readonly #connect: Connect;
  #stopJobs: readonly (() => Promise<void>)[] = [];
  #closing: Promise<void> | undefined;

  constructor(database: Database, connect: Connect, options: StoreOptions) {
    const { clock, random } = options;
    const instance = Buffer.from(random(8)).toString('hex');
    const rows = new VersionedRows(database.query);
    const notify = (topics: ReadonlySet<string>) => this.#notifier.changed(topics);
    this.secret = options.secret;
    this.#database = database;
    this.#connect = connect;
    this.#options = options;
    this.#clock = new DatabaseClock(database, clock);
    this.read = new RowReader(database.query, rows, () => this.#refuseClosed());
    this.#notifier = new Notifier(database, this.#topics, instance);
    this.#listener = new Listener(connect, options, {
      topics: this.#topics,
      instance,
      clock: systemClock,
    });
    this.#writer = new Writer(database, rows, {
      clock: this.#clock,
      random,
      committed: notify,
    });
    this.#events = new EventLog(database, clock, notify);
    this.#rollups = new Rollups(database);
    this.#lastActivity = new LastActivityTable(database, () => this.now());
    this.#guessCounters = new SharedGuessCounters(database, clock);
    this.#playlistSummaries = new Batcher(lookUpLimits, (ids) =>
      readPlaylistSummaries(database.query, ids),
    );
    this.refusedRequests = new RefusedRequestsTable(database);
  }

  /** Starts listening and the periodic jobs. Throws `store_locked` during a copy. */
  async start(): Promise<void> {
    await this.#clock.read();
    await this.#events.createPartitions();
    await this.#listener.start();
    if (this.#listener.isLockedByCopy) {
      await this.#listener.close();
      throw databaseLocked('The database', 'signage store copy');
    }
    this.#stopJobs = this.#startJobs();
  }

  /** Starts the periodic jobs. Returns functions that stop one and wait for it. */
  #startJobs(): (() => Promise<void>)[] {
    const { clock = systemClock, warn } = this.#options;
    const start = (everyMs: number, name: string, work: () => Promise<void>) =>
      startPeriodicJob(clock, everyMs, work, (error) =>
        warn(`${name} failed and will be retried`, error),
      );
    const renewClock = async () => void (await this.#clock.read());
    return [
      // Without the database the clock runs on, and other work reports the outage.
      startPeriodicJob(systemClock, 5 * secondMs, renewClock, () => {}),
      // Not urgent: reports fold the remaining batches themselves.
      start(5 * secondMs, 'Adding up impressions', () => this.#rollups.fold()),
      // Activity must be stored within a minute.
      start(15 * secondMs, 'Writing the activity of devices', () => this.#lastActivity.flush()),
      start(minuteMs, 'Deleting expired guess counters', () => this.#guessCounters.purge()),
      start(minuteMs, 'Deleting the oldest refused requests', () => this.refusedRequests.trim()),
      start(hourMs, 'Creating partitions', () => this.#events.createPartitions()),
    ];
  }

  now(): number {
    return this.#clock.now();
  }

  aheadMs(): number {
    return this.#clock.aheadMs();
  }

  async write<T>(change: (tx: Tx) => Promise<T>): Promise<T> {
    this.#refuseClosed();
    return this.#writer.write(change);
  }

  async list<T extends ListedTable>(table: T, query: ListQuery<T>): Promise<Slice<Rows[T]>> {
    // The database evaluates `online`, so the activity of this instance must be written first.
    if (query.online) await this.#lastActivity.flush();
    return listRows(this.#database.query, table, query);
  }

  playlistSummary(screenId: string): Promise<PlaylistSummary | undefined> {
    return this.#playlistSummaries.add(screenId);
  }

  async playlistSummaries(
    screenIds: readonly string[],
    signal?: AbortSignal,
  ): Promise<Map<string, PlaylistSummary>> {
    signal?.throwIfAborted();
    const summaries = new Map<string, PlaylistSummary>();
    const add = async (id: string) => {
      const summary = await this.playlistSummary(id);
      if (summary) summaries.set(id, summary);
    };
    await Promise.all(screenIds.map(add));
    return summaries;
  }

  async pastPlaylists(query: PastPlaylistQuery): Promise<Slice<Playlist>> {
    return listPastPlaylists(this.#database.query, query);
  }

  async supersededContents(): Promise<string[]> {
    return supersededContents(this.#database.query);
  }

  async unnamedContents(): Promise<string[]> {
    return unnamedContents(this.#database.query);
  }

  async endedRows(table: 'pastInputs' | 'loops', timeMs: number): Promise<string[]> {
    return endedRows(this.#database.query, table, timeMs);
  }

  async finishedCodes(timeMs: number, limit: number): Promise<string[]> {
    return listFinishedCodes(this.#database.query, timeMs, limit);
  }

  async appendBatch(batch: EventBatch): Promise<'stored' | 'repeated'> {
    this.#refuseClosed();
    return this.#events.append(batch);
  }

  async events(query: EventPageQuery): Promise<Slice<StoredEvent>> {
    return eventPage(this.#database.query, query);
  }

  async impressions(query: ImpressionQuery): Promise<ImpressionRow[]> {
    return this.#rollups.impressions(query);
  }

  async plays<V extends PlayVisitor>(query: PlayQuery, begin: () => V): Promise<V> {
    return this.#rollups.plays(query, begin);
  }

  async audit(query: AuditPageQuery): Promise<Slice<AuditEntry>> {
    return auditPage(this.#database.query, query);
  }

  touch(kind: 'device' | 'token', id: string, activity: AnyActivity): void {
    this.#refuseClosed();
    this.#lastActivity.touch(kind, id, activity);
  }

  async marks(kind: 'device' | 'token', id: string): Promise<AnyActivity> {
    return this.#lastActivity.marks(kind, id);
  }

  async updateGuessCounters<T>(
    sources: readonly string[],
    change: GuessCounterChange<T>,
  ): Promise<T> {
    this.#refuseClosed();
    return this.#guessCounters.change(sources, change);
  }

  watch(topic: string, wake: (topic: string) => void): () => void {
    this.#refuseClosed();
    return this.#topics.watch(topic, wake);
  }

  async backup(files?: MediaReader): Promise<ReadableStream<Uint8Array>> {
    this.#refuseClosed();
    return this.#dumps.begin(() => this.#beginDump(files));
  }

  async #beginDump(files: MediaReader | undefined) {
    await this.#lastActivity.flush();
    await this.#rollups.fold();
    const session = await DumpSession.open(this.#connect);
    const release = () => session.close();
    try {
      await session.queryAll(beginSnapshot);
      const chunks = writeDump(await databaseSource(session), iso(this.now()), files);
      return { chunks, clock: systemClock, warn: this.#options.warn, release };
    } catch (error) {
      await release();
      throw error;
    }
  }

  async ready(): Promise<void> {
    const [standby] = await this.#database.queryWithin<{ on: boolean }>(
      readyTimeoutMs,
      'SELECT pg_is_in_recovery() AS on',
    );
    if (standby?.on !== false)
      throw unavailable('The database is a standby and accepts no changes.');
  }

  async purgeBefore(timeMs: number, record = async () => {}): Promise<void> {
    this.#refuseClosed();
    const { chainKey, warn } = this.#options;
    await dropPartitionsBefore(this.#database, timeMs, async (hasEvents) => {
      if (hasEvents) await record();
      await this.#rollups.fold();
    });
    if (!(await purgeAuditBefore(this.#database, chainKey, timeMs, record)))
      warn('Audit entries past their retention do not verify: see signage audit verify.');
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#dumps.cancel();
    const stopped = this.#stopJobs.map((stop) => stop());
    await Promise.all([this.#writer.settled(), this.#events.settled(), ...stopped]);
    await this.#lastActivity.flush().catch(() => undefined);
    await Promise.all([this.#notifier.close(), this.#listener.close()]);
    await this.#database.close();
  }

  #refuseClosed(): void {
    if (this.#closing) throw unavailable('The store is closed.');
  }
}
