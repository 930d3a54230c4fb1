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
import { DayFiles, dayFile, type LogFilesPosition, startOfFile } from '../log/day-files.ts';
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
import { EventRecovery, type EventsMark } from './recovery.ts';

/** A start reads what is in no document yet: a checkpoint comes before it takes long. */
const tailLimitBytes = 64 * 1024 * 1024;
/** Documents of a large fleet have hundreds of megabytes: they are not written more often than this. */
const checkpointMs = minuteMs;

const nothing: EventsMark = { file: null, size: 0, seq: 0, receivedAt: 0 };

/** A batch with an idempotency key on its way to the disk. */
interface UnderWay {
  sent: string;
  done: Promise<void>;
}

/**
 * Telemetry: a line for each batch, `{"crc":…,"seq":n,"id":…,"receivedAt":ms,…,"events":[…]}`, in the file of the day of its receipt. `seq` counts up
 * without a gap over all files, `receivedAt` never steps back. What it holds in memory is folded in as the lines become durable, in their order.
 */
class DayFileEventLog implements EventLog, FilePart<EventsMark> {
  readonly name = 'events';
  readonly owners: readonly [IdempotencyKeys, Rollups];
  readonly #context: PartContext;
  readonly #hooks: EventLogHooks;
  readonly #files: DayFiles;
  readonly #rings: IdempotencyKeys;
  readonly #rollups: Rollups;
  readonly #underWay = new Map<string, UnderWay>();
  #log: GroupLog | undefined;
  /** The last durable batch, and where it ends. */
  #applied = nothing;
  #prepared = nothing;
  #committed = nothing;
  #nextSeq = 1;
  #receivedAt = 0;
  #latest: Promise<unknown> = Promise.resolve();
  #torn: TornTail | undefined;
  /** Bytes that are in no document yet. */
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
    this.#rings = new IdempotencyKeys(progress);
    this.#rollups = new Rollups(progress);
    this.owners = [this.#rings, this.#rollups];
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
    const mark = { key: shortHash(idempotency.key), sent: shortHash(idempotency.sent) };
    const known = this.#rings.find(deviceId, mark.key);
    if (known !== undefined) return repeated(known, mark);
    const name = `${deviceId}/${mark.key}`;
    const first = this.#underWay.get(name);
    if (first) {
      await first.done;
      return repeated(first.sent, mark);
    }
    const done = this.#store(batch, mark).finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, { sent: mark.sent, done });
    await done;
    return 'stored';
  }

  async #store(
    { tenantId, venueId, screenId, deviceId, sums, body }: EventBatch,
    mark?: RecordedKey,
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
      mark,
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
        this.#fold(record);
        this.#tailBytes += length;
        this.#askIfDue(length);
        this.#hooks.stored(tenantId);
      },
    );
    await this.#latest;
  }

  #fold(record: EventRecord): void {
    this.#rings.apply(record);
    this.#rollups.apply(record);
  }

  /** Once when the limit is passed. */
  #askIfDue(grownBytes: number): void {
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

  extent(mark: LogFilesPosition = nothing): LogRange {
    const { file, size } = this.#applied;
    // One that holds no durable batch yet is left out.
    const names = this.#files.neededBy(mark).filter((name) => file !== null && name <= file);
    return { names, end: { file, size } };
  }

  forget(deviceId: string): void {
    this.#rings.forget(deviceId);
  }

  async dropBefore(timeMs: number): Promise<void> {
    // Never the file that is being written to: from here on it is of this day or a later one.
    const first = dayFile(Math.min(timeMs, this.#context.clock.now()));
    if (!this.#files.names.some((name) => name < first)) return;
    this.#receivedAt = Math.max(this.#receivedAt, startOfFile(first));
    await this.#latest.catch(() => undefined);
    this.#files.hideBefore(first);
    await this.#files.deleteHidden(this.#committed);
    if (this.#files.waiting) this.#hooks.due();
  }

  async prepare(): Promise<EventsMark> {
    this.#writesDocuments = this.#isDue();
    this.#preparedBytes = this.#tailBytes;
    this.#prepared = this.#writesDocuments
      ? await this.#files.withSizes(this.#markNow())
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

  #markNow(): EventsMark {
    const { file } = this.#applied;
    if (file === null || this.#files.names.includes(file)) return this.#applied;
    // No later batch may go to a file that is dropped.
    return { ...this.#applied, receivedAt: startOfFile(file) + dayMs, gone: true };
  }

  async recover(mark: EventsMark = nothing, clean: boolean): Promise<void> {
    await this.#files.find(mark);
    await this.#files.check(mark, clean);
    const recovery = new EventRecovery(this.#files, mark, (record) => this.#fold(record));
    await recovery.read(clean);
    const { end, torn, bytes } = recovery;
    this.#applied = end;
    [this.#committed, this.#prepared, this.#torn, this.#tailBytes] = [mark, mark, torn, bytes];
    [this.#nextSeq, this.#receivedAt] = [end.seq + 1, end.receivedAt];
  }

  async begin(): Promise<void> {
    const { disk, directory, lowWaterBytes } = this.#context;
    await disk.makeDirectory(this.#files.directory);
    await disk.syncDirectory(directory);
    if (this.#torn) await cutTornTail(this.#context, this.#files.directory, this.#torn);
    if (this.#torn?.size === 0) this.#files.remove(this.#torn.file);
    await this.#files.deleteHidden(this.#committed);
    const { file, size, gone } = this.#applied;
    const resume = file === null || gone ? undefined : { file, size };
    if (resume) await this.#syncFile(resume.file);
    const options = {
      disk,
      directory: this.#files.directory,
      lowWaterBytes,
      onFailure: () => this.#stepBack(),
    };
    this.#log = new GroupLog(resume ? { ...options, resume } : options);
    this.#committedAt = this.#context.clock.now();
    this.#askIfDue(this.#tailBytes);
  }

  /** What a process that crashed had written, and not yet synced, counts from now on: repeats of it will be acknowledged. */
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

  #stepBack(): void {
    this.#nextSeq = this.#applied.seq + 1;
  }
}

function repeated(sentBefore: string, { sent }: RecordedKey): 'repeated' {
  if (sentBefore === sent) return 'repeated';
  throw new SignageError(
    'idempotency_key_reused',
    'This Idempotency-Key was used for another batch: take a new one for each batch.',
  );
}

/** The event log on day files. */
export const makeEventLog: MakeEventLog = (context, hooks) => new DayFileEventLog(context, hooks);
