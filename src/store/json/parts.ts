import type { Clock } from '../../domain/clock.ts';
import type { SignageError } from '../../domain/error.ts';
import type { ReportRow } from '../../domain/records/report.ts';
import type { AuditEntry } from '../../domain/records/rows.ts';
import type { AuditLink, SealedEntry } from '../audit/audit-chain.ts';
import type {
  EventBatch,
  EventPageQuery,
  ImpressionQuery,
  Slice,
  Store,
  StoredEvent,
} from '../store.ts';
import type { DocumentOwner } from './checkpoint/document-owner.ts';
import type { FileSystem } from './disk/file-system.ts';
import type { LogFilesPosition } from './log/day-files.ts';

/**
 * Dependencies of each part of the embedded store. `memory:` uses the same store with an in-memory
 * `FileSystem`.
 */
export interface PartContext {
  disk: FileSystem;
  /** The data folder. A part creates its own subfolder when it first needs one. */
  directory: string;
  clock: Clock;
  /** Appends fail while fewer bytes than this are free. */
  lowWaterBytes: number;
  /** Logs a warning. */
  warn(message: string, cause?: unknown): void;
}

/**
 * A part with its own files besides documents. The manifest stores its position as JSON that only
 * the part reads: the valid length of its files, and the start of the records that are not in
 * documents yet.
 *
 * Start: load the documents (`DocumentOwner.load`), `recover` each part, write the manifest with
 * the new epoch, `begin` each part.
 * Checkpoint: `prepare` each part, the journal first; write the documents; write the manifest with
 * the positions; `committed` for each part. A checkpoint that fails before the manifest is written
 * has no effect, and the next one calls `prepare` again.
 * Stop: `close` each part, then make a last checkpoint whose manifest is marked clean.
 */
export interface FilePart<Position = unknown> {
  /** Key of the position in the manifest, and name of the part's folder. */
  readonly name: string;
  /**
   * Writes and syncs pending data. Returns the position for the manifest. Also works after `close`.
   */
  prepare(): Promise<Position>;
  /**
   * Called when the manifest with the position of the last `prepare` is durable. Deletes files that
   * are no longer needed.
   */
  committed(): Promise<void>;
  /**
   * Reads and checks its files at start, and applies the records that the documents lack. Changes
   * nothing on disk. Throws `store_damaged` (`damaged` in log/damage.ts). `position` is `undefined`
   * in a new store. After a clean stop any difference is damage.
   */
  recover(position: Position | undefined, clean: boolean): Promise<void>;
  /**
   * Called when the whole store has proved valid. Makes the changes that `recover` found necessary,
   * such as cutting off a torn tail. Appends may follow.
   */
  begin(epoch: number): Promise<void>;
  /** Rejects new appends, finishes pending ones, closes its files. */
  close(): Promise<void>;
}

/** The day files of a log in one state, oldest first, and the length of the last one. */
export interface LogRange {
  names: readonly string[];
  end: { file: string | null; size: number };
}

/**
 * Telemetry in day files `events/YYYY-MM-DD.ndjson`, with its own `seq`. `prepare` must run before
 * its documents are rendered.
 */
export interface EventLog extends FilePart {
  /** Owners of its documents, idempotency keys and roll-ups; both belong to the log `events`. */
  readonly owners: readonly DocumentOwner[];
  append(batch: EventBatch): Promise<'stored' | 'repeated'>;
  page(query: EventPageQuery): Promise<Slice<StoredEvent>>;
  impressions(query: ImpressionQuery): Promise<ReportRow[]>;
  /**
   * Purges whole days before a time. Hides the files at once. A file that the position refers to is
   * deleted with the next checkpoint (`due`).
   */
  purgeBefore(timeMs: number): Promise<void>;
  /**
   * Returns the files that a start from this position reads or shows, up to the last durable batch.
   */
  logRange(position: LogFilesPosition | undefined): LogRange;
  /** Deletes the idempotency keys of a deleted device. */
  forget(deviceId: string): void;
  /** Sequence number of the last durable batch. */
  readonly seq: number;
  /** The error of a log that accepts no more batches. */
  readonly broken: SignageError | undefined;
}

export interface EventLogHooks {
  /** Called after each durable batch. */
  stored(tenantId: string): void;
  /**
   * Requests a checkpoint soon: 64 MiB of events are in no document yet, or a hidden file is to be
   * deleted. Otherwise owners of `events` name dirty documents, and advance the position, at most
   * once a minute and in the first checkpoint after `close`.
   */
  due(): void;
}

/** Implemented by `makeEventLog` in events/event-log.ts. */
export type MakeEventLog = (context: PartContext, hooks: EventLogHooks) => EventLog;

/** The entries that retention is about to delete. */
export interface AuditDrop {
  /** The first day that is kept. */
  day: string;
  /** The entries to delete, in order; `undefined` for an unreadable one. */
  entries(): AsyncIterable<SealedEntry | undefined>;
}

/**
 * The audit trail in day files `audit/YYYY-MM-DD.ndjson`. Entries arrive through the journal, which
 * keeps them until a position confirms that the day files have them. `recover` truncates to that
 * position, and the journal replays all later entries.
 */
export interface AuditTrail extends FilePart {
  /**
   * Adds an entry of journal record `seq`, which has become durable or is replayed after `recover`.
   * Replay includes entries that the position already covers.
   */
  add(seq: number, entry: AuditEntry, link?: AuditLink): void;
  page: Store['audit'];
  /**
   * Purges whole days, as the event log does. First calls `isNoted`, and deletes nothing unless it
   * returns true.
   */
  purgeBefore(timeMs: number, isNoted?: (drop: AuditDrop) => Promise<boolean>): Promise<void>;
  /**
   * Returns the files that a start from this position reads or shows, up to the position. Later
   * entries are in the journal.
   */
  logRange(position: LogFilesPosition | undefined): LogRange;
}

/** Implemented by `makeAuditTrail` in audit/audit-trail.ts. */
export type MakeAuditTrail = (context: PartContext) => AuditTrail;
