import type { AuditEntry, TableName } from '../../../domain/records/rows.ts';
import type { AuditLink } from '../../audit/audit-chain.ts';
import type { FileSystem } from '../disk/file-system.ts';
import { damaged } from '../log/damage.ts';
import { type FoundFrame, readFrames } from '../log/frame.ts';
import type { TornTail } from '../log/torn-tail.ts';
import type { Row } from '../rows/table-index.ts';

type Op = ['put', TableName, Row] | ['del', TableName, string] | ['audit', AuditEntry, AuditLink?];

/** One change as the journal has it. */
export interface JournalRecord {
  seq: number;
  /** The store's time, in milliseconds. */
  at: number;
  ops: Op[];
}

/** How far the journal is good, and the last record that the documents contain. */
export interface LogPosition {
  /** `null` while nothing was ever written. */
  file: string | null;
  size: number;
  seq: number;
  at: number;
}

const namePattern = /^\d{16}-\d{6}\.log$/;

/** A segment's name: it begins with record `seq`, and was written under this epoch. */
export function segmentName(seq: number, epoch: number): string {
  return `${String(seq).padStart(16, '0')}-${String(epoch).padStart(6, '0')}.log`;
}

/** Segments from `first` on, in the order of their records. */
export async function segmentsFrom(
  disk: FileSystem,
  directory: string,
  first: string | null,
): Promise<string[]> {
  const names = (await disk.list(directory)).filter((name) => namePattern.test(name)).sort();
  return names.filter((name) => first === null || name >= first);
}

/** Reads and checks what the journal holds from its mark's segment on, and hands out what came after the mark. Changes nothing. */
export class SegmentReader {
  /** The last whole record, and where it ends. */
  end: LogPosition;
  torn: TornTail | undefined;
  readonly #disk: FileSystem;
  readonly #directory: string;
  readonly #mark: LogPosition;
  /** The record that must come next; unknown before the first. */
  #next: number | undefined;

  constructor(disk: FileSystem, directory: string, mark: LogPosition) {
    this.#disk = disk;
    this.#directory = directory;
    this.#mark = mark;
    this.end = mark;
  }

  async read(clean: boolean, replay: (record: JournalRecord) => void): Promise<void> {
    const { file, seq } = this.#mark;
    const names = await segmentsFrom(this.#disk, this.#directory, file);
    if (file !== null && names[0] !== file)
      throw damaged(`${this.#directory}/${file}`, 'the file is missing');
    if (file === null) this.#next = seq + 1;
    for (const name of names)
      await this.#readSegment(name, name === names.at(-1) && !clean, replay);
    if (clean) await this.#checkClean(names);
  }

  async #readSegment(
    name: string,
    mayBeTorn: boolean,
    replay: (record: JournalRecord) => void,
  ): Promise<void> {
    const path = `${this.#directory}/${name}`;
    const first = Number.parseInt(name, 10);
    this.#next ??= first;
    if (first !== this.#next)
      throw damaged(path, `it begins with record ${first} where record ${this.#next} must follow`);
    let good = 0;
    let bad: number | undefined;
    for await (const found of readFrames(this.#disk, path)) {
      if (!found.whole) bad ??= found.offset;
      if (bad !== undefined && (found.whole || !mayBeTorn))
        throw damaged(path, 'a record is damaged', bad);
      if (!found.whole) continue;
      good = found.offset + found.length;
      this.#takeRecord(path, found, good, replay);
      this.end = { ...this.end, file: name, size: good };
    }
    if (name === this.#mark.file && good < this.#mark.size)
      throw damaged(path, `it has lost what followed`, good);
    if (bad !== undefined || good === 0) this.torn = { file: name, size: good };
  }

  #takeRecord(
    path: string,
    { line, offset }: FoundFrame,
    end: number,
    replay: (record: JournalRecord) => void,
  ): void {
    const { seq: marked, size } = this.#mark;
    const { seq, at } = recordHead(line) ?? {};
    if (seq === undefined || at === undefined || seq !== this.#next)
      throw damaged(path, `record ${this.#next} must be here`, offset);
    if (seq === marked && end !== size)
      throw damaged(path, `record ${seq} does not end where the manifest says`, offset);
    this.end = { ...this.end, seq, at };
    this.#next = seq + 1;
    if (seq > marked) replay(JSON.parse(line.toString()) as JournalRecord);
  }

  /** After a clean stop the journal ends where the manifest says, and nowhere else. */
  async #checkClean(names: readonly string[]): Promise<void> {
    const { file, size } = this.#mark;
    const last = names.at(-1) ?? null;
    if (last !== file)
      throw damaged(`${this.#directory}/${last}`, 'it was written after the store was stopped');
    const found = file === null ? 0 : await this.#disk.sizeOf(`${this.#directory}/${file}`);
    if (found !== size)
      throw damaged(
        `${this.#directory}/${file}`,
        `it had ${size} bytes when the store was stopped, and has ${found}`,
      );
  }
}

const headLength = 80;
const headPattern = /^\{"crc":"[0-9a-f]{8}","seq":(\d+),"at":(\d+),"ops":\[/;

/** What a line begins with, `undefined` when it is no record of the journal. */
export function recordHead(line: Buffer): Pick<JournalRecord, 'seq' | 'at'> | undefined {
  const found = headPattern.exec(line.toString('latin1', 0, headLength));
  return found ? { seq: Number(found[1]), at: Number(found[2]) } : undefined;
}
