import { dayMs, minuteMs } from '../../../domain/clock.ts';
import { SignageError } from '../../../domain/error.ts';
import type { ReportRow } from '../../../domain/records/report.ts';
import { shortHash } from '../../short-hash.ts';
import type {
  EventBatch,
  EventPageQuery,
  ImpressionQuery,
  Slice,
  StoredEvent,
} from '../../store.ts';
import { DayFiles, dayFile, dayStart, type LogFilesPosition } from '../log/day-files.ts';
import { GroupLog, unavailable } from '../log/group-log.ts';
import { cutTornTail, type TornTail } from '../log/torn-tail.ts';
import type {
  EventLog,
  EventLogHooks,
  FilePart,
  LogRange,
  MakeEventLog,
  PartContext,
} from '../parts.ts';
import { Rollups } from '../rollups/rollups.ts';
import { type EventRecord, type RecordedKey, recordPieces } from './event-record.ts';
import { IdempotencyKeys } from './idempotency-keys.ts';
import { eventPage } from './pages.ts';
import { type EventLogPosition, EventRecovery } from './recovery.ts';

/**
 * A start replays the events that no document contains. Documents are written before that takes
 * long.
 */
const tailLimitBytes = 64 * 1024 * 1024;
/**
 * Interval of document writes, unless the log reaches `tailLimitBytes` earlier. The documents of a
 * large fleet have hundreds of megabytes.
 */
const checkpointMs = minuteMs;

const logStart: EventLogPosition = { file: null, size: 0, seq: 0, receivedAt: 0 };

/** A batch with an idempotency key that is not yet durable. */
interface InFlightBatch {
  sent: string;
  done: Promise<void>;
}

/**
 * Telemetry. Each batch is one line, `{"crc":…,"seq":n,"id":…,"receivedAt":ms,…,"events":[…]}`, in
 * the file of the day it was received. `seq` counts up without gaps over all files; `receivedAt`
 * never decreases. Idempotency keys and roll-ups in memory are updated in log order, as the lines
 * become durable.
 */
class DayFileEventLog implements EventLog, FilePart<EventLogPosition> {
  readonly name = 'events';
  readonly owners: readonly [IdempotencyKeys, Rollups];
  readonly #context: PartContext;
  readonly #hooks: EventLogHooks;
  readonly #files: DayFiles;
  readonly #idempotencyKeys: IdempotencyKeys;
  readonly #rollups: Rollups;
  readonly #inFlight = new Map<string, InFlightBatch>();
  #log: GroupLog | undefined;
  /** Position after the last durable batch. */
  #applied = logStart;
  #prepared = logStart;
  #committed = logStart;
  #nextSeq = 1;
  #receivedAt = 0;
  #latest: Promise<unknown> = Promise.resolve();
  #tornTail: TornTail | undefined;
  /** Bytes of the log that no document contains yet. */
  #tailBytes = 0;
  #preparedBytes = 0;
  #committedAt: number;
  #writesDocuments = false;
  #closed = false;

  constructor(context: PartContext, hooks: EventLogHooks) {
    this.#context = context;
    this.#hooks = hooks;
    this.#files = new DayFiles(context.disk, `${context.directory}/events`);
    this.#committedAt = context.clock.now();
    const progress = { seq: () => this.#applied.seq, due: () => this.#writesDocuments };
    this.#idempotencyKeys = new IdempotencyKeys(progress);
    this.#rollups = new Rollups(progress);
    this.owners = [this.#idempotencyKeys, this.#rollups];
  }

  get seq(): number {
    return this.#applied.seq;
  }

  get broken(): SignageError | undefined {
    return this.#log?.broken;
  }

  async append(batch: EventBatch): Promise<'stored' | 'repeated'> {
    const { deviceId, idempotency } = batch;
    if (!idempotency) {
      await this.#store(batch);
      return 'stored';
    }
    const recordedKey = { key: shortHash(idempotency.key), sent: shortHash(idempotency.sent) };
    const known = this.#idempotencyKeys.find(deviceId, recordedKey.key);
    if (known !== undefined) return repeated(known, recordedKey);
    const name = `${deviceId}/${recordedKey.key}`;
    const first = this.#inFlight.get(name);
    if (first) {
      await first.done;
      return repeated(first.sent, recordedKey);
    }
    const done = this.#store(batch, recordedKey).finally(() => this.#inFlight.delete(name));
    this.#inFlight.set(name, { sent: recordedKey.sent, done });
    await done;
    return 'stored';
  }

  async #store(
    { tenantId, venueId, screenId, deviceId, sums, body }: EventBatch,
    recordedKey?: RecordedKey,
  ): Promise<void> {
    if (!this.#log) throw unavailable('The store is starting.');
    this.#receivedAt = Math.max(this.#context.clock.now(), this.#receivedAt);
    const record: EventRecord = {
      seq: this.#nextSeq++,
      receivedAt: this.#receivedAt,
      tenantId,
      venueId,
      screenId,
      deviceId,
      recordedKey,
      sums,
    };
    this.#latest = this.#log.append(
      dayFile(record.receivedAt),
      recordPieces(record, body),
      ({ file, offset, length }) => {
        this.#files.add(file);
        this.#applied = {
          file,
          size: offset + length,
          seq: record.seq,
          receivedAt: record.receivedAt,
        };
        this.#apply(record);
        this.#tailBytes += length;
        this.#requestCheckpointIfDue(length);
        this.#hooks.stored(tenantId);
      },
    );
    await this.#latest;
  }

  #apply(record: EventRecord): void {
    this.#idempotencyKeys.apply(record);
    this.#rollups.apply(record);
  }

  /** Requests a checkpoint when the limit is crossed. */
  #requestCheckpointIfDue(grownBytes: number): void {
    if (this.#tailBytes >= tailLimitBytes && this.#tailBytes - grownBytes < tailLimitBytes)
      this.#hooks.due();
  }

  page(query: EventPageQuery): Promise<Slice<StoredEvent>> {
    const { file, size } = this.#applied;
    return eventPage({ files: this.#files, newest: { file, size } }, query);
  }

  impressions(query: ImpressionQuery): Promise<ReportRow[]> {
    return this.#rollups.impressions(query);
  }

  logRange(position: LogFilesPosition = logStart): LogRange {
    const { file, size } = this.#applied;
    // Leaves out a file without a durable batch.
    const names = this.#files.neededBy(position).filter((name) => file !== null && name <= file);
    return { names, end: { file, size } };
  }

  forget(deviceId: string): void {
    this.#idempotencyKeys.forget(deviceId);
  }

  async purgeBefore(timeMs: number): Promise<void> {
    // The file being written is never deleted: from here on it is the file of this day or a later
    // one.
    const first = dayFile(Math.min(timeMs, this.#context.clock.now()));
    if (!this.#files.names.some((name) => name < first)) return;
    this.#receivedAt = Math.max(this.#receivedAt, dayStart(first));
    await this.#latest.catch(() => undefined);
    this.#files.hideBefore(first);
    await this.#files.deleteHidden(this.#committed);
    if (this.#files.waiting) this.#hooks.due();
  }

  async prepare(): Promise<EventLogPosition> {
    this.#writesDocuments = this.#isDue();
    this.#preparedBytes = this.#tailBytes;
    this.#prepared = this.#writesDocuments
      ? await this.#files.withSizes(this.#currentPosition())
      : this.#committed;
    return this.#prepared;
  }

  async committed(): Promise<void> {
    this.#committed = this.#prepared;
    if (!this.#writesDocuments) return;
    this.#writesDocuments = false;
    this.#tailBytes -= this.#preparedBytes;
    this.#committedAt = this.#context.clock.now();
    await this.#files.deleteHidden(this.#committed);
  }

  #isDue(): boolean {
    if (this.#closed || this.#files.waiting || this.#tailBytes >= tailLimitBytes) return true;
    const elapsedMs = this.#context.clock.now() - this.#committedAt;
    return elapsedMs < 0 || elapsedMs >= checkpointMs;
  }

  #currentPosition(): EventLogPosition {
    const { file } = this.#applied;
    if (file === null || this.#files.names.includes(file)) return this.#applied;
    // No later batch may go to a deleted file.
    return { ...this.#applied, receivedAt: dayStart(file) + dayMs, gone: true };
  }

  async recover(position: EventLogPosition = logStart, clean: boolean): Promise<void> {
    await this.#files.find(position);
    await this.#files.check(position, clean);
    const recovery = new EventRecovery(this.#files, position, (record) => this.#apply(record));
    await recovery.read(clean);
    const { end, torn, bytes } = recovery;
    this.#applied = end;
    this.#prepared = position;
    this.#committed = position;
    this.#tornTail = torn;
    this.#tailBytes = bytes;
    this.#nextSeq = end.seq + 1;
    this.#receivedAt = end.receivedAt;
  }

  async begin(): Promise<void> {
    const { disk, directory, lowWaterBytes } = this.#context;
    await disk.makeDirectory(this.#files.directory);
    await disk.syncDirectory(directory);
    if (this.#tornTail) await cutTornTail(this.#context, this.#files.directory, this.#tornTail);
    if (this.#tornTail?.size === 0) this.#files.remove(this.#tornTail.file);
    await this.#files.deleteHidden(this.#committed);
    const { file, size, gone } = this.#applied;
    const resume = file === null || gone ? undefined : { file, size };
    if (resume) await this.#syncFile(resume.file);
    const options = {
      disk,
      directory: this.#files.directory,
      lowWaterBytes,
      onFailure: () => this.#rewindSeq(),
    };
    this.#log = new GroupLog(resume ? { ...options, resume } : options);
    this.#committedAt = this.#context.clock.now();
    this.#requestCheckpointIfDue(this.#tailBytes);
  }

  /**
   * Syncs what a crashed process had written but not synced. It counts as stored from now on:
   * repeats of it will be acknowledged.
   */
  async #syncFile(name: string): Promise<void> {
    const file = await this.#context.disk.open(this.#files.path(name), 'append');
    try {
      await file.datasync();
    } finally {
      await file.close();
    }
    await this.#context.disk.syncDirectory(this.#files.directory);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#log?.close();
  }

  #rewindSeq(): void {
    this.#nextSeq = this.#applied.seq + 1;
  }
}

function repeated(firstSent: string, { sent }: RecordedKey): 'repeated' {
  if (firstSent === sent) return 'repeated';
  throw new SignageError(
    'idempotency_key_reused',
    'This Idempotency-Key was used for another batch: take a new one for each batch.',
  );
}

/** Creates the event log on day files. */
export const makeEventLog: MakeEventLog = (context, hooks) => new DayFileEventLog(context, hooks);
