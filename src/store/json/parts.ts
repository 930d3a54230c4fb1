import type { Clock } from '../../domain/clock.ts';
import type { SignageError } from '../../domain/error.ts';
import type { ReportRow } from '../../domain/records/report.ts';
import type {
  AuditEntry,
  LastActivity,
  Playlist,
  TokenActivity,
} from '../../domain/records/rows.ts';
import type { AuditLink, SealedEntry } from '../audit/audit-chain.ts';
import type {
  EventBatch,
  EventPageQuery,
  ImpressionQuery,
  PastPlaylistQuery,
  Slice,
  Store,
  StoredEvent,
} from '../store.ts';
import type { DocumentOwner } from './checkpoint/document-owner.ts';
import type { FileSystem } from './disk/file-system.ts';
import type { LogFilesPosition } from './log/day-files.ts';

/** What each part of the embedded store is made with. `memory:` is the same store over an in-memory `FileSystem`. */
export interface PartContext {
  disk: FileSystem;
  /** The data folder. A part makes its own folder in it when it first needs one. */
  directory: string;
  clock: Clock;
  /** Logs refuse to grow while fewer bytes than this are free. */
  lowWaterBytes: number;
  /** Something that is worth a line in the log, and no reason to stop. */
  warn(message: string, cause?: unknown): void;
}

/**
 * A part with files of its own beside documents. The manifest keeps its `mark`, JSON that only the part reads: how far its files are good,
 * and from where on they hold what is in no document.
 *
 * Start: documents are loaded (`DocumentOwner.load`), then `recover` of every part, the manifest with the new epoch, `begin` of every part.
 * Checkpoint: `prepare` of every part, the journal's first; documents; the manifest with the marks; `committed` of every part.
 * A checkpoint that fails anywhere before the manifest never happened: the next one calls `prepare` again.
 * Stop: `close` of every part, one last checkpoint, whose manifest is marked clean.
 */
export interface FilePart<Mark = unknown> {
  /** The manifest's name for the mark; also the part's folder. */
  readonly name: string;
  /** Brings to the disk (written and synced) what goes into its files, and says what the manifest shall note. Works after `close`, too. */
  prepare(): Promise<Mark>;
  /** The manifest with the mark of the last `prepare` is on the disk: what only served until then may be deleted. */
  committed(): Promise<void>;
  /**
   * At start: reads and checks its files and takes in what the documents lack. Changes nothing on the disk; throws `store_damaged`
   * (`damaged`, in damage.ts). `mark` is `undefined` in a new store. After a clean stop every difference is damage.
   */
  recover(mark: Mark | undefined, clean: boolean): Promise<void>;
  /** The whole store is sound: makes the changes that `recover` left over, such as cutting off a torn tail. Appends may come from now on. */
  begin(epoch: number): Promise<void>;
  /** Takes nothing more, finishes what is under way, closes its files. */
  close(): Promise<void>;
}

/** The day files of one state of a log, oldest first, and how much of the last one belongs to it. */
export interface LogRange {
  names: readonly string[];
  end: { file: string | null; size: number };
}

/** Telemetry in day files `events/YYYY-MM-DD.ndjson`, with its own `seq`. `prepare` runs before its owners' documents are rendered. */
export interface EventLog extends FilePart {
  /** Its documents: idempotency rings and roll-ups, both of the log `events`. */
  readonly owners: readonly DocumentOwner[];
  append(batch: EventBatch): Promise<'stored' | 'repeated'>;
  page(query: EventPageQuery): Promise<Slice<StoredEvent>>;
  impressions(query: ImpressionQuery): Promise<ReportRow[]>;
  /** The files are hidden at once; one that the mark names goes from the disk with the next checkpoint (`due`). */
  dropBefore(timeMs: number): Promise<void>;
  /** Of a state with this mark: all files that its start reads or shows, up to the last durable batch. */
  extent(mark: LogFilesPosition | undefined): LogRange;
  /** The device's row is gone, and its idempotency keys go with it. */
  forget(deviceId: string): void;
  /** The last durable batch. */
  readonly seq: number;
  /** Why nothing can be appended any more, if so. */
  readonly broken: SignageError | undefined;
}

export interface EventLogHooks {
  /** After each durable batch. */
  stored(tenantId: string): void;
  /**
   * 64 MiB of events are in no document yet, or a file waits to be dropped: a checkpoint is wanted soon. Otherwise owners of `events` name
   * dirty documents, and the mark moves on, in the first checkpoint that comes a minute or more after the last such, and in the one after
   * `close`.
   */
  due(): void;
}

/** `makeEventLog` of event-log.ts. */
export type MakeEventLog = (context: PartContext, hooks: EventLogHooks) => EventLog;

/** What retention is about to take from the audit trail. */
export interface AuditDrop {
  /** The first day that stays. */
  day: string;
  /** The entries that go, in their order; `undefined` for one that cannot be read. */
  entries(): AsyncIterable<SealedEntry | undefined>;
}

/**
 * The audit trail in day files `audit/YYYY-MM-DD.ndjson`. Entries come in through the journal, which keeps them until a mark says that the day
 * files have them: `recover` goes back to what the mark says, and the journal hands in again all that came after.
 */
export interface AuditTrail extends FilePart {
  /** An entry of the journal's record `seq`: it has become durable, or is replayed (after `recover`; those the mark covers come too). */
  add(seq: number, entry: AuditEntry, link?: AuditLink): void;
  page: Store['audit'];
  /** As in the event log. Nothing is deleted unless `isNoted`, which is called before. */
  dropBefore(timeMs: number, isNoted?: (drop: AuditDrop) => Promise<boolean>): Promise<void>;
  /** Of a state with this mark: all files that its start reads or shows, up to the mark. What came later is in the journal. */
  extent(mark: LogFilesPosition | undefined): LogRange;
}

/** `makeAuditTrail` of audit-trail.ts. */
export type MakeAuditTrail = (context: PartContext) => AuditTrail;

/** A table read from its documents when asked; changes that are in no document yet are held in memory. Its log is the journal. */
export interface OnDiskTable extends DocumentOwner {
  /** A change of the journal's record `seq`: it has become durable, or is replayed (after `load`; those the document has come too). */
  apply(seq: number, id: string, row: Playlist | null): void;
  get(id: string): Promise<Playlist | undefined>;
  /** All rows of these screens, ordered by id as text. */
  select(screenIds: readonly string[]): Promise<Playlist[]>;
  /** Parses no more rows than the page holds. */
  page(query: PastPlaylistQuery): Promise<Slice<Playlist>>;
}

/** `makePlaylistHistory` of playlist-history.ts. */
export type MakeOnDiskTable = (context: PartContext) => OnDiskTable;

/** The latest doings of devices and tokens. `dirty` names documents at most once a minute; after `close`, all that changed. */
export interface LastActivityPart extends DocumentOwner {
  touch(kind: 'device', id: string, marks: LastActivity): void;
  touch(kind: 'token', id: string, marks: TokenActivity): void;
  marks(kind: 'device', id: string): LastActivity;
  marks(kind: 'token', id: string): TokenActivity;
  /** The row is gone, and its marks go with it. */
  forget(kind: 'device' | 'token', id: string): void;
  close(): void;
}

/** `makeLastActivityPart` of marks.ts. */
export type MakeLastActivityPart = (context: PartContext) => LastActivityPart;
