import type { TableName } from '../../domain/records.ts';
import { tableNames } from '../tables.ts';
import { type Row, TableIndex } from './table-index.ts';

/** A row that was put, or deleted (`null`). */
export interface Change {
  readonly table: TableName;
  readonly id: string;
  readonly row: Row | null;
}

/** What may lie on top of what: rows by id, and candidates by key and by member, to be checked against the topmost row. */
export interface Layer {
  /** `null` when the row is deleted here, `undefined` when this layer says nothing of it. */
  row(table: TableName, id: string): Row | null | undefined;
  holder(table: TableName, index: string, key: string): string | undefined;
  ids(table: TableName, member: string, value: string): readonly string[];
}

function perTable<T>(make: (table: TableName) => T): Record<TableName, T> {
  return Object.fromEntries(tableNames.map((table) => [table, make(table)])) as Record<TableName, T>;
}

/** The durable rows of all tables held in memory. */
export class Base implements Layer {
  readonly #rows = perTable(() => new Map<string, Row>());
  #index = perTable((table) => new TableIndex(table));

  row(table: TableName, id: string): Row | undefined {
    return this.#rows[table].get(id);
  }

  holder(table: TableName, index: string, key: string): string | undefined {
    return this.#index[table].holder(index, key);
  }

  ids(table: TableName, member: string, value: string): readonly string[] {
    return this.#index[table].ids(member, value);
  }

  rows(table: TableName): IterableIterator<Row> {
    return this.#rows[table].values();
  }

  apply({ table, id, row }: Change): void {
    const before = this.#rows[table].get(id);
    if (before) this.#index[table].remove(before);
    this.load(table, id, row);
    if (row) this.#index[table].add(row);
  }

  /** As `apply`, without the indexes: at start many rows come in no order, and `index` sorts them once. */
  load(table: TableName, id: string, row: Row | null): void {
    if (row) this.#rows[table].set(id, row);
    else this.#rows[table].delete(id);
  }

  index(): void {
    this.#index = perTable((table) => {
      const index = new TableIndex(table);
      const rows = this.#rows[table];
      for (const id of [...rows.keys()].sort()) index.add(rows.get(id) as Row);
      return index;
    });
  }
}

/** Changes that lie over the base: those of one transaction, or all that are on their way to the disk. */
export class Overlay implements Layer {
  readonly #changes = perTable(() => new Map<string, Change>());
  readonly #index = perTable((table) => new TableIndex(table));

  row(table: TableName, id: string): Row | null | undefined {
    return this.#changes[table].get(id)?.row;
  }

  holder(table: TableName, index: string, key: string): string | undefined {
    return this.#index[table].holder(index, key);
  }

  ids(table: TableName, member: string, value: string): readonly string[] {
    return this.#index[table].ids(member, value);
  }

  changes(table: TableName): IterableIterator<Change> {
    return this.#changes[table].values();
  }

  add(change: Change): void {
    this.#takeOut(this.#changes[change.table].get(change.id));
    this.#changes[change.table].set(change.id, change);
    if (change.row) this.#index[change.table].add(change.row);
  }

  /** Forgets a change, unless a later one of the same row took its place. */
  drop(change: Change): void {
    if (this.#changes[change.table].get(change.id) !== change) return;
    this.#takeOut(change);
    this.#changes[change.table].delete(change.id);
  }

  #takeOut(change: Change | undefined): void {
    if (change?.row) this.#index[change.table].remove(change.row);
  }
}
