import type { SealedEntry } from '../../audit/audit-chain.ts';
import type { CopiedBatch } from '../../copy/transfer.ts';
import { frameEntry } from '../audit/pages.ts';
import type { FileSystem } from '../disk/file-system.ts';
import { frameRecord } from '../events/event-record.ts';
import { dayFile } from '../log/day-files.ts';
import { GroupLog } from '../log/group-log.ts';
import type { BulkEnd } from './copy-marker.ts';

/** One line of a log, and its day file. */
export interface BulkLine {
  file: string;
  bytes: Uint8Array;
}

/**
 * Appends lines to a log's day files, starting at a recorded end. Cuts off what an interrupted
 * attempt wrote beyond it.
 */
export class BulkLog {
  readonly #log: GroupLog;
  #end: BulkEnd;

  private constructor(log: GroupLog, end: BulkEnd) {
    this.#log = log;
    this.#end = end;
  }

  static async open(
    disk: FileSystem,
    directory: string,
    lowWaterBytes: number,
    end: BulkEnd,
  ): Promise<BulkLog> {
    await disk.makeDirectory(directory);
    for (const name of await disk.list(directory))
      if (end.file === null || name > end.file) await disk.unlink(`${directory}/${name}`);
    await disk.syncDirectory(directory);
    const { file, size } = end;
    return new BulkLog(
      new GroupLog({
        disk,
        directory,
        lowWaterBytes,
        ...(file !== null && { resume: { file, size } }),
      }),
      end,
    );
  }

  /** Everything before this is on disk. */
  get end(): BulkEnd {
    return this.#end;
  }

  async append(lines: readonly BulkLine[]): Promise<void> {
    for (let at = 0; at < lines.length; ) {
      const { file } = lines[at] as BulkLine;
      const next = lines.findIndex((line, place) => place > at && line.file !== file);
      const bytes = Buffer.concat(
        lines.slice(at, next < 0 ? lines.length : next).map((line) => line.bytes),
      );
      const { offset } = await this.#log.append(file, [bytes]);
      this.#end = { file, size: offset + bytes.length };
      at = next < 0 ? lines.length : next;
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
 * Returns the lines of entries that follow `before` earlier ones, which end at `end`. They are
 * numbered as if each had been a change of its own. No entry goes to a file older than the newest.
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
