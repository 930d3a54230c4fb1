import { type EventRecord, frameRecord, headOf, recordOf } from '../events/event-record.ts';
import type { EventLogPosition } from '../events/recovery.ts';
import { dayStart, isDayFile, type LogFilesPosition } from '../log/day-files.ts';
import { isValidRecord, readFrames } from '../log/frame.ts';
import { reportMissingFiles } from './missing-files.ts';
import { NewFile, type RepairContext } from './repair-context.ts';

/** Result of salvaging an event log. */
export interface SalvagedEvents {
  position: EventLogPosition | undefined;
  /** The log is complete from its first batch on. */
  isComplete: boolean;
  /** Days with all their batches. */
  days: ReadonlySet<string>;
}

const empty = Buffer.from('[]');

/**
 * Writes all whole batches into new day files. Each lost batch is replaced by an empty one that
 * belongs to no tenant, so that `seq` has no gaps. Calls `onRecord` for each whole batch.
 */
export async function salvageEvents(
  context: RepairContext,
  oldPosition: EventLogPosition | undefined,
  onRecord: (record: EventRecord) => void,
): Promise<SalvagedEvents> {
  const salvage = new EventSalvage(context, oldPosition, onRecord);
  return salvage.run();
}

class EventSalvage {
  readonly #context: RepairContext;
  readonly #oldPosition: EventLogPosition | undefined;
  readonly #onRecord: (record: EventRecord) => void;
  readonly #sizes: Record<string, number> = {};
  readonly #damagedDays = new Set<string>();
  #file: NewFile | undefined;
  #name = '';
  /** Last batch written; `undefined` before the first. */
  #seq: number | undefined;
  #first: number | undefined;
  #receivedAt = 0;
  #newEnd: LogFilesPosition | undefined;
  #lost = 0;

  constructor(
    context: RepairContext,
    oldPosition: EventLogPosition | undefined,
    onRecord: (record: EventRecord) => void,
  ) {
    this.#context = context;
    this.#oldPosition = oldPosition;
    this.#onRecord = onRecord;
    if (!oldPosition || oldPosition.file === null) this.#seq = 0;
    else if (oldPosition.gone) {
      this.#seq = oldPosition.seq;
      this.#receivedAt = oldPosition.receivedAt;
    }
  }

  async run(): Promise<SalvagedEvents> {
    const { from, log } = this.#context;
    const { file = null, gone, seq = 0 } = this.#oldPosition ?? {};
    const present = (await from.disk.list(`${from.directory}/events`)).filter(isDayFile).sort();
    const names = present.filter((name) => !(gone && file !== null && name <= file));
    await reportMissingFiles(this.#context, 'events', this.#oldPosition, present);
    for (const name of names) await this.#copy(name);
    if (file !== null && !gone && (this.#seq ?? 0) < seq) {
      this.#seq ??= seq - 1;
      await this.#fill(seq, file > this.#name ? file : this.#name);
    }
    await this.#closeFile();
    if (this.#lost > 0)
      log.add('events', 'batches are lost; each is replaced by one without events', {
        lost: this.#lost,
      });
    const days = new Set(Object.keys(this.#sizes).filter((name) => !this.#damagedDays.has(name)));
    return {
      position: this.#newPosition(),
      isComplete: this.#lost === 0 && this.#first === 1,
      days: new Set([...days].map((name) => name.slice(0, 10))),
    };
  }

  async #copy(name: string): Promise<void> {
    const { from, log } = this.#context;
    for await (const { line, offset } of readFrames(
      from.disk,
      `${from.directory}/events/${name}`,
    )) {
      const head = isValidRecord(line) ? headOf(line) : undefined;
      if (!head || head.seq <= (this.#seq ?? 0)) {
        this.#damagedDays.add(name);
        // Later losses are counted by the gap that they leave.
        log.add(`events/${name}`, 'a damaged record was left out', {
          offset,
          lost: this.#seq === undefined ? 1 : 0,
        });
        continue;
      }
      this.#first ??= head.seq;
      // All batches up to the position are lost. The last of them must exist, so that the position
      // stays valid.
      if (this.#oldPosition && head.seq > this.#oldPosition.seq)
        this.#seq ??= this.#oldPosition.seq - 1;
      await this.#fill(head.seq - 1, name);
      await this.#write(name, Buffer.concat([line, Buffer.of(0x0a)]), head.seq, head.receivedAt);
      this.#onRecord(recordOf(line));
    }
  }

  /** Writes empty batches in place of lost ones, up to `last`. */
  async #fill(last: number, name: string): Promise<void> {
    const ids = { tenantId: '', venueId: '', screenId: '', deviceId: '' };
    // Retention deleted everything before the first batch.
    if (this.#seq === undefined) return;
    for (let seq = this.#seq + 1; seq <= last; seq++) {
      const receivedAt = Math.max(this.#receivedAt, dayStart(name));
      this.#damagedDays.add(name);
      this.#lost++;
      await this.#write(name, frameRecord({ seq, receivedAt, ...ids }, empty), seq, receivedAt);
    }
  }

  async #write(name: string, bytes: Buffer, seq: number, receivedAt: number): Promise<void> {
    if (name !== this.#name) {
      await this.#closeFile();
      const { disk, directory } = this.#context.into;
      this.#file = await NewFile.create(disk, `${directory}/events/${name}`);
      this.#name = name;
    }
    await this.#file?.add(bytes);
    this.#sizes[name] = this.#file?.size ?? 0;
    this.#seq = seq;
    this.#receivedAt = receivedAt;
    if (seq === this.#oldPosition?.seq) this.#newEnd = { file: name, size: this.#file?.size ?? 0 };
  }

  async #closeFile(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  #newPosition(): EventLogPosition | undefined {
    const oldPosition = this.#oldPosition;
    if (!oldPosition || oldPosition.file === null || oldPosition.gone || !this.#newEnd)
      return oldPosition;
    const { file, size } = this.#newEnd;
    const before = Object.entries(this.#sizes).filter(([name]) => file !== null && name < file);
    return { ...oldPosition, file, size, files: Object.fromEntries(before) };
  }
}
