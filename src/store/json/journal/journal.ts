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

const emptyPosition: LogPosition = { file: null, size: 0, seq: 0, at: 0 };

/** Size in bytes at which a segment is complete. */
const segmentBytes = 16 * 1024 * 1024;

/**
 * The journal (write-ahead log) is the source of truth. Each change is one record,
 * `{"crc":…,"seq":n,"at":ms,"ops":[…]}`, in segments `journal/<first seq>-<epoch>.log`. `seq`
 * increases without gaps. Every start opens a new segment, so only the last one can have a torn
 * tail.
 */
export class Journal implements FilePart<LogPosition> {
  readonly name = 'journal';
  /** Called when a group has failed. Records appended but not durable are lost. */
  onFailure: () => void = () => {};
  readonly #context: PartContext;
  readonly #directory: string;
  readonly #log: GroupLog;
  readonly #replay: (record: JournalRecord) => void;
  /** Position of the last durable record. */
  #durable = emptyPosition;
  #checkpointed = emptyPosition;
  #nextSeq = 1;
  #latestAt = 0;
  /** The clock's time when `#latestAt` was last updated. */
  #clockAt: number;
  #epoch = 0;
  #segment: { name: string; bytes: number } | undefined;
  #grownBytes = 0;
  #torn: TornTail | undefined;

  /** `replay` applies, at start, the records that the documents lack. */
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
      onFailure: () => this.#rollBack(),
    });
  }

  /** The error of a journal that accepts no more records. */
  get broken(): SignageError | undefined {
    return this.#log.broken;
  }

  /** Sequence number of the last durable record. */
  get seq(): number {
    return this.#durable.seq;
  }

  /** Position after the last durable record. */
  get end(): { file: string | null; size: number } {
    const { file, size } = this.#durable;
    return { file, size };
  }

  /** Bytes appended since the last checkpoint began. */
  get grownBytes(): number {
    return this.#grownBytes;
  }

  checkSpace(): Promise<void> {
    return this.#log.checkSpace();
  }

  /**
   * Returns the store's time: monotonic, and never before the last record. If the clock is set
   * back, time continues at the clock's pace.
   */
  now(): number {
    const clockAt = this.#context.clock.now();
    this.#latestAt = Math.max(clockAt, this.#latestAt + Math.max(0, clockAt - this.#clockAt));
    this.#clockAt = clockAt;
    return this.#latestAt;
  }

  /**
   * Appends a record and resolves when it is on disk. `onDurable` is called just before, in order
   * of the records, and applies the change to the committed rows.
   */
  append(at: number, ops: readonly string[], onDurable: (seq: number) => void): Promise<unknown> {
    const seq = this.#nextSeq++;
    this.#latestAt = Math.max(at, this.#latestAt);
    const bytes = frame(`"seq":${seq},"at":${at},"ops":[${ops.join(',')}]}`);
    return this.#log.append(this.#segmentFor(seq, bytes.length), [bytes], ({ file, offset }) => {
      this.#durable = { file, size: offset + bytes.length, seq, at };
      this.#grownBytes += bytes.length;
      onDurable(seq);
    });
  }

  async prepare(): Promise<LogPosition> {
    this.#grownBytes = 0;
    this.#checkpointed = this.#durable;
    return this.#checkpointed;
  }

  /** Deletes the segments whose records are all in documents. */
  async committed(): Promise<void> {
    const { file } = this.#checkpointed;
    if (file === null) return;
    const { disk } = this.#context;
    for (const name of await segmentsFrom(disk, this.#directory, null)) {
      if (name < file) await disk.unlink(`${this.#directory}/${name}`);
    }
  }

  async recover(position: LogPosition | undefined, clean: boolean): Promise<void> {
    const reader = new SegmentReader(
      this.#context.disk,
      this.#directory,
      position ?? emptyPosition,
    );
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

  #rollBack(): void {
    const { file, size, seq } = this.#durable;
    this.#nextSeq = seq + 1;
    // Continue this epoch's last written file. Otherwise the next record starts a new one.
    this.#segment =
      this.#segment && file !== null && this.#isOfThisEpoch(file)
        ? { name: file, bytes: size }
        : undefined;
    this.onFailure();
  }

  #isOfThisEpoch(file: string): boolean {
    return file.endsWith(segmentName(0, this.#epoch).slice(16));
  }
}
