import type { FilePart, PartContext } from '../disk/parts.ts';
import { FramedLog } from '../log/framed-log.ts';
import {
  type ChangeHead,
  frameChange,
  type JournalRecord,
  journalFormat,
  type LogPosition,
  segmentName,
} from './segments.ts';

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
  readonly #context: PartContext;
  readonly log: FramedLog<ChangeHead, LogPosition>;
  readonly #replay: (record: JournalRecord) => void;
  #nextSeq = 1;
  #latestAt = 0;
  /** Time of the clock at the last call of `now`. Initially the time of creation. */
  #clockAt: number;
  #epoch = 0;
  #segment: { name: string; bytes: number } | undefined;
  /** Bytes of the durable records that no checkpoint contains. */
  #replayBytes = 0;
  /** Bytes of the records that are being written. */
  #inFlightBytes = 0;
  /** `#replayBytes` when the last checkpoint began. */
  #preparedBytes = 0;
  /** `log.failures` at the last record. */
  #failures = 0;

  /** @param replay gets the records after the manifest's position, at start */
  constructor(context: PartContext, replay: (record: JournalRecord) => void) {
    this.#context = context;
    this.#clockAt = context.clock.now();
    this.#replay = replay;
    this.log = new FramedLog(context, journalFormat);
  }

  /** Bytes that a start would replay after a crash, including records that are being written. */
  get replayBytes(): number {
    return this.#replayBytes + this.#inFlightBytes;
  }

  /** The part of `replayBytes` that the last checkpoint did not find when it began. */
  get grownBytes(): number {
    return this.replayBytes - this.#preparedBytes;
  }

  /**
   * Returns the decision time, which is the clock's, and a stamp that is never before the last
   * record. If the clock is set back, stamps continue at the clock's pace.
   */
  time(): { now: number; stamp: number } {
    const now = this.#context.clock.now();
    this.#latestAt = Math.max(now, this.#latestAt + Math.max(0, now - this.#clockAt));
    this.#clockAt = now;
    return { now, stamp: this.#latestAt };
  }

  /**
   * Appends a record and resolves when it is on disk. `onDurable` is called just before the promise
   * resolves, in the order of the records. It applies the change to the committed rows.
   */
  append(at: number, ops: readonly string[], onDurable: (seq: number) => void): Promise<unknown> {
    if (this.log.failures !== this.#failures) this.#rollBack();
    const seq = this.#nextSeq++;
    this.#latestAt = Math.max(at, this.#latestAt);
    const bytes = frameChange({ seq, at }, `[${ops.join(',')}]`);
    const segment = this.#segmentFor(seq, bytes.length);
    this.#inFlightBytes += bytes.length;
    return this.log.append(segment, [bytes], { seq, at }, () => {
      this.#inFlightBytes -= bytes.length;
      this.#replayBytes += bytes.length;
      onDurable(seq);
    });
  }

  async prepare(): Promise<LogPosition> {
    this.#preparedBytes = this.#replayBytes;
    return this.log.prepare();
  }

  committed(): Promise<void> {
    this.#replayBytes -= this.#preparedBytes;
    this.#preparedBytes = 0;
    return this.log.commit();
  }

  async recover(position = journalFormat.start, clean: boolean): Promise<void> {
    await this.log.recover(position, clean);
    await this.log.replay(position, (record) => {
      const { file, offset, end, head, line } = record;
      this.log.end = { file, size: end, ...head };
      this.#replayBytes += end - offset;
      this.#replay(JSON.parse(line.toString()) as JournalRecord);
    });
    const { seq, at } = this.log.end;
    this.#nextSeq = seq + 1;
    this.#latestAt = at;
  }

  async begin(epoch: number): Promise<void> {
    this.#epoch = epoch;
    await this.log.begin();
  }

  close(): Promise<void> {
    return this.log.close();
  }

  #segmentFor(seq: number, bytes: number): string {
    if (!this.#segment || this.#segment.bytes >= segmentBytes)
      this.#segment = { name: segmentName(seq, this.#epoch), bytes: 0 };
    this.#segment.bytes += bytes;
    return this.#segment.name;
  }

  /** Continues after the last durable record. */
  #rollBack(): void {
    this.#failures = this.log.failures;
    this.#inFlightBytes = 0;
    const { file, size, seq } = this.log.end;
    this.#nextSeq = seq + 1;
    // Continues the last durable file if it belongs to this epoch. Otherwise the next record starts
    // a new file.
    this.#segment =
      this.#segment && file !== null && this.#isOfThisEpoch(file)
        ? { name: file, bytes: size }
        : undefined;
  }

  #isOfThisEpoch(file: string): boolean {
    return file.endsWith(segmentName(0, this.#epoch).slice(16));
  }
}
