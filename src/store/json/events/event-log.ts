import { dayMs, minuteMs } from '../../../domain/clock.ts';
import { SignageError } from '../../../domain/error.ts';
import type { ImpressionRow } from '../../../domain/records/report.ts';
import type {
  EventBatch,
  EventPageQuery,
  ImpressionQuery,
  PlayQuery,
  PlayVisitor,
  Slice,
  StoredEvent,
} from '../../queries.ts';
import { shortHash } from '../../short-hash.ts';
import { unavailable } from '../../unavailable.ts';
import type { FilePart, PartContext } from '../disk/parts.ts';
import { dayFile, dayStart } from '../log/day-files.ts';
import {
  type BatchNumber,
  type EventLogPosition,
  type EventRecord,
  eventFormat,
  type RecordedKey,
  recordOf,
  recordPieces,
} from '../log/event-record.ts';
import { FramedLog } from '../log/framed-log.ts';
import { PlayDocuments } from '../rollups/play-documents.ts';
import { Rollups } from '../rollups/rollups.ts';
import { IdempotencyKeys } from './idempotency-keys.ts';
import { eventPage } from './pages.ts';
import { Sequences } from './sequences.ts';

/**
 * A checkpoint is requested when the events that no document contains reach this size in bytes. A
 * start replays these events, and must not take long.
 */
const tailLimitBytes = 64 * 1024 * 1024;
/**
 * Minimum interval between document writes, unless the log reaches `tailLimitBytes` earlier. It is
 * not shorter, because the documents of a large fleet have hundreds of megabytes.
 */
const checkpointMs = minuteMs;

/** A batch that has an idempotency key and is not yet durable. */
interface InFlightBatch {
  sent: string;
  done: Promise<void>;
}

/**
 * Log of the devices' events. Each batch is one line,
 * `{"crc":…,"seq":n,"id":…,"receivedAt":ms,…,"events":[…]}`, in the file of the day it was
 * received, `events/YYYY-MM-DD.ndjson`. `seq` counts up without gaps over all files; `receivedAt`
 * never decreases. When a line becomes durable, the idempotency keys, roll-ups and sequence numbers
 * in memory are updated, in log order. Call `prepare` before rendering the documents.
 */
export class EventLog implements FilePart<EventLogPosition> {
  readonly name = 'events';
  /** Owners of the documents that are built from this log (`DocumentOwner.log` is `events`). */
  readonly owners: readonly [IdempotencyKeys, Rollups, PlayDocuments, Sequences];
  readonly sequences: Sequences;
  readonly #context: PartContext;
  readonly log: FramedLog<BatchNumber, EventLogPosition>;
  readonly #idempotencyKeys: IdempotencyKeys;
  readonly #rollups: Rollups;
  readonly #plays: PlayDocuments;
  readonly #inFlight = new Map<string, InFlightBatch>();
  #nextSeq = 1;
  /** `log.failures` at the last record. */
  #failures = 0;
  #receivedAt = 0;
  #latest: Promise<unknown> = Promise.resolve();
  /** Bytes of the log that no document contains yet. */
  #tailBytes = 0;
  #preparedBytes = 0;
  #committedAt: number;
  #writesDocuments = false;
  #isRequested = false;
  #state: 'starting' | 'open' | 'closed' = 'starting';

  constructor(context: PartContext) {
    this.#context = context;
    this.log = new FramedLog(context, eventFormat);
    this.#committedAt = context.clock.now();
    const progress = { seq: () => this.log.end.seq, due: () => this.#writesDocuments };
    this.#idempotencyKeys = new IdempotencyKeys(progress);
    this.#rollups = new Rollups(progress);
    this.#plays = new PlayDocuments(progress);
    this.sequences = new Sequences(progress);
    this.owners = [this.#idempotencyKeys, this.#rollups, this.#plays, this.sequences];
  }

  async append(batch: EventBatch): Promise<'stored' | 'repeated'> {
    const { deviceId, idempotency } = batch;
    if (!idempotency) {
      await this.#store(batch);
      return 'stored';
    }
    const recordedKey = { key: shortHash(idempotency.key), sent: shortHash(idempotency.sent) };
    const known = this.#idempotencyKeys.find(deviceId, recordedKey.key);
    if (known !== undefined) return repeatOf(known, recordedKey);
    const name = `${deviceId}/${recordedKey.key}`;
    const first = this.#inFlight.get(name);
    if (first) {
      await first.done;
      return repeatOf(first.sent, recordedKey);
    }
    const done = this.#store(batch, recordedKey).finally(() => this.#inFlight.delete(name));
    this.#inFlight.set(name, { sent: recordedKey.sent, done });
    await done;
    return 'stored';
  }

  async #store(
    { tenantId, venueId, screenId, deviceId, simulated, deviceTime, sums, body }: EventBatch,
    recordedKey?: RecordedKey,
  ): Promise<void> {
    if (this.#state !== 'open') throw unavailable(`The store is ${this.#state}.`);
    if (this.log.failures !== this.#failures) this.#rewindSeq();
    this.#receivedAt = Math.max(this.#context.clock.now(), this.#receivedAt);
    const record: EventRecord = {
      seq: this.#nextSeq++,
      receivedAt: this.#receivedAt,
      tenantId,
      venueId,
      screenId,
      deviceId,
      simulated: simulated || undefined,
      offsetMs: deviceTime === undefined ? undefined : this.#receivedAt - deviceTime,
      offsets: sums.offsets && [...sums.offsets],
      recordedKey,
      sums,
    };
    const { seq, receivedAt } = record;
    const pieces = recordPieces(record, body);
    this.#latest = this.log.append(dayFile(receivedAt), pieces, { seq, receivedAt }, (length) => {
      this.#apply(record);
      this.#tailBytes += length;
      this.#noteGrowth(length);
    });
    await this.#latest;
  }

  #apply(record: EventRecord): void {
    this.#idempotencyKeys.apply(record);
    this.#rollups.apply(record);
    this.#plays.apply(record);
    this.sequences.apply(record);
  }

  /** Requests a checkpoint when `#tailBytes` crosses `tailLimitBytes`. */
  #noteGrowth(grownBytes: number): void {
    if (this.#tailBytes >= tailLimitBytes && this.#tailBytes - grownBytes < tailLimitBytes)
      this.#isRequested = true;
  }

  /**
   * Returns whether a checkpoint should run soon: 64 MiB of events are in no document yet, or a
   * hidden file is to be deleted. Returns true only once per request. Without a request, the
   * documents of `events` are written at most once a minute, and in the first checkpoint after
   * `close`.
   */
  takeCheckpointRequest(): boolean {
    const isRequested = this.#isRequested;
    this.#isRequested = false;
    return isRequested;
  }

  page(query: EventPageQuery): Promise<Slice<StoredEvent>> {
    return eventPage(this.log, query);
  }

  impressions(query: ImpressionQuery): Promise<ImpressionRow[]> {
    return this.#rollups.impressions(query);
  }

  plays<V extends PlayVisitor>(query: PlayQuery, begin: () => V): Promise<V> {
    return this.#plays.read(query, begin);
  }

  /** Deletes the idempotency keys and sequence numbers of a deleted device. */
  forget(deviceId: string): void {
    this.#idempotencyKeys.forget(deviceId);
    this.sequences.forget(deviceId);
  }

  /**
   * Purges whole days before a time. Hides their files, and deletes those that a start does not
   * need. The next checkpoint deletes the others.
   */
  async purgeBefore(timeMs: number, record = async () => {}): Promise<void> {
    // Later batches go to the file of this day or a newer one, so no batch goes to a deleted file.
    const first = dayFile(Math.min(timeMs, this.#context.clock.now()));
    if (!this.log.names.some((name) => name < first)) return;
    await record();
    this.#receivedAt = Math.max(this.#receivedAt, dayStart(first));
    await this.#latest.catch(() => undefined);
    this.log.hideBefore(first);
    const { file, gone } = this.log.end;
    // After a restart, too, no batch may go to a deleted file.
    if (file !== null && gone)
      this.log.end = { ...this.log.end, receivedAt: dayStart(file) + dayMs };
    await this.log.deleteHidden();
    if (this.log.hasPendingDeletes) this.#isRequested = true;
  }

  async prepare(): Promise<EventLogPosition> {
    this.#writesDocuments = this.#isDue();
    this.#preparedBytes = this.#tailBytes;
    return this.#writesDocuments ? this.log.prepare() : this.log.committed;
  }

  async committed(): Promise<void> {
    if (!this.#writesDocuments) return;
    this.#writesDocuments = false;
    this.#tailBytes -= this.#preparedBytes;
    this.#committedAt = this.#context.clock.now();
    await this.log.commit();
  }

  #isDue(): boolean {
    if (this.#state === 'closed' || this.log.hasPendingDeletes) return true;
    const elapsedMs = this.#context.clock.now() - this.#committedAt;
    return this.#tailBytes >= tailLimitBytes || elapsedMs < 0 || elapsedMs >= checkpointMs;
  }

  async recover(position = eventFormat.start, clean: boolean): Promise<void> {
    await this.log.recover(position, clean);
    await this.log.replay(position, (record) => {
      const { file, offset, end, line } = record;
      const { seq, receivedAt } = record.head;
      this.log.end = { file, size: end, seq, receivedAt };
      this.#tailBytes += end - offset;
      this.#apply(recordOf(line));
    });
    this.#receivedAt = this.log.end.receivedAt;
    this.#rewindSeq();
  }

  async begin(): Promise<void> {
    await this.log.begin();
    this.#state = 'open';
    this.#committedAt = this.#context.clock.now();
    this.#noteGrowth(this.#tailBytes);
  }

  async close(): Promise<void> {
    this.#state = 'closed';
    await this.log.close();
  }

  #rewindSeq(): void {
    this.#failures = this.log.failures;
    this.#nextSeq = this.log.end.seq + 1;
  }
}

function repeatOf(firstSent: string, { sent }: RecordedKey): 'repeated' {
  if (firstSent === sent) return 'repeated';
  throw new SignageError(
    'idempotency_key_reused',
    'This Idempotency-Key was used for another batch: take a new one for each batch.',
  );
}
