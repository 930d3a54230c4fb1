import { tryParseJson } from '../../../domain/json/try-parse-json.ts';
import { type Rows, sectionOf, type TableName, tableNames } from '../../sections.ts';
import { checksumLength } from '../checkpoint/document-line.ts';
import { sortCooperatively } from '../checkpoint/sort-cooperatively.ts';
import { withFile } from '../disk/file-system.ts';
import type { PartContext } from '../disk/parts.ts';
import { changesIn } from '../journal/segments.ts';
import { readAt } from '../log/line-reader.ts';
import { rowOfLine } from '../rows/committed-rows.ts';
import type { TableRow } from '../rows/table-index.ts';
import type { DocumentVersion, FoundDocument } from './damaged-documents.ts';
import type { FoundJournal } from './damaged-journal.ts';
import type { FolderFindings } from './finding.ts';

/** A version of a row. */
interface RowVersion {
  /** Number of the journal record, or of the last one that its document contains. */
  seq: number;
  /** Rows that the store holds only on disk lack all other members. */
  row: TableRow;
  /** Its line in a document. `undefined`: the version is in the journal. */
  line?: { path: string; offset: number; length: number; isCurrent: boolean };
}

/** The changes of one row in the journal. */
interface RowChanges {
  first: number;
  last: number;
  table: TableName;
  /** `null`: the last change has deleted the row. */
  row: TableRow | null;
  /** The row before it was deleted. */
  former: TableRow | null;
}

/** The newest versions of all rows that a damaged folder still has. */
export class DamagedRows {
  readonly #context: PartContext;
  readonly #tables = new Map<TableName, Map<string, RowVersion>>();
  #changes = new Map<string, RowChanges>();
  #journal: FoundJournal = { records: [], contained: 0, lastMissing: 0 };

  constructor(context: PartContext) {
    this.#context = context;
  }

  all<T extends TableName>(table: T): ReadonlyMap<string, { row: Rows[T] }> {
    return this.#of(table) as unknown as ReadonlyMap<string, { row: Rows[T] }>;
  }

  isDeleted(table: TableName, id: string): boolean {
    return !this.#of(table).has(id) && this.#changes.get(`${table}/${id}`)?.row === null;
  }

  /** Takes a line of a document. Returns whether it is a row that belongs there. */
  take(text: string, version: DocumentVersion, offset: number, isCurrent: boolean): boolean {
    const record = tryParseJson(text);
    // The first line of a document, which is elsewhere in it, is a number.
    if (!Array.isArray(record)) return false;
    const [table, row] = record as [TableName, TableRow];
    if (!tableNames.includes(table)) return false;
    const { row: schema, document, held } = sectionOf(table);
    if (!schema.safeParse(row).success || document(row as never) !== version.name) return false;
    const { seq } = version.entry;
    const known = this.#of(table).get(row.id);
    if (known && known.seq >= seq) return true;
    const length = checksumLength + Buffer.byteLength(text);
    const line = { path: version.path, offset, length, isCurrent };
    this.#of(table).set(row.id, { seq, row: held === 'disk' ? { id: row.id } : row, line });
    return true;
  }

  /**
   * Applies the journal to the rows of the documents. A change is left out if the row's document is
   * newer.
   */
  applyJournal(
    journal: FoundJournal,
    documents: readonly FoundDocument[],
    isComplete: boolean,
    findings: FolderFindings,
  ): void {
    this.#journal = journal;
    this.#changes = changesOf(journal, findings);
    const current = new Map(documents.map((document) => [document.name, document.current]));
    for (const [key, { table, last, row }] of this.#changes) {
      const id = key.slice(table.length + 1);
      const known = this.#of(table).get(id);
      if (known && known.seq >= last) continue;
      if (row === null) this.#of(table).delete(id);
      else if (known || !this.#isKnownDeleted(row, table, last, current, isComplete))
        this.#of(table).set(id, { seq: last, row });
    }
  }

  /** Whether the row's document is undamaged, newer than the change, and has no such row. */
  #isKnownDeleted(
    row: TableRow,
    table: TableName,
    seq: number,
    current: ReadonlyMap<string, DocumentVersion>,
    isComplete: boolean,
  ): boolean {
    const document = current.get(sectionOf(table).document(row as never));
    if (document) return !document.problem && seq <= document.entry.seq;
    // The manifest names all documents that had rows.
    return isComplete && seq <= this.#journal.contained;
  }

  /** Whether no later change of a version can be among the records that the journal lacks. */
  isProved({ seq, line }: RowVersion): boolean {
    const { contained, lastMissing } = this.#journal;
    return (line?.isCurrent ? Math.max(seq, contained) : seq) >= lastMissing;
  }

  /**
   * Returns the number of lines of a damaged document that other files still have. `unproved`: of
   * these, another number may have been changed or deleted later.
   */
  recovered({ name, current }: FoundDocument): { proved: number; unproved: number } {
    const { seq } = current.entry;
    const count = { proved: 0, unproved: 0 };
    for (const table of tableNames) {
      const { document } = sectionOf(table);
      for (const version of this.#of(table).values()) {
        if (version.line?.isCurrent || document(version.row as never) !== name) continue;
        const changes = this.#changes.get(`${table}/${version.row.id}`);
        const wasThere = version.line !== undefined || (changes?.first ?? seq + 1) <= seq;
        if (wasThere) count[this.isProved(version) ? 'proved' : 'unproved']++;
      }
    }
    for (const { table, first, last, row, former } of this.#changes.values()) {
      const isGone = row === null && former !== null && first <= seq && last > seq;
      if (isGone && sectionOf(table).document(former as never) === name) count.proved++;
    }
    return count;
  }

  /** Leaves out the older of two rows with the same unique key. */
  resolveConflicts(findings: FolderFindings): void {
    for (const table of tableNames) {
      for (const [index, keyOf] of Object.entries(sectionOf(table).unique)) {
        const holders = new Map<string, TableRow>();
        for (const { row } of [...this.#of(table).values()]) {
          const key = keyOf(row as never);
          if (key === undefined) continue;
          const other = holders.get(key);
          const [winner, loser] = other && ageOf(other) >= ageOf(row) ? [other, row] : [row, other];
          holders.set(key, winner);
          if (!loser) continue;
          this.#of(table).delete(loser.id);
          const what = `of two rows with the same ${index}, the older one was left out: ${loser.id} (${winner.id} stays)`;
          findings.damage('documents', what, { section: table, lost: 1 });
        }
      }
    }
  }

  /** Replaces a row, as a change of the repair. */
  replace<T extends TableName>(table: T, row: Rows[T]): void {
    this.#of(table).set(row.id, { seq: Number.POSITIVE_INFINITY, row: row as unknown as TableRow });
  }

  /** Returns the rows whose newest version is not proved. */
  unproved<T extends TableName>(table: T): Rows[T][] {
    const versions = [...this.#of(table).values()].filter((version) => !this.isProved(version));
    return versions.map(({ row }) => row as unknown as Rows[T]);
  }

  /** Yields the rows of a table, sorted by id. */
  async *read(table: TableName): AsyncGenerator<TableRow> {
    const rows = this.#of(table);
    for (const id of await sortCooperatively([...rows.keys()])) {
      const { row, line } = rows.get(id) as RowVersion;
      yield line && sectionOf(table).held === 'disk' ? await this.#rowAt(line) : row;
    }
  }

  async #rowAt({ path, offset, length }: NonNullable<RowVersion['line']>): Promise<TableRow> {
    const { disk, directory } = this.#context;
    const line = await withFile(disk, `${directory}/${path}`, 'read', (file) =>
      readAt(file, offset, length),
    );
    return rowOfLine(line.toString('utf8', checksumLength));
  }

  #of(table: TableName): Map<string, RowVersion> {
    const rows = this.#tables.get(table) ?? new Map<string, RowVersion>();
    this.#tables.set(table, rows);
    return rows;
  }
}

function changesOf({ records }: FoundJournal, findings: FolderFindings): Map<string, RowChanges> {
  const changes = new Map<string, RowChanges>();
  for (const record of records) {
    const { seq } = record;
    for (const { table, id, row } of changesIn(record)) {
      if (!tableNames.includes(table) || (row && !sectionOf(table).row.safeParse(row).success)) {
        const what = `record ${seq} has a row that is not valid: ${table} ${id}`;
        findings.damage('journal', what, { section: table, lost: 1 });
        continue;
      }
      const before = changes.get(`${table}/${id}`);
      const former = row ?? before?.row ?? before?.former ?? null;
      changes.set(`${table}/${id}`, { first: before?.first ?? seq, last: seq, table, row, former });
    }
  }
  return changes;
}

function ageOf(row: TableRow): number {
  const { updatedAt, createdAt } = row as TableRow & { updatedAt?: number; createdAt?: number };
  return updatedAt ?? createdAt ?? 0;
}
