import { type EventRecord, frameRecord, headOf, recordOf } from '../events/event-record.ts';
import type { EventsMark } from '../events/recovery.ts';
import { isDayFile, type LogFilesPosition, startOfFile } from '../log/day-files.ts';
import { isWhole, readFrames } from '../log/frame.ts';
import { reportMissingFiles } from './missing-files.ts';
import { NewFile, type RepairContext } from './repair-context.ts';

/** What was read of an event log. */
export interface SalvagedEvents {
  mark: EventsMark | undefined;
  /** The log is there from its first batch on, and nothing is missing. */
  isComplete: boolean;
  /** The days of which all is there. */
  days: ReadonlySet<string>;
}

const empty = Buffer.from('[]');

/**
 * Writes all whole batches into new day files. In place of each that is lost comes one without events that belongs to nobody, so that `seq` counts up
 * without a gap. `each` is handed all that are whole.
 */
export async function salvageEvents(
  context: RepairContext,
  mark: EventsMark | undefined,
  each: (record: EventRecord) => void,
): Promise<SalvagedEvents> {
  const salvage = new EventSalvage(context, mark, each);
  return salvage.run();
}

class EventSalvage {
  readonly #context: RepairContext;
  readonly #mark: EventsMark | undefined;
  readonly #each: (record: EventRecord) => void;
  readonly #sizes: Record<string, number> = {};
  readonly #damagedDays = new Set<string>();
  #file: NewFile | undefined;
  #name = '';
  /** The last batch written; unknown before the first. */
  #seq: number | undefined;
  #first: number | undefined;
  #receivedAt = 0;
  #place: LogFilesPosition | undefined;
  #lost = 0;

  constructor(
    context: RepairContext,
    mark: EventsMark | undefined,
    each: (record: EventRecord) => void,
  ) {
    this.#context = context;
    this.#mark = mark;
    this.#each = each;
    if (!mark || mark.file === null) this.#seq = 0;
    else if (mark.gone) [this.#seq, this.#receivedAt] = [mark.seq, mark.receivedAt];
  }

  async run(): Promise<SalvagedEvents> {
    const { from, log } = this.#context;
    const { file = null, gone, seq = 0 } = this.#mark ?? {};
    const there = (await from.disk.list(`${from.directory}/events`)).filter(isDayFile).sort();
    const names = there.filter((name) => !(gone && file !== null && name <= file));
    await reportMissingFiles(this.#context, 'events', this.#mark, there);
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
      mark: this.#newMark(),
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
      const head = isWhole(line) ? headOf(line) : undefined;
      if (!head || head.seq <= (this.#seq ?? 0)) {
        this.#damagedDays.add(name);
        // Later ones are counted by the gap that they leave.
        log.add(`events/${name}`, 'a damaged record was left out', {
          offset,
          lost: this.#seq === undefined ? 1 : 0,
        });
        continue;
      }
      this.#first ??= head.seq;
      // Of what the documents contain nothing is left but the last batch's number, which must be there.
      if (this.#mark && head.seq > this.#mark.seq) this.#seq ??= this.#mark.seq - 1;
      await this.#fill(head.seq - 1, name);
      await this.#write(name, Buffer.concat([line, Buffer.of(0x0a)]), head.seq, head.receivedAt);
      this.#each(recordOf(line));
    }
  }

  /** Batches that stand for lost ones, up to `last`. */
  async #fill(last: number, name: string): Promise<void> {
    const ids = { tenantId: '', venueId: '', screenId: '', deviceId: '' };
    // What came before the first is a matter of retention.
    if (this.#seq === undefined) return;
    for (let seq = this.#seq + 1; seq <= last; seq++) {
      const receivedAt = Math.max(this.#receivedAt, startOfFile(name));
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
    [this.#seq, this.#receivedAt] = [seq, receivedAt];
    if (seq === this.#mark?.seq) this.#place = { file: name, size: this.#file?.size ?? 0 };
  }

  async #closeFile(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  #newMark(): EventsMark | undefined {
    const mark = this.#mark;
    if (!mark || mark.file === null || mark.gone || !this.#place) return mark;
    const { file, size } = this.#place;
    const before = Object.entries(this.#sizes).filter(([name]) => file !== null && name < file);
    return { ...mark, file, size, files: Object.fromEntries(before) };
  }
}
