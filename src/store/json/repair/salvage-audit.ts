import type { ChainState, SealedEntry } from '../../audit/audit-chain.ts';
import {
  auditFormat,
  type EntryNumber,
  frameEntry,
  isAfter,
  type PositionedEntry,
  positionOf,
  sealedOf,
} from '../audit/entry-record.ts';
import { entriesIn, type JournalRecord } from '../journal/segments.ts';
import type { BulkLog } from '../log/bulk-log.ts';
import { dayFile, type LogFilesPosition } from '../log/day-files.ts';
import { type LogFiles, readLog } from '../log/log-records.ts';
import type { ManifestData } from '../manifest.ts';
import { damagedLog, type RepairContext } from './repair-context.ts';

/** Writes all undamaged entries into new day files, and restores lost entries from the journal. */
export class AuditSalvage {
  readonly #context: RepairContext;
  readonly #oldPosition: LogFilesPosition | undefined;
  /** First day that retention has kept, `YYYY-MM-DD`. */
  readonly #firstDay: string;
  readonly #entries: PositionedEntry[];
  readonly #newLog: BulkLog;
  #last = { file: '', seq: 0, n: -1 };
  #damaged = 0;
  #restored = 0;

  constructor(
    context: RepairContext,
    marks: ManifestData['marks'],
    records: readonly JournalRecord[],
    newLog: BulkLog,
  ) {
    this.#context = context;
    this.#oldPosition = marks.audit as LogFilesPosition | undefined;
    this.#firstDay = (marks.chain as ChainState | undefined)?.start?.day ?? '';
    this.#entries = entriesOf(records);
    this.#newLog = newLog;
  }

  /** Writes the new audit log. Returns its position: the journal replays only later entries. */
  async run(): Promise<LogFilesPosition | undefined> {
    const { log } = this.#context;
    const { file = null, gone, files = {} } = this.#oldPosition ?? {};
    const isGone = (name: string) =>
      name < this.#firstDay || (gone === true && file !== null && name <= file);
    const present = await damagedLog(this.#context, auditFormat, this.#oldPosition);
    const expected = [...Object.keys(files), ...(file === null || gone ? [] : [file])];
    // Entries that retention deleted must not be restored.
    const [oldest = '~'] = [...expected, ...present.names].sort();
    const missing = this.#entries.filter((entry) => entry.file >= oldest && !isGone(entry.file));
    await this.#copy(present, missing);
    const limit = Math.max(this.#last.seq, this.#oldPosition?.seq ?? 0);
    await this.#restoreBefore({ seq: limit, n: Number.POSITIVE_INFINITY }, missing);
    await this.#newLog.close();
    const damaged = this.#damaged;
    const restored = this.#restored;
    if (restored > 0) log.add('audit', `${restored} entries were restored from the journal`);
    if (damaged > restored) log.add('audit', 'entries are lost', { lost: damaged - restored });
    return this.#newPosition();
  }

  async #copy(files: LogFiles, missing: PositionedEntry[]): Promise<void> {
    const numberOf = (line: Buffer) => (sealedOf(line) ? positionOf(line) : undefined);
    for await (const { file, line, offset, head } of readLog(files, numberOf)) {
      if (!head || !isAfter(head, this.#last)) {
        this.#context.log.add(`audit/${file}`, 'a damaged entry was left out', { offset });
        this.#damaged++;
        continue;
      }
      await this.#restoreBefore(head, missing, file);
      const bytes = this.#context.dropsLinks
        ? frameEntry(head, { entry: (sealedOf(line) as SealedEntry).entry })
        : Buffer.concat([line, Buffer.of(0x0a)]);
      await this.#write(file, bytes, head);
    }
  }

  /** Writes those entries of `missing` that come before this position. */
  async #restoreBefore(
    position: EntryNumber,
    missing: PositionedEntry[],
    name?: string,
  ): Promise<void> {
    while (missing[0] && isAfter(position, missing[0])) {
      const entry = missing.shift() as PositionedEntry;
      if (!isAfter(entry, this.#last)) continue;
      const file = name ?? (entry.file > this.#last.file ? entry.file : this.#last.file);
      await this.#write(file, entry.bytes, entry);
      this.#restored++;
    }
    if (missing[0] && !isAfter(missing[0], position)) missing.shift();
  }

  async #write(name: string, bytes: Buffer, { seq, n }: EntryNumber): Promise<void> {
    await this.#newLog.add(name, bytes);
    this.#last = { file: name, seq, n };
  }

  #newPosition(): LogFilesPosition | undefined {
    const { file, seq } = this.#last;
    if (file === '') return this.#oldPosition?.gone ? this.#oldPosition : undefined;
    const { [file]: size = 0, ...files } = this.#newLog.sizes;
    return { file, size, seq, files };
  }
}

/** Returns the journal's audit entries, with the day files to which the trail would write them. */
function entriesOf(records: readonly JournalRecord[]): PositionedEntry[] {
  let newest = '';
  return records.flatMap((record) =>
    entriesIn(record).map((sealed, n) => {
      const { seq } = record;
      const file = dayFile(sealed.entry.at);
      if (file > newest) newest = file;
      return { seq, n, file: newest, bytes: frameEntry({ seq, n }, sealed) };
    }),
  );
}
