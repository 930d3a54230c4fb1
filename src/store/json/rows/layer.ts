import type { TableName } from '../../../domain/records/rows.ts';
import { tableNames } from '../../tables.ts';
import type { ByteSlice } from './byte-slice.ts';
import { deepFreeze } from './deep-freeze.ts';
import { LazyRows } from './lazy-rows.ts';
import { playlistDocument } from './playlist-document.ts';
import { RowMap } from './row-map.ts';
import { type Row, TableIndex } from './table-index.ts';

/** A row that was put, or deleted (`null`). */
export interface Change {
  readonly table: TableName;
  readonly id: string;
  readonly row: Row | null;
}

/** What may lie on top of what: rows by id, and candidates by key and by member, to be checked against the topmost row. */
export interface RowLayer {
  /** `null` when the row is deleted here, `undefined` when this layer says nothing of it. */
  row(table: TableName, id: string): Row | null | undefined;
  holder(table: TableName, index: string, key: string): Row | undefined;
  ids(table: TableName, member: string, value: string): readonly string[];
}

function perTable<T>(make: (table: TableName) => T): Record<TableName, T> {
  return Object.fromEntries(tableNames.map((table) => [table, make(table)])) as Record<
    TableName,
    T
  >;
}

/** Rows by id. */
type RowsById = Pick<LazyRows, 'get' | 'set' | 'delete' | 'ids'>;

/** The durable rows of all tables held in memory. */
export class CommittedRows implements RowLayer {
  readonly playlists = new LazyRows(playlistDocument);
  readonly #rows = perTable(
    (table): RowsById => (table === 'playlists' ? this.playlists : new RowMap()),
  );
  #index = perTable((table) => new TableIndex(table, (id) => this.#rows[table].get(id)));

  row(table: TableName, id: string): Row | undefined {
    return this.#rows[table].get(id);
  }

  /** The row as it is held. */
  held(table: TableName, id: string): Row | ByteSlice | undefined {
    return table === 'playlists' ? this.playlists.held(id) : this.#rows[table].get(id);
  }

  holder(table: TableName, index: string, key: string): Row | undefined {
    return deepFreeze(this.#index[table].holder(index, key));
  }

  ids(table: TableName, member: string, value: string): readonly string[] {
    return this.#index[table].ids(member, value);
  }

  /** Ids of all rows, also of those that come or go meanwhile. */
  all(table: TableName): IterableIterator<string> {
    return this.#rows[table].ids();
  }

  apply({ table, id, row }: Change): void {
    this.#index[table].replace(this.row(table, id), row);
    this.load(table, id, row);
  }

  /** As `apply`, without the indexes: at start many rows come in no order, and `index` sorts them once. */
  load(table: TableName, id: string, row: Row | null): void {
    if (row === null) this.#rows[table].delete(id);
    else this.#rows[table].set(id, row);
  }

  index(): void {
    this.#index = perTable((table) => {
      const rows = this.#rows[table];
      const index = new TableIndex(table, (id) => rows.get(id));
      if (rows instanceof RowMap && !index.isNeverUsed) index.addAll(rows.all());
      return index;
    });
  }
}

/** What an overlay has of one table. */
interface Overlaid {
  changes: Map<string, Change>;
  index: TableIndex;
}

/** Changes that lie over the base: those of one transaction, or all that are on their way to the disk. */
export class WriteSet implements RowLayer {
  /** Only what is changed: a transaction changes one table or a few, and one is made for each. */
  readonly #tables: { [T in TableName]?: Overlaid } = {};

  row(table: TableName, id: string): Row | null | undefined {
    return this.#tables[table]?.changes.get(id)?.row;
  }

  holder(table: TableName, index: string, key: string): Row | undefined {
    return this.#tables[table]?.index.holder(index, key);
  }

  ids(table: TableName, member: string, value: string): readonly string[] {
    return this.#tables[table]?.index.ids(member, value) ?? [];
  }

  changes(table: TableName): Iterable<Change> {
    return this.#tables[table]?.changes.values() ?? [];
  }

  add(change: Change): void {
    const { table, id, row } = change;
    this.#tables[table] ??= { changes: new Map(), index: new TableIndex(table) };
    const { changes, index } = this.#tables[table];
    index.replace(changes.get(id)?.row ?? undefined, row);
    changes.set(id, change);
  }

  /** Forgets a change, unless a later one of the same row took its place. */
  drop(change: Change): void {
    const { table, id, row } = change;
    const overlaid = this.#tables[table];
    if (overlaid?.changes.get(id) !== change) return;
    overlaid.index.replace(row ?? undefined, null);
    overlaid.changes.delete(id);
  }
}
