import { damageError } from '../log/damage.ts';
import type { DayFiles, LogFilesPosition } from '../log/day-files.ts';
import { type FoundFrame, readFrames } from '../log/frame.ts';
import type { TornTail } from '../log/torn-tail.ts';
import { type EventRecord, headOf, recordOf } from './event-record.ts';

/** Position of the event log, and the last batch that the documents contain. */
export interface EventLogPosition extends LogFilesPosition {
  seq: number;
  receivedAt: number;
}

/** Reads, checks and replays the event log after a position. Changes nothing. */
export class EventRecovery {
  /** Position after the last whole batch. */
  end: EventLogPosition;
  torn: TornTail | undefined;
  /** Bytes replayed. */
  bytes = 0;
  readonly #files: DayFiles;
  readonly #position: EventLogPosition;
  readonly #replay: (record: EventRecord) => void;

  constructor(files: DayFiles, position: EventLogPosition, replay: (record: EventRecord) => void) {
    this.#files = files;
    this.#position = position;
    this.#replay = replay;
    this.end = position;
  }

  async read(clean: boolean): Promise<void> {
    const { file, gone } = this.#position;
    const names = this.#files.names.filter((name) => file === null || name >= file);
    if (file !== null && !gone) await this.#checkPosition(names[0], file, clean);
    const newest = names.at(-1);
    if (clean && newest !== undefined && newest !== file)
      throw damageError(this.#files.path(newest), 'it was written after the store was stopped');
    for (const name of names) await this.#readFile(name, name === newest);
  }

  /**
   * The file at the position must have at least all bytes that the documents contain; after a clean
   * stop, exactly those.
   */
  async #checkPosition(first: string | undefined, file: string, clean: boolean): Promise<void> {
    const path = this.#files.path(file);
    if (first !== file) throw damageError(path, 'the file is missing');
    const { size } = this.#position;
    const found = (await this.#files.disk.sizeOf(path)) ?? 0;
    if (found < size) throw damageError(path, `it had ${size} bytes, the rest is missing`, found);
    if (clean && found > size)
      throw damageError(path, 'more was written after the store was stopped', size);
  }

  async #readFile(name: string, isNewest: boolean): Promise<void> {
    const path = this.#files.path(name);
    const from = name === this.#position.file ? this.#position.size : 0;
    let wholeEnd = from;
    let damagedAt: number | undefined;
    for await (const found of readFrames(this.#files.disk, path, from)) {
      if (!found.whole) damagedAt ??= found.offset;
      if (damagedAt !== undefined && (found.whole || !isNewest))
        throw damageError(path, 'a record is damaged', damagedAt);
      if (!found.whole) continue;
      this.#take(path, found);
      wholeEnd = found.offset + found.length;
      this.end = { ...this.end, file: name, size: wholeEnd };
    }
    if (isNewest && (damagedAt !== undefined || wholeEnd === 0))
      this.torn = { file: name, size: wholeEnd };
  }

  #take(path: string, { line, offset, length }: FoundFrame): void {
    const head = headOf(line);
    const { seq, receivedAt } = this.end;
    if (head?.seq !== seq + 1 || head.receivedAt < receivedAt)
      throw damageError(path, `batch ${seq + 1} must be here`, offset);
    this.end = {
      file: this.end.file,
      size: this.end.size,
      seq: head.seq,
      receivedAt: head.receivedAt,
    };
    this.bytes += length;
    this.#replay(recordOf(line));
  }
}
