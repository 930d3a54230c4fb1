import type { SealedEntry } from '../../audit/audit-chain.ts';
import type { CopiedBatch } from '../../copy/transfer.ts';
import { frameEntry } from '../audit/entry-record.ts';
import { frameRecord } from '../events/event-record.ts';
import { dayFile, type LogFilesPosition } from '../log/day-files.ts';
import { FramedLog } from '../log/framed-log.ts';
import type { LogFormat } from '../log/log-records.ts';
import type { PartContext } from '../parts.ts';
import type { BulkEnd } from './copy-marker.ts';

/** One line of a log, and its day file. */
export interface BulkLine {
  file: string;
  bytes: Uint8Array;
}

/** Appends lines to a log's day files. `end` is the position after the durable lines. */
export class BulkLog {
  readonly #log: FramedLog<unknown, LogFilesPosition>;

  private constructor(log: FramedLog<unknown, LogFilesPosition>) {
    this.#log = log;
  }

  /**
   * Opens the log at a recorded end. Cuts off everything that an interrupted attempt wrote after
   * this end.
   */
  static async open(
    context: PartContext,
    format: LogFormat<unknown, LogFilesPosition>,
    end: BulkEnd,
  ): Promise<BulkLog> {
    const log = new FramedLog(context, format, context);
    await log.recover({ ...end, seq: 0 }, false);
    await log.begin();
    await log.discardAfterEnd();
    return new BulkLog(log);
  }

  /** Position up to which everything is on disk. */
  get end(): BulkEnd {
    const { file, size } = this.#log.end;
    return { file, size };
  }

  async append(lines: readonly BulkLine[]): Promise<void> {
    for (let at = 0; at < lines.length; ) {
      const { file } = lines[at] as BulkLine;
      const next = lines.findIndex((line, place) => place > at && line.file !== file);
      const end = next < 0 ? lines.length : next;
      const pieces = lines.slice(at, end).map(({ bytes }) => bytes);
      await this.#log.append(file, pieces, { seq: 0 }, () => {});
      at = end;
    }
  }

  close(): Promise<void> {
    return this.#log.close();
  }
}

export function batchLine({ body, ...batch }: CopiedBatch): BulkLine {
  return { file: dayFile(batch.receivedAt), bytes: frameRecord(batch, Buffer.from(body)) };
}

/**
 * Returns the lines of audit entries. `before` entries precede them, up to the given end. Each
 * entry is numbered as if it had its own journal record. No entry goes to a file older than the
 * newest.
 */
export function auditLines(
  entries: readonly SealedEntry[],
  before: number,
  { file }: BulkEnd,
): BulkLine[] {
  let newest = file ?? '';
  return entries.map(({ entry, link }, place) => {
    const own = dayFile(entry.at);
    if (own > newest) newest = own;
    return { file: newest, bytes: frameEntry(before + place + 1, 0, entry, link) };
  });
}
