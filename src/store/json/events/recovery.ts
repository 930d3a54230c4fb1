import { damaged } from '../log/damage.ts';
import type { DayFiles, LogFilesPosition } from '../log/day-files.ts';
import { type FoundFrame, readFrames } from '../log/frame.ts';
import type { TornTail } from '../log/torn-tail.ts';
import { type EventRecord, headOf, recordOf } from './event-record.ts';

/** How far the event log is good, and the last batch that the documents contain. */
export interface EventsMark extends LogFilesPosition {
  seq: number;
  receivedAt: number;
}

/** Reads and checks what the event log holds beyond its mark, and hands it out. Changes nothing. */
export class EventRecovery {
  /** The last whole batch, and where it ends. */
  end: EventsMark;
  torn: TornTail | undefined;
  /** What was handed out, in bytes. */
  bytes = 0;
  readonly #files: DayFiles;
  readonly #mark: EventsMark;
  readonly #replay: (record: EventRecord) => void;

  constructor(files: DayFiles, mark: EventsMark, replay: (record: EventRecord) => void) {
    this.#files = files;
    this.#mark = mark;
    this.#replay = replay;
    this.end = mark;
  }

  async read(clean: boolean): Promise<void> {
    const { file, gone } = this.#mark;
    const names = this.#files.names.filter((name) => file === null || name >= file);
    if (file !== null && !gone) await this.#checkMarked(names[0], file, clean);
    const newest = names.at(-1);
    if (clean && newest !== undefined && newest !== file)
      throw damaged(this.#files.path(newest), 'it was written after the store was stopped');
    for (const name of names) await this.#readFile(name, name === newest);
  }

  /** The file in which the documents end must hold all that they contain; after a clean stop nothing else. */
  async #checkMarked(first: string | undefined, file: string, clean: boolean): Promise<void> {
    const path = this.#files.path(file);
    if (first !== file) throw damaged(path, 'the file is missing');
    const { size } = this.#mark;
    const found = (await this.#files.disk.sizeOf(path)) ?? 0;
    if (found < size) throw damaged(path, `it had ${size} bytes, the rest is missing`, found);
    if (clean && found > size)
      throw damaged(path, 'more was written after the store was stopped', size);
  }

  async #readFile(name: string, isNewest: boolean): Promise<void> {
    const path = this.#files.path(name);
    const from = name === this.#mark.file ? this.#mark.size : 0;
    let good = from;
    let bad: number | undefined;
    for await (const found of readFrames(this.#files.disk, path, from)) {
      if (!found.whole) bad ??= found.offset;
      if (bad !== undefined && (found.whole || !isNewest))
        throw damaged(path, 'a record is damaged', bad);
      if (!found.whole) continue;
      this.#take(path, found);
      good = found.offset + found.length;
      this.end = { ...this.end, file: name, size: good };
    }
    if (isNewest && (bad !== undefined || good === 0)) this.torn = { file: name, size: good };
  }

  #take(path: string, { line, offset, length }: FoundFrame): void {
    const head = headOf(line);
    const { seq, receivedAt } = this.end;
    if (head?.seq !== seq + 1 || head.receivedAt < receivedAt)
      throw damaged(path, `batch ${seq + 1} must be here`, offset);
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
