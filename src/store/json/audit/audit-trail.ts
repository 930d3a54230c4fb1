import { dayMs } from '../../../domain/clock.ts';
import type { AuditEntry } from '../../../domain/records/audit.ts';
import type { SealedEntry } from '../../audit/audit-chain.ts';
import type { AuditPageQuery, Slice } from '../../queries.ts';
import { withFile } from '../disk/file-system.ts';
import type { FilePart, PartContext } from '../disk/parts.ts';
import { damageError } from '../log/damage.ts';
import { dayFile, dayStart, type LogFilesPosition } from '../log/day-files.ts';
import { isValidRecord } from '../log/frame.ts';
import { FramedLog } from '../log/framed-log.ts';
import { linesBackward } from '../log/line-reader.ts';
import { readLog } from '../log/log-records.ts';
import {
  auditFormat,
  type EntryNumber,
  frameEntry,
  type PositionedEntry,
  positionOf,
  sealedOf,
} from './entry-record.ts';
import { auditPage } from './pages.ts';

/** Maximum number of entries in one write. Such a write takes some milliseconds. */
const entriesPerWrite = 500;

/** The entries that retention is about to delete. */
export interface AuditDrop {
  /** The first day that is kept. */
  day: string;
  /** The entries to delete, in order. `undefined` stands for an unreadable entry. */
  entries(): AsyncIterable<SealedEntry | undefined>;
}

/**
 * Audit trail in day files `audit/YYYY-MM-DD.ndjson`. Each entry is one line, `{"crc":…,"seq":
 * <journal record>,"n":<index in it>,"entry":{…}}`. Entries arrive through the journal, which
 * keeps them until a checkpoint has written them to these files. `recover` accepts only entries up
 * to the position in the manifest. The journal replays all later ones. After the clock steps back,
 * entries still go to the newest file.
 */
export class AuditTrail implements FilePart<LogFilesPosition> {
  readonly name = 'audit';
  readonly #context: PartContext;
  readonly log: FramedLog<EntryNumber, LogFilesPosition>;
  /** Entries in the journal but not yet in the files, oldest first. */
  #pending: PositionedEntry[] = [];
  /** Name of the newest file. No entry goes to an older file. */
  #newestFile = '';
  #isClosed = false;

  constructor(context: PartContext) {
    this.#context = context;
    // Entries are written even when the disk is almost full, because the journal can free space
    // only after its entries are written to this log.
    this.log = new FramedLog(context, auditFormat, 0);
  }

  /**
   * Adds an entry of journal record `seq`, which has become durable or is replayed after `recover`.
   * Skips entries up to the log's end, which are in the files already. A replay may include such
   * entries.
   */
  add(seq: number, sealed: SealedEntry): void {
    if (seq <= this.log.end.seq) return;
    const last = this.#pending.at(-1);
    const file = dayFile(sealed.entry.at);
    if (file > this.#newestFile) this.#newestFile = file;
    const n = last?.seq === seq ? last.n + 1 : 0;
    const bytes = frameEntry({ seq, n }, sealed);
    this.#pending.push({ seq, n, file: this.#newestFile, bytes });
  }

  async page(query: AuditPageQuery): Promise<Slice<AuditEntry>> {
    return auditPage(this.log, [...this.#pending], query);
  }

  /**
   * Purges whole days before `timeMs`. First calls `confirmDrop`, and deletes nothing unless that
   * returns true.
   */
  async purgeBefore(
    timeMs: number,
    confirmDrop: (drop: AuditDrop) => Promise<boolean> = async () => true,
  ): Promise<void> {
    const first = dayFile(Math.min(timeMs, this.#context.clock.now()));
    const names = this.log.names.filter((name) => name < first);
    const pending = this.#pending.filter(({ file }) => file < first);
    if (names.length === 0 && pending.length === 0) return;
    if (first > this.#newestFile) this.#newestFile = first;
    const { end } = this.log;
    const entries = () => this.#entriesOf(names, end, pending);
    if (!(await confirmDrop({ day: first.slice(0, 10), entries }))) return;
    this.#pending = this.#pending.filter(({ file }) => file >= first);
    this.log.hideBefore(first);
    await this.log.deleteHidden();
  }

  /** Yields the entries of the files up to `end`, then the pending entries. */
  async *#entriesOf(
    names: readonly string[],
    end: LogFilesPosition,
    pending: readonly PositionedEntry[],
  ): AsyncGenerator<SealedEntry | undefined> {
    const { disk, directory } = this.log;
    for await (const { head } of readLog({ disk, directory, names }, sealedOf, end)) yield head;
    for (const { bytes } of pending) yield sealedOf(bytes);
  }

  /**
   * Returns all entries as they are now, to be read later. Leaves out files before `firstDay`,
   * which a crash kept from being deleted. The others must not be deleted until then.
   */
  snapshot(firstDay = ''): () => AsyncGenerator<SealedEntry> {
    const { end } = this.log;
    const names = this.log.names.filter((name) => end.file !== null && name <= end.file);
    const kept = names.filter((name) => name.slice(0, 10) >= firstDay);
    const pending = this.#pending.map(({ bytes }) => bytes);
    const { disk, directory } = this.log;
    return async function* () {
      for await (const { file, offset, head } of readLog(
        { disk, directory, names: kept },
        sealedOf,
        end,
      )) {
        if (!head) throw damageError(`${directory}/${file}`, 'a record is damaged', offset);
        yield head;
      }
      for (const bytes of pending) yield sealedOf(bytes) as SealedEntry;
    };
  }

  async prepare(): Promise<LogFilesPosition> {
    const last = this.#pending.at(-1)?.seq ?? 0;
    while ((this.#pending[0]?.seq ?? Number.POSITIVE_INFINITY) <= last)
      await this.#flushBatch(last);
    if (this.#isClosed) await this.log.close();
    return this.log.prepare();
  }

  /**
   * Writes the oldest entries up to journal record `last`, and none of later records, which may
   * arrive meanwhile: the last slice must not end inside a record. The log's end names that record,
   * and a replay skips all of its entries.
   */
  async #flushBatch(last: number): Promise<void> {
    const file = this.#pending[0]?.file ?? '';
    const batch = this.#pending
      .slice(0, entriesPerWrite)
      .filter((one) => one.seq <= last && one.file === file);
    const seq = batch.at(-1)?.seq ?? 0;
    const pieces = batch.map(({ bytes }) => bytes);
    await this.log.append(file, pieces, { seq }, () => {
      const written = new Set(batch);
      this.#pending = this.#pending.filter((one) => !written.has(one));
    });
  }

  committed(): Promise<void> {
    return this.log.commit();
  }

  async recover(position = auditFormat.start, clean: boolean): Promise<void> {
    await this.log.recover(position, clean);
    const { file, gone } = position;
    if (file === null) return;
    this.#newestFile = gone ? dayFile(dayStart(file) + dayMs) : file;
    if (!gone) await this.#checkLastEntry(this.log.path(file), position);
  }

  /** Checks that the last entry up to the position belongs to journal record `seq`. */
  #checkLastEntry(path: string, { size, seq }: LogFilesPosition): Promise<void> {
    return withFile(this.#context.disk, path, 'read', async (file) => {
      const { value } = await linesBackward(file, 0, size).next();
      const last = value?.[0];
      if (!last || !isValidRecord(last.bytes) || positionOf(last.bytes)?.seq !== seq)
        throw damageError(path, 'a record is damaged', last?.offset);
    });
  }

  async begin(): Promise<void> {
    await this.log.begin();
    // The journal replays the entries after the position of the manifest, so they can be discarded.
    await this.log.discardAfterEnd();
  }

  /** Closes the file. The last checkpoint opens it again to write the remaining entries. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.log.close();
  }
}
