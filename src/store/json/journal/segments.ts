import type { AuditEntry, TableName } from '../../../domain/records/rows.ts';
import type { AuditLink } from '../../audit/audit-chain.ts';
import type { FileSystem } from '../disk/file-system.ts';
import { damageError } from '../log/damage.ts';
import { type FoundFrame, readFrames } from '../log/frame.ts';
import type { TornTail } from '../log/torn-tail.ts';
import type { Row } from '../rows/table-index.ts';

type Op = ['put', TableName, Row] | ['del', TableName, string] | ['audit', AuditEntry, AuditLink?];

/** One record of the journal: a change. */
export interface JournalRecord {
  seq: number;
  /** The store's time in Unix milliseconds. */
  at: number;
  ops: Op[];
}

/**
 * Position in the journal: it is valid up to here, and the documents contain all records up to
 * `seq`.
 */
export interface LogPosition {
  /** `null` if nothing was ever written. */
  file: string | null;
  size: number;
  seq: number;
  at: number;
}

const namePattern = /^\d{16}-\d{6}\.log$/;

/** Returns the name of a segment that starts with record `seq` and belongs to this epoch. */
export function segmentName(seq: number, epoch: number): string {
  return `${String(seq).padStart(16, '0')}-${String(epoch).padStart(6, '0')}.log`;
}

/** Returns the segments from `first` on, in the order of their records. */
export async function segmentsFrom(
  disk: FileSystem,
  directory: string,
  first: string | null,
): Promise<string[]> {
  const names = (await disk.list(directory)).filter((name) => namePattern.test(name)).sort();
  return names.filter((name) => first === null || name >= first);
}

/**
 * Reads and checks the journal from the segment of a position. Replays the records after the
 * position. Changes nothing on disk.
 */
export class SegmentReader {
  /** The position after the last valid record. */
  end: LogPosition;
  torn: TornTail | undefined;
  readonly #disk: FileSystem;
  readonly #directory: string;
  readonly #position: LogPosition;
  /** The expected next record; `undefined` before the first. */
  #next: number | undefined;

  constructor(disk: FileSystem, directory: string, position: LogPosition) {
    this.#disk = disk;
    this.#directory = directory;
    this.#position = position;
    this.end = position;
  }

  async read(clean: boolean, replay: (record: JournalRecord) => void): Promise<void> {
    const { file, seq } = this.#position;
    const names = await segmentsFrom(this.#disk, this.#directory, file);
    if (file !== null && names[0] !== file)
      throw damageError(`${this.#directory}/${file}`, 'the file is missing');
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
      throw damageError(
        path,
        `it begins with record ${first} where record ${this.#next} must follow`,
      );
    let good = 0;
    let bad: number | undefined;
    for await (const found of readFrames(this.#disk, path)) {
      if (!found.whole) bad ??= found.offset;
      if (bad !== undefined && (found.whole || !mayBeTorn))
        throw damageError(path, 'a record is damaged', bad);
      if (!found.whole) continue;
      good = found.offset + found.length;
      this.#takeRecord(path, found, good, replay);
      this.end = { ...this.end, file: name, size: good };
    }
    if (name === this.#position.file && good < this.#position.size)
      throw damageError(path, 'the records after this are missing', good);
    if (bad !== undefined || good === 0) this.torn = { file: name, size: good };
  }

  #takeRecord(
    path: string,
    { line, offset }: FoundFrame,
    end: number,
    replay: (record: JournalRecord) => void,
  ): void {
    const { seq: checkpointedSeq, size } = this.#position;
    const { seq, at } = recordHead(line) ?? {};
    if (seq === undefined || at === undefined || seq !== this.#next)
      throw damageError(path, `record ${this.#next} must be here`, offset);
    if (seq === checkpointedSeq && end !== size)
      throw damageError(path, `record ${seq} does not end where the manifest says`, offset);
    this.end = { ...this.end, seq, at };
    this.#next = seq + 1;
    if (seq > checkpointedSeq) replay(JSON.parse(line.toString()) as JournalRecord);
  }

  /**
   * Throws unless the journal ends exactly where the manifest says. Only valid after a clean stop.
   */
  async #checkClean(names: readonly string[]): Promise<void> {
    const { file, size } = this.#position;
    const last = names.at(-1) ?? null;
    if (last !== file)
      throw damageError(`${this.#directory}/${last}`, 'it was written after the store was stopped');
    const found = file === null ? 0 : await this.#disk.sizeOf(`${this.#directory}/${file}`);
    if (found !== size)
      throw damageError(
        `${this.#directory}/${file}`,
        `it had ${size} bytes when the store was stopped, and has ${found}`,
      );
  }
}

const headLength = 80;
const headPattern = /^\{"crc":"[0-9a-f]{8}","seq":(\d+),"at":(\d+),"ops":\[/;

/** Parses the head of a record. Returns `undefined` if the line is not a journal record. */
export function recordHead(line: Buffer): Pick<JournalRecord, 'seq' | 'at'> | undefined {
  const found = headPattern.exec(line.toString('latin1', 0, headLength));
  return found ? { seq: Number(found[1]), at: Number(found[2]) } : undefined;
}
