import type { TableName } from '../../sections.ts';
import { TableIndex, type TableRow } from './table-index.ts';

/** A changed row. `row` is `null` for a deleted row. */
export interface RowWrite {
  readonly table: TableName;
  readonly id: string;
  readonly row: TableRow | null;
}

/**
 * Looks up rows by id, and candidate rows by unique key or index. Check each candidate
 * against the newest version of its row: newer write sets shadow older ones and the committed rows.
 */
export interface RowLookup {
  /** Returns `null` for a row that a write set deletes, and `undefined` for an unknown row. */
  row(table: TableName, id: string): TableRow | null | undefined;
  holder(table: TableName, index: string, key: string): TableRow | undefined;
  ids(table: TableName, index: string, value: string): readonly string[];
}

interface TableChanges {
  changes: Map<string, RowWrite>;
  index: TableIndex;
}

/** Changes of one transaction, or all staged changes that are not durable yet. */
export class WriteSet implements RowLookup {
  /** Created on demand: a transaction changes few tables. */
  readonly #tables: { [T in TableName]?: TableChanges } = {};

  row(table: TableName, id: string): TableRow | null | undefined {
    return this.#tables[table]?.changes.get(id)?.row;
  }

  holder(table: TableName, index: string, key: string): TableRow | undefined {
    return this.#tables[table]?.index.holder(index, key);
  }

  ids(table: TableName, index: string, value: string): readonly string[] {
    return this.#tables[table]?.index.ids(index, value) ?? [];
  }

  changes(table: TableName): Iterable<RowWrite> {
    return this.#tables[table]?.changes.values() ?? [];
  }

  add(change: RowWrite): void {
    const { table, id, row } = change;
    this.#tables[table] ??= { changes: new Map(), index: new TableIndex(table) };
    const { changes, index } = this.#tables[table];
    index.replace(changes.get(id)?.row ?? undefined, row);
    changes.set(id, change);
  }

  /** Removes a change, unless a later change of the same row has replaced it. */
  drop(change: RowWrite): void {
    const { table, id, row } = change;
    const tableChanges = this.#tables[table];
    if (tableChanges?.changes.get(id) !== change) return;
    tableChanges.index.replace(row ?? undefined, null);
    tableChanges.changes.delete(id);
  }
}
