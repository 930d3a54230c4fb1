import {
  type EventLogPosition,
  type EventRecord,
  eventFormat,
  frameRecord,
  headOf,
  recordOf,
} from '../events/event-record.ts';
import type { BulkLog } from '../log/bulk-log.ts';
import { dayStart } from '../log/day-files.ts';
import { readLog } from '../log/log-records.ts';
import { damagedLog, type RepairContext } from './repair-context.ts';

/** Result of salvaging an event log. */
export interface SalvagedEvents {
  position: EventLogPosition | undefined;
  /** Whether the log has all batches ever stored. */
  isComplete: boolean;
  /** Days, as `2026-11-20`, of which no batch is lost. */
  days: ReadonlySet<string>;
}

const empty = Buffer.from('[]');

/**
 * Writes all undamaged batches into new day files. Each lost batch is replaced by an empty batch
 * that belongs to no tenant, so that `seq` has no gaps. Calls `onRecord` for each undamaged batch.
 */
export class EventSalvage {
  readonly #context: RepairContext;
  readonly #oldPosition: EventLogPosition | undefined;
  readonly #onRecord: (record: EventRecord) => void;
  readonly #damagedDays = new Set<string>();
  readonly #newLog: BulkLog;
  #name = '';
  /** Number of the batch that precedes the next batch to write. `undefined`: not known yet. */
  #seq: number | undefined;
  #first: number | undefined;
  #receivedAt = 0;
  #newEnd: { file: string; size: number } | undefined;
  #lost = 0;

  constructor(
    context: RepairContext,
    oldPosition: EventLogPosition | undefined,
    newLog: BulkLog,
    onRecord: (record: EventRecord) => void,
  ) {
    this.#context = context;
    this.#oldPosition = oldPosition;
    this.#onRecord = onRecord;
    this.#newLog = newLog;
    if (!oldPosition || oldPosition.file === null) this.#seq = 0;
    else if (oldPosition.gone) {
      this.#seq = oldPosition.seq;
      this.#receivedAt = oldPosition.receivedAt;
    }
  }

  async run(): Promise<SalvagedEvents> {
    const { log } = this.#context;
    const { file = null, gone, seq = 0 } = this.#oldPosition ?? {};
    await this.#copy();
    if (file !== null && !gone && (this.#seq ?? 0) < seq) {
      this.#seq ??= seq - 1;
      await this.#fill(seq, file > this.#name ? file : this.#name);
    }
    await this.#newLog.close();
    if (this.#lost > 0)
      log.add('events', 'batches are lost; each is replaced by one without events', {
        lost: this.#lost,
      });
    const days = new Set(
      Object.keys(this.#newLog.sizes).filter((name) => !this.#damagedDays.has(name)),
    );
    return {
      position: this.#newPosition(),
      isComplete: this.#lost === 0 && this.#first === 1,
      days: new Set([...days].map((name) => name.slice(0, 10))),
    };
  }

  async #copy(): Promise<void> {
    const { log } = this.#context;
    const files = await damagedLog(this.#context, eventFormat, this.#oldPosition);
    for await (const { file, line, offset, head } of readLog(files, headOf)) {
      if (!head || head.seq <= (this.#seq ?? 0)) {
        this.#damagedDays.add(file);
        // After the first batch, lost batches are counted by the gaps in `seq` instead.
        log.add(`events/${file}`, 'a damaged record was left out', {
          offset,
          lost: this.#seq === undefined ? 1 : 0,
        });
        continue;
      }
      this.#first ??= head.seq;
      // If all batches up to the position are lost, an empty batch replaces the last one, so that
      // the position stays valid.
      if (this.#oldPosition && head.seq > this.#oldPosition.seq)
        this.#seq ??= this.#oldPosition.seq - 1;
      await this.#fill(head.seq - 1, file);
      await this.#write(file, Buffer.concat([line, Buffer.of(0x0a)]), head.seq, head.receivedAt);
      this.#onRecord(recordOf(line));
    }
  }

  /** Writes empty batches in place of lost ones, up to `last`. */
  async #fill(last: number, name: string): Promise<void> {
    const ids = { tenantId: '', venueId: '', screenId: '', deviceId: '' };
    // No batch was written yet: the earlier ones count as deleted by retention.
    if (this.#seq === undefined) return;
    for (let seq = this.#seq + 1; seq <= last; seq++) {
      const receivedAt = Math.max(this.#receivedAt, dayStart(name));
      this.#damagedDays.add(name);
      this.#lost++;
      await this.#write(name, frameRecord({ seq, receivedAt, ...ids }, empty), seq, receivedAt);
    }
  }

  async #write(name: string, bytes: Buffer, seq: number, receivedAt: number): Promise<void> {
    await this.#newLog.add(name, bytes);
    this.#name = name;
    this.#seq = seq;
    this.#receivedAt = receivedAt;
    const { sizes } = this.#newLog;
    if (seq === this.#oldPosition?.seq) this.#newEnd = { file: name, size: sizes[name] ?? 0 };
  }

  #newPosition(): EventLogPosition | undefined {
    const oldPosition = this.#oldPosition;
    if (!oldPosition || oldPosition.file === null || oldPosition.gone || !this.#newEnd)
      return oldPosition;
    const { file, size } = this.#newEnd;
    const before = Object.entries(this.#newLog.sizes).filter(([name]) => name < file);
    return { ...oldPosition, file, size, files: Object.fromEntries(before) };
  }
}
