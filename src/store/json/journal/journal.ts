import type { SignageError } from '../../../domain/error.ts';
import { syncFile } from '../disk/file-system.ts';
import { frame } from '../log/frame.ts';
import { GroupLog } from '../log/group-log.ts';
import { cutTornTail, type TornTail } from '../log/torn-tail.ts';
import type { FilePart, PartContext } from '../parts.ts';
import {
  type JournalRecord,
  type LogPosition,
  SegmentReader,
  segmentName,
  segmentsFrom,
} from './segments.ts';

const nothing: LogPosition = { file: null, size: 0, seq: 0, at: 0 };

/** A segment takes no further record once it has this many bytes. */
const segmentBytes = 16 * 1024 * 1024;

/**
 * The truth: one record for each change, `{"crc":…,"seq":n,"at":ms,"ops":[…]}`, in segments `journal/<first seq>-<epoch>.log`. `seq` counts up
 * without a gap. Every start begins a segment of its own: only the last one can have a torn tail.
 */
export class Journal implements FilePart<LogPosition> {
  readonly name = 'journal';
  /** Called when a group has failed: what was appended and is not durable never was. */
  onFailure: () => void = () => {};
  readonly #context: PartContext;
  readonly #directory: string;
  readonly #log: GroupLog;
  readonly #replay: (record: JournalRecord) => void;
  /** The last durable record, and where its segment ends. */
  #durable = nothing;
  #marked = nothing;
  #nextSeq = 1;
  #latestAt = 0;
  /** What the clock said when that was last told. */
  #clockAt: number;
  #epoch = 0;
  #segment: { name: string; bytes: number } | undefined;
  #grownBytes = 0;
  #torn: TornTail | undefined;

  /** `replay` takes in, at start, what the documents lack. */
  constructor(context: PartContext, replay: (record: JournalRecord) => void) {
    this.#context = context;
    this.#clockAt = context.clock.now();
    this.#directory = `${context.directory}/journal`;
    this.#replay = replay;
    const { disk, lowWaterBytes } = context;
    this.#log = new GroupLog({
      disk,
      directory: this.#directory,
      lowWaterBytes,
      onFailure: () => this.#stepBack(),
    });
  }

  /** Why nothing can be appended any more, if so. */
  get broken(): SignageError | undefined {
    return this.#log.broken;
  }

  /** The last durable record. */
  get seq(): number {
    return this.#durable.seq;
  }

  /** Where the last durable record ends. */
  get extent(): { file: string | null; size: number } {
    const { file, size } = this.#durable;
    return { file, size };
  }

  /** What was appended since the last checkpoint began. */
  get grownBytes(): number {
    return this.#grownBytes;
  }

  checkSpace(): Promise<void> {
    return this.#log.checkSpace();
  }

  /** The store's time: the clock's, but never behind a record's. After a clock that was set back it goes on from there, at the clock's pace. */
  now(): number {
    const clockAt = this.#context.clock.now();
    this.#latestAt = Math.max(clockAt, this.#latestAt + Math.max(0, clockAt - this.#clockAt));
    this.#clockAt = clockAt;
    return this.#latestAt;
  }

  /** Resolves when the record is on the disk. `landed` is called just before, record by record, and folds it into what everyone sees. */
  append(at: number, ops: readonly string[], landed: (seq: number) => void): Promise<unknown> {
    const seq = this.#nextSeq++;
    this.#latestAt = Math.max(at, this.#latestAt);
    const bytes = frame(`"seq":${seq},"at":${at},"ops":[${ops.join(',')}]}`);
    return this.#log.append(this.#segmentFor(seq, bytes.length), [bytes], ({ file, offset }) => {
      this.#durable = { file, size: offset + bytes.length, seq, at };
      this.#grownBytes += bytes.length;
      landed(seq);
    });
  }

  async prepare(): Promise<LogPosition> {
    this.#grownBytes = 0;
    this.#marked = this.#durable;
    return this.#marked;
  }

  /** Deletes the segments of which every record is in the documents. */
  async committed(): Promise<void> {
    const { file } = this.#marked;
    if (file === null) return;
    const { disk } = this.#context;
    for (const name of await segmentsFrom(disk, this.#directory, null)) {
      if (name < file) await disk.unlink(`${this.#directory}/${name}`);
    }
  }

  async recover(mark: LogPosition | undefined, clean: boolean): Promise<void> {
    const reader = new SegmentReader(this.#context.disk, this.#directory, mark ?? nothing);
    await reader.read(clean, this.#replay);
    this.#durable = reader.end;
    this.#torn = reader.torn;
    this.#nextSeq = reader.end.seq + 1;
    this.#latestAt = reader.end.at;
  }

  async begin(epoch: number): Promise<void> {
    const { disk, directory } = this.#context;
    this.#epoch = epoch;
    await disk.makeDirectory(this.#directory);
    await disk.syncDirectory(directory);
    if (this.#torn) await cutTornTail(this.#context, this.#directory, this.#torn);
    if (this.#durable.file !== null)
      await syncFile(disk, `${this.#directory}/${this.#durable.file}`);
  }

  close(): Promise<void> {
    return this.#log.close();
  }

  #segmentFor(seq: number, bytes: number): string {
    if (!this.#segment || this.#segment.bytes >= segmentBytes)
      this.#segment = { name: segmentName(seq, this.#epoch), bytes: 0 };
    this.#segment.bytes += bytes;
    return this.#segment.name;
  }

  #stepBack(): void {
    const { file, size, seq } = this.#durable;
    this.#nextSeq = seq + 1;
    // The file of this epoch that was written last goes on; else the next record begins one.
    this.#segment =
      this.#segment && file !== null && this.#ours(file) ? { name: file, bytes: size } : undefined;
    this.onFailure();
  }

  #ours(file: string): boolean {
    return file.endsWith(segmentName(0, this.#epoch).slice(16));
  }
}
