import type { Low } from 'lowdb';
import { iso } from '../../domain/clock.ts';
import type { DeviceActivity, LastActivity, TokenActivity } from '../../domain/records/activity.ts';
import type { AuditEntry } from '../../domain/records/audit.ts';
import type { ImpressionRow } from '../../domain/records/report.ts';
import type { Playlist } from '../../domain/records/rows.ts';
import { ChangeTopics } from '../change-topics.ts';
import { OpenDumps } from '../dump/dump-stream.ts';
import { writeDump } from '../dump/write-dump.ts';
import type {
  EventBatch,
  ListQuery,
  PastPlaylistQuery,
  PlaylistSummary,
  PlayQuery,
  PlayVisitor,
  Slice,
  StoredEvent,
} from '../queries.ts';
import { type ListedTable, type Rows, sectionOf } from '../sections.ts';
import type { GuessCounterChange, MediaReader, Reader, Store, Tx } from '../store.ts';
import { unavailable } from '../unavailable.ts';
import type { LastActivityTable } from './activity/last-activity.ts';
import type { AuditDrop, AuditTrail } from './audit/audit-trail.ts';
import type { TrailChain } from './audit/trail-chain.ts';
import { Checkpoint } from './checkpoint/checkpoint.ts';
import type { DocumentOwner } from './checkpoint/document-owner.ts';
import type { ManifestData } from './checkpoint/manifest.ts';
import { CheckpointSchedule } from './checkpoint/schedule.ts';
import type { FilePart, MarkedPart, PartContext } from './disk/parts.ts';
import type { EventLog } from './events/event-log.ts';
import { MemoryGuessCounters } from './guess-counters.ts';
import type { Journal } from './journal/journal.ts';
import type { Durable, DurableState } from './journal-replay.ts';
import {
  endedRows,
  listFinishedCodes,
  listPastPlaylists,
  listPlaylistSummaries,
  listRows,
  supersededContents,
  unnamedContents,
} from './rows/listing.ts';
import { RowView } from './rows/row-view.ts';
import { stateSource } from './state-source.ts';
import { Writer } from './writer.ts';

/** The parts of an open store. */
export interface StoreParts {
  context: PartContext;
  /** Postpones file deletions until the returned function is called. */
  retain: () => () => Promise<void>;
  manifest: Low<ManifestData>;
  secret: Uint8Array;
  release: () => Promise<void>;
  events: EventLog;
  audit: AuditTrail;
  chain: TrailChain;
  lastActivity: LastActivityTable;
  state: DurableState;
  journal: Journal;
  /** Parts with a state in the manifest, the journal first. */
  marked: readonly MarkedPart[];
  files: readonly FilePart[];
  owners: readonly DocumentOwner[];
}

/**
 * The embedded store: rows in memory, a write-ahead journal as the source of truth, and documents
 * as its checkpoints.
 */
export class JsonStore implements Store {
  readonly read: Reader;
  readonly readsAtOnce = 1;
  readonly #parts: StoreParts;
  readonly #topics = new ChangeTopics();
  readonly #writer: Writer;
  readonly #checkpoints: CheckpointSchedule;
  readonly #dumps = new OpenDumps();
  readonly #guessCounters: MemoryGuessCounters;
  #closing: Promise<void> | undefined;

  constructor(parts: StoreParts) {
    const { state, journal, chain, context } = parts;
    this.#parts = parts;
    this.#guessCounters = new MemoryGuessCounters(() => this.now());
    this.read = new RowView(state.base, state.disk, [], () => this.#refuseClosed());
    this.#writer = new Writer(state.base, state.disk, {
      journal,
      chain,
      admit: () => this.#checkpoints.admit(),
      apply: (durable) => this.#apply(durable),
    });
    const checkpoint = new Checkpoint(context, parts.manifest, parts);
    this.#checkpoints = new CheckpointSchedule(context, checkpoint, journal);
    this.#checkpoints.start();
    this.#checkpoints.grown();
    this.#checkpointIfRequested();
  }

  get secret(): Uint8Array {
    return this.#parts.secret;
  }

  now(): number {
    return this.#parts.context.clock.now();
  }

  aheadMs(): number {
    const { now, stamp } = this.#parts.journal.time();
    return stamp - now;
  }

  async write<T>(change: (tx: Tx) => Promise<T>): Promise<T> {
    this.#refuseClosed();
    return this.#writer.write(change);
  }

  async list<T extends ListedTable>(table: T, query: ListQuery<T>): Promise<Slice<Rows[T]>> {
    this.#refuseClosed();
    return listRows(this.#parts.state.base, this.#parts.lastActivity, table, query);
  }

  async playlistSummary(screenId: string): Promise<PlaylistSummary | undefined> {
    this.#refuseClosed();
    return this.#parts.state.base.playlistSummary(screenId);
  }

  async playlistSummaries(
    screenIds: readonly string[],
    signal?: AbortSignal,
  ): Promise<Map<string, PlaylistSummary>> {
    this.#refuseClosed();
    return listPlaylistSummaries(this.#parts.state.base, screenIds, signal);
  }

  async pastPlaylists(query: PastPlaylistQuery): Promise<Slice<Playlist>> {
    this.#refuseClosed();
    return listPastPlaylists(this.#parts.state.disk, query);
  }

  async supersededContents(): Promise<string[]> {
    this.#refuseClosed();
    return supersededContents(this.#parts.state.base);
  }

  async unnamedContents(): Promise<string[]> {
    this.#refuseClosed();
    const { base, disk } = this.#parts.state;
    return unnamedContents(base, disk);
  }

  async endedRows(table: 'pastInputs' | 'loops', timeMs: number): Promise<string[]> {
    this.#refuseClosed();
    return endedRows(this.#parts.state.disk, table, timeMs);
  }

  async finishedCodes(timeMs: number, limit: number): Promise<string[]> {
    this.#refuseClosed();
    return listFinishedCodes(this.#parts.state.base, timeMs, limit);
  }

  async appendBatch(batch: EventBatch): Promise<'stored' | 'repeated'> {
    this.#refuseClosed();
    const outcome = await this.#parts.events.append(batch);
    if (outcome === 'stored') this.#topics.changed(`events/${batch.tenantId}`);
    this.#checkpointIfRequested();
    return outcome;
  }

  #checkpointIfRequested(): void {
    if (this.#parts.events.takeCheckpointRequest()) this.#checkpoints.begin();
  }

  async events(query: Parameters<Store['events']>[0]): Promise<Slice<StoredEvent>> {
    this.#refuseClosed();
    return this.#parts.events.page(query);
  }

  async impressions(query: Parameters<Store['impressions']>[0]): Promise<ImpressionRow[]> {
    this.#refuseClosed();
    return this.#parts.events.impressions(query);
  }

  async plays<V extends PlayVisitor>(query: PlayQuery, begin: () => V): Promise<V> {
    this.#refuseClosed();
    return this.#parts.events.plays(query, begin);
  }

  async audit(query: Parameters<Store['audit']>[0]): Promise<Slice<AuditEntry>> {
    this.#refuseClosed();
    return this.#parts.audit.page(query);
  }

  touch(kind: 'device' | 'token', id: string, activity: LastActivity & TokenActivity): void {
    this.#refuseClosed();
    this.#parts.lastActivity.touch(kind, id, activity);
  }

  async marks(kind: 'device' | 'token', id: string): Promise<DeviceActivity & TokenActivity> {
    this.#refuseClosed();
    const sequence = kind === 'device' ? this.#parts.events.sequences.summary(id) : undefined;
    return Object.assign(this.#parts.lastActivity.marks(kind, id), sequence);
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

  async ready(): Promise<void> {
    this.#refuseClosed();
    const { journal, events } = this.#parts;
    for (const { log } of [journal, events]) await log.checkWritable();
  }

  async purgeBefore(timeMs: number, record = async () => {}): Promise<void> {
    this.#refuseClosed();
    const { audit, events } = this.#parts;
    await audit.purgeBefore(timeMs, async (drop) => {
      await record();
      return this.#persistDrop(drop);
    });
    await events.purgeBefore(timeMs, record);
    // A checkpoint that begins now deletes the hidden files of both logs.
    if (events.takeCheckpointRequest() || audit.log.hasPendingDeletes) void this.#checkpoints.now();
  }

  /**
   * Writes the chain's new start to disk with a checkpoint. Returns whether that succeeded; only
   * then may the entries be deleted.
   */
  async #persistDrop(drop: AuditDrop): Promise<boolean> {
    const { chain, context } = this.#parts;
    if (!(await chain.startAfter(drop)))
      context.warn(
        `The audit entries before ${drop.day} are past their retention and do not verify: see signage audit verify.`,
      );
    return this.#checkpoints.now();
  }

  async backup(files?: MediaReader): Promise<ReadableStream<Uint8Array>> {
    this.#refuseClosed();
    const { context, secret, retain } = this.#parts;
    const { clock, warn } = context;
    return this.#dumps.begin(() => {
      const chunks = writeDump(stateSource(this.#parts, secret), iso(clock.now()), files);
      return { chunks, clock, warn, release: retain() };
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { context, journal, events, lastActivity, files, release } = this.#parts;
    await this.#writer.settled();
    await this.#dumps.cancel();
    const isIntact = !journal.log.broken && !events.log.broken;
    try {
      const closed = await Promise.allSettled(files.map((part) => part.close()));
      lastActivity.close();
      await this.#checkpoints.stop(
        isIntact && closed.every(({ status }) => status === 'fulfilled'),
      );
    } catch (cause) {
      context.warn('The last checkpoint failed; the next start replays the journal', cause);
    } finally {
      await release();
    }
  }

  #apply(durable: Durable): void {
    this.#parts.state.apply(durable);
    for (const { table, id } of durable.changes) {
      const topic = sectionOf(table).topic?.(id);
      if (topic !== undefined) this.#topics.changed(topic);
    }
    this.#checkpoints.grown();
  }

  #refuseClosed(): void {
    if (this.#closing) throw unavailable('The store is closed.');
  }
}
