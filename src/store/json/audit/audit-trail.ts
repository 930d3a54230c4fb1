import { dayMs } from '../../../domain/clock.ts';
import type { AuditEntry } from '../../../domain/records/rows.ts';
import type { AuditLink, SealedEntry } from '../../audit/audit-chain.ts';
import type { AuditPageQuery, Slice } from '../../store.ts';
import { damageError } from '../log/damage.ts';
import { DayFiles, dayFile, dayStart, type LogFilesPosition } from '../log/day-files.ts';
import { isValidRecord, readFrames } from '../log/frame.ts';
import { GroupLog } from '../log/group-log.ts';
import { linesBackward } from '../log/line-reader.ts';
import type {
  AuditDrop,
  AuditTrail,
  FilePart,
  LogRange,
  MakeAuditTrail,
  PartContext,
} from '../parts.ts';
import { auditPage, frameEntry, type PositionedEntry, positionOf, sealedOf } from './pages.ts';

/** Position of the trail, and the last journal record that the files contain. */
interface AuditLogPosition extends LogFilesPosition {
  seq: number;
}

/** Entries written to disk at once, some milliseconds of work. */
const entriesPerWrite = 500;

/**
 * Audit trail. Each entry is one line, `{"crc":…,"seq":<journal record>,"n":<index in
 * it>,"entry":{…}}`, in the file of its day. Entries are in the journal first; a checkpoint writes
 * them here. A clock that steps back does not return to an earlier file.
 */
class DayFileAuditTrail implements AuditTrail, FilePart<AuditLogPosition> {
  readonly name = 'audit';
  readonly #context: PartContext;
  readonly #files: DayFiles;
  #log: GroupLog | undefined;
  /** Entries in the journal but not yet in the files, oldest first. */
  #pending: PositionedEntry[] = [];
  /** Position after the last entry in the files. */
  #end: AuditLogPosition = { file: null, size: 0, seq: 0 };
  #prepared = this.#end;
  #committed = this.#end;
  /** No entry goes to a file older than this. */
  #newestFile = '';
  /**
   * Files found at start that are newer than the position. Their entries are replayed from the
   * journal.
   */
  #unknown: string[] = [];
  #closed = false;

  constructor(context: PartContext) {
    this.#context = context;
    this.#files = new DayFiles(context.disk, `${context.directory}/audit`);
  }

  add(seq: number, entry: AuditEntry, link?: AuditLink): void {
    if (seq <= this.#end.seq) return;
    const last = this.#pending.at(-1);
    const file = dayFile(entry.at);
    if (file > this.#newestFile) this.#newestFile = file;
    const n = last?.seq === seq ? last.n + 1 : 0;
    this.#pending.push({ seq, n, file: this.#newestFile, bytes: frameEntry(seq, n, entry, link) });
  }

  async page(query: AuditPageQuery): Promise<Slice<AuditEntry>> {
    return auditPage({ files: this.#files, newest: this.#end }, [...this.#pending], query);
  }

  async purgeBefore(
    timeMs: number,
    confirmDrop: (drop: AuditDrop) => Promise<boolean> = async () => true,
  ): Promise<void> {
    const first = dayFile(Math.min(timeMs, this.#context.clock.now()));
    const names = this.#files.names.filter((name) => name < first);
    if (names.length === 0) return;
    if (first > this.#newestFile) this.#newestFile = first;
    const end = this.#end;
    const pending = this.#pending.filter(({ file }) => file < first);
    if (
      !(await confirmDrop({
        day: first.slice(0, 10),
        entries: () => this.#entriesOf(names, end, pending),
      }))
    )
      return;
    this.#pending = this.#pending.filter(({ file }) => file >= first);
    this.#files.hideBefore(first);
    await this.#files.deleteHidden(this.#committed);
  }

  /** Yields the entries of files up to `end`, and the pending ones. */
  async *#entriesOf(
    names: readonly string[],
    end: LogFilesPosition,
    pending: readonly PositionedEntry[],
  ): AsyncGenerator<SealedEntry | undefined> {
    for (const name of names) {
      for await (const { line, offset, whole } of readFrames(
        this.#context.disk,
        this.#files.path(name),
      )) {
        if (name === end.file && offset >= end.size) break;
        yield whole ? sealedOf(line) : undefined;
      }
    }
    for (const { bytes } of pending) yield sealedOf(bytes);
  }

  logRange(position: LogFilesPosition = { file: null, size: 0 }): LogRange {
    const { file, size } = position;
    const names = this.#files.neededBy(position).filter((name) => file !== null && name <= file);
    return { names, end: { file, size } };
  }

  async prepare(): Promise<AuditLogPosition> {
    const last = this.#pending.at(-1);
    while (last && this.#pending[0] && this.#pending[0].seq <= last.seq) await this.#flushBatch();
    if (this.#closed) await this.#closeLog();
    this.#prepared = await this.#files.withSizes(this.#currentPosition());
    return this.#prepared;
  }

  async #flushBatch(): Promise<void> {
    const file = this.#pending[0]?.file ?? '';
    const batch = this.#pending.slice(0, entriesPerWrite).filter((one) => one.file === file);
    await this.#openLog().append(
      file,
      batch.map(({ bytes }) => bytes),
      ({ offset, length }) => {
        this.#files.add(file);
        this.#end = { file, size: offset + length, seq: batch.at(-1)?.seq ?? 0 };
        const written = new Set(batch);
        this.#pending = this.#pending.filter((one) => !written.has(one));
      },
    );
  }

  #openLog(): GroupLog {
    const { file, size, gone } = this.#end;
    const resume = file === null || gone ? {} : { resume: { file, size } };
    // No low-water mark: the journal frees space once its entries are here.
    this.#log ??= new GroupLog({
      disk: this.#context.disk,
      directory: this.#files.directory,
      lowWaterBytes: 0,
      ...resume,
    });
    return this.#log;
  }

  async #closeLog(): Promise<void> {
    const log = this.#log;
    this.#log = undefined;
    await log?.close();
  }

  #currentPosition(): AuditLogPosition {
    const { file } = this.#end;
    return file === null || this.#files.names.includes(file)
      ? this.#end
      : { ...this.#end, gone: true };
  }

  async committed(): Promise<void> {
    this.#committed = this.#prepared;
    await this.#files.deleteHidden(this.#committed);
  }

  async recover(position: AuditLogPosition = this.#end, clean: boolean): Promise<void> {
    await this.#files.find(position);
    await this.#files.check(position, clean);
    const { file, gone } = position;
    this.#end = position;
    this.#prepared = position;
    this.#committed = position;
    if (file !== null) this.#newestFile = gone ? dayFile(dayStart(file) + dayMs) : file;
    this.#unknown = this.#files.names.filter((name) => file === null || name > file);
    const [unknown] = this.#unknown;
    if (clean && unknown !== undefined)
      throw damageError(this.#files.path(unknown), 'it was written after the store was stopped');
    if (file !== null && !gone) await this.#checkFile(file, position, clean);
  }

  /** Checks that the file extends to the position and ends with the entry at `seq`. */
  async #checkFile(name: string, { size, seq }: AuditLogPosition, clean: boolean): Promise<void> {
    const path = this.#files.path(name);
    const found = await this.#context.disk.sizeOf(path);
    if (found === undefined) throw damageError(path, 'the file is missing');
    if (found < size) throw damageError(path, `it had ${size} bytes, the rest is missing`, found);
    if (clean && found > size)
      throw damageError(path, 'more was written after the store was stopped', size);
    const file = await this.#context.disk.open(path, 'read');
    try {
      const { value } = await linesBackward(file, 0, size).next();
      const last = value?.[0];
      if (!last || !isValidRecord(last.bytes) || positionOf(last.bytes)?.seq !== seq)
        throw damageError(path, 'a record is damaged', last?.offset);
    } finally {
      await file.close();
    }
  }

  async begin(): Promise<void> {
    const { disk, directory } = this.#context;
    await disk.makeDirectory(this.#files.directory);
    await disk.syncDirectory(directory);
    const { file, size, gone } = this.#end;
    if (file !== null && !gone) await this.#truncate(this.#files.path(file), size);
    for (const name of this.#unknown.splice(0)) {
      await disk.unlink(this.#files.path(name));
      this.#files.remove(name);
    }
    await disk.syncDirectory(this.#files.directory);
    await this.#files.deleteHidden(this.#committed);
  }

  async #truncate(path: string, size: number): Promise<void> {
    const file = await this.#context.disk.open(path, 'append');
    try {
      if ((await file.size()) === size) return;
      await file.truncate(size);
      await file.datasync();
    } finally {
      await file.close();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#closeLog();
  }
}

/** Creates the audit trail on day files. */
export const makeAuditTrail: MakeAuditTrail = (context) => new DayFileAuditTrail(context);
