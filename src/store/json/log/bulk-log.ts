import type { PartContext } from '../disk/parts.ts';
import type { LogFilesPosition } from './day-files.ts';
import { FramedLog } from './framed-log.ts';
import type { LogFormat } from './log-records.ts';

/** Total size in bytes at which collected lines are written. */
const groupBytes = 1024 * 1024;

/** Appends many lines to the files of a log, in groups. */
export class BulkLog {
  readonly #log: FramedLog<unknown, LogFilesPosition>;
  #file = '';
  #lines: Uint8Array[] = [];
  #bytes = 0;

  private constructor(log: FramedLog<unknown, LogFilesPosition>) {
    this.#log = log;
  }

  /** Opens an empty log. */
  static async open(
    context: PartContext,
    format: LogFormat<unknown, LogFilesPosition>,
  ): Promise<BulkLog> {
    const log = new FramedLog(context, format);
    await log.recover(format.start, false);
    await log.begin();
    return new BulkLog(log);
  }

  /** Position up to which everything is on disk. */
  get end(): { file: string | null; size: number } {
    const { file, size } = this.#log.end;
    return { file, size };
  }

  /** Adds a line to a file. It is durable after `flush`. */
  async add(file: string, line: Uint8Array): Promise<void> {
    if (file !== this.#file || this.#bytes >= groupBytes) await this.flush();
    this.#file = file;
    this.#lines.push(line);
    this.#bytes += line.length;
  }

  async flush(): Promise<void> {
    const lines = this.#lines;
    this.#lines = [];
    this.#bytes = 0;
    if (lines.length > 0) await this.#log.append(this.#file, lines, { seq: 0 }, () => {});
  }

  /** Flushes, and closes the file. */
  async close(): Promise<void> {
    await this.flush();
    await this.#log.close();
  }
}
