import { sectionOf, type TableName, tableNames } from '../../sections.ts';
import type {
  DocumentOwner,
  RenderedDocument,
  WrittenDocument,
} from '../checkpoint/document-owner.ts';
import type { LineTable } from '../checkpoint/line-table.ts';
import { type CommittedRows, rowLine } from './committed-rows.ts';
import type { Row } from './table-index.ts';

/** Row ids by table. A document has few rows, so a linear search is cheaper than a set. */
type DocumentIds = { [T in TableName]?: string[] };

/** The documents of the rows in memory, `rows-…`. */
export class RowDocuments implements DocumentOwner {
  readonly kind = 'rows';
  readonly log = 'journal';
  readonly #base: CommittedRows;
  readonly #seq: () => number;
  /** Row ids of each document, except the documents of `CommittedRows.lines`. */
  readonly #documents = new Map<string, DocumentIds>();
  readonly #dirty = new Set<string>();

  /** @param seq returns the number of the last journal record contained in `base` */
  constructor(base: CommittedRows, seq: () => number) {
    this.#base = base;
    this.#seq = seq;
  }

  /**
   * Call before a committed row is inserted, replaced or deleted. `after` is the new row, or `null`
   * if the row is deleted.
   */
  changing(table: TableName, id: string, after: Row | null): void {
    const { document } = sectionOf(table);
    const before = this.#base.row(table, id);
    for (const row of [before, after]) if (row) this.#dirty.add(document(row));
    if (this.#base.lines.has(table)) return;
    if (before) {
      const ids = this.#idsOf(document(before));
      ids[table] = ids[table]?.filter((one) => one !== id);
    }
    if (after) {
      const ids = this.#idsOf(document(after));
      ids[table] ??= [];
      ids[table].push(id);
    }
  }

  dirty(): string[] {
    return [...this.#dirty];
  }

  async render(name: string): Promise<RenderedDocument | undefined> {
    this.#dirty.delete(name);
    const found = this.#linesOf(name);
    const tables = found
      ? [{ table: found.table, rows: found.lines.lines(name) }]
      : this.#tablesOf(name);
    const seq = this.#seq();
    const filled = tables.filter(({ rows }) => rows.length > 0);
    return filled.length === 0 ? undefined : { seq, lines: rowLines(seq, filled) };
  }

  #tablesOf(name: string): TableRows[] {
    const ids = this.#idsOf(name);
    return tableNames.map((table) => ({
      table,
      rows: (ids[table] ?? []).map((id) => this.#base.row(table, id) as Row),
    }));
  }

  failed(name: string): void {
    this.#dirty.add(name);
  }

  async load(name: string, written: WrittenDocument): Promise<void> {
    const held = this.#linesOf(name);
    if (held) return held.lines.load(name, await written.bytes());
    const { rows } = JSON.parse(await written.text()) as {
      rows: Partial<Record<TableName, Row[]>>;
    };
    const ids = this.#idsOf(name);
    for (const table of tableNames) {
      const found = rows[table];
      if (found) ids[table] = found.map(({ id }) => id);
      for (const row of found ?? []) this.#base.load(table, row.id, row);
    }
  }

  /** Returns the table whose rows the document holds as lines, if it is such a document. */
  #linesOf(name: string): { table: TableName; lines: LineTable<Row> } | undefined {
    for (const [table, lines] of this.#base.lines)
      if (name.startsWith(`rows-${table}-`)) return { table, lines };
    return undefined;
  }

  #idsOf(name: string): DocumentIds {
    const ids = this.#documents.get(name) ?? {};
    this.#documents.set(name, ids);
    return ids;
  }
}

/** Rows of one table, or their lines. */
interface TableRows {
  table: string;
  rows: readonly (Row | string)[];
}

/** Yields `{"seq":n,"rows":{"screens":[…],…}}`, one row per line, each starting with its id. */
export function* rowLines(seq: number, tables: readonly TableRows[]): Generator<string> {
  yield `{"seq":${seq},"rows":{`;
  for (const [place, { table, rows }] of tables.entries()) {
    yield `${JSON.stringify(table)}:[`;
    for (const [index, row] of rows.entries()) {
      const line = typeof row === 'string' ? row : rowLine(row);
      yield index < rows.length - 1 ? `${line},` : line;
    }
    yield place < tables.length - 1 ? '],' : ']';
  }
  yield '}}';
}
