import { isObject } from '../../../domain/json/is-object.ts';
import { sectionOf, type TableName, tableNames } from '../../sections.ts';
import type {
  DocumentOwner,
  RenderedDocument,
  WrittenDocument,
} from '../checkpoint/document-owner.ts';
import type { LineTable } from '../checkpoint/line-table.ts';
import { type CommittedRows, rowLine } from './committed-rows.ts';
import type { TableRow } from './table-index.ts';

/** Row ids by table. */
type DocumentIds = { [T in TableName]?: Set<string> };

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
  changing(table: TableName, id: string, after: TableRow | null): void {
    const { document } = sectionOf(table);
    const before = this.#base.row(table, id);
    for (const row of [before, after]) if (row) this.#dirty.add(document(row));
    if (this.#base.lines.has(table)) return;
    // A changed row becomes the last one of its document.
    if (before) this.#idsOf(document(before))[table]?.delete(id);
    if (after) this.#rowIds(document(after), table).add(id);
  }

  dirty(): string[] {
    return [...this.#dirty];
  }

  async render(name: string): Promise<RenderedDocument | undefined> {
    this.#dirty.delete(name);
    const lines = this.#linesOf(name)?.lines(name);
    const rows = lines ?? this.#rowsOf(name);
    if (rows.length === 0) return undefined;
    return { seq: this.#seq(), lines: lines ?? rowLines(rows as [TableName, TableRow][]) };
  }

  #rowsOf(name: string): [TableName, TableRow][] {
    const ids = this.#idsOf(name);
    return tableNames.flatMap((table) =>
      Array.from(ids[table] ?? [], (id): [TableName, TableRow] => [
        table,
        this.#base.row(table, id) as TableRow,
      ]),
    );
  }

  failed(name: string): void {
    this.#dirty.add(name);
  }

  async load(name: string, written: WrittenDocument): Promise<void> {
    const held = this.#linesOf(name);
    if (held) return held.load(name, await written.bytes());
    // Parses the checksums before each row, too. That is faster than removing them.
    const members = JSON.parse(`[0${await written.text()}]`);
    const texts = new Map<string, string>();
    for (let at = 2; at < members.length; at += 2) {
      const [table, row] = members[at] as [TableName, TableRow];
      shareTexts(row as object as Record<string, unknown>, texts);
      this.#rowIds(name, table).add(row.id);
      this.#base.load(table, row.id, row);
    }
  }

  /** Returns the table whose rows the document holds as lines, if it is such a document. */
  #linesOf(name: string): LineTable<TableRow> | undefined {
    for (const [table, lines] of this.#base.lines)
      if (name.startsWith(`rows-${table}-`)) return lines;
    return undefined;
  }

  #rowIds(name: string, table: TableName): Set<string> {
    const ids = this.#idsOf(name);
    ids[table] ??= new Set();
    return ids[table];
  }

  #idsOf(name: string): DocumentIds {
    const ids = this.#documents.get(name) ?? {};
    this.#documents.set(name, ids);
    return ids;
  }
}

/**
 * Replaces each text in a value by an equal one that is known, so that it is in memory once: the
 * rows of a screen name the same ids.
 */
function shareTexts(value: Record<string, unknown>, known: Map<string, string>): void {
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (typeof member !== 'string') {
      if (isObject(member)) shareTexts(member, known);
      continue;
    }
    const text = known.get(member);
    if (text === undefined) known.set(member, member);
    else value[name] = text;
  }
}

function* rowLines(rows: readonly [TableName, TableRow][]): Generator<string> {
  for (const row of rows) yield rowLine(...row);
}
