import type { TableName } from '../../../domain/records/rows.ts';
import { tableNames } from '../../tables.ts';
import type { ByteSlice } from './byte-slice.ts';
import { deepFreeze } from './deep-freeze.ts';
import { LazyRows } from './lazy-rows.ts';
import { playlistDocument } from './playlist-document.ts';
import { RowMap } from './row-map.ts';
import { type Row, TableIndex } from './table-index.ts';
import type { Change, RowLookup } from './write-set.ts';

function perTable<T>(make: (table: TableName) => T): Record<TableName, T> {
  return Object.fromEntries(tableNames.map((table) => [table, make(table)])) as Record<
    TableName,
    T
  >;
}

type RowsById = Pick<LazyRows, 'get' | 'set' | 'delete' | 'ids'>;

/** The durable rows of all in-memory tables. */
export class CommittedRows implements RowLookup {
  readonly playlists = new LazyRows(playlistDocument);
  readonly #rows = perTable(
    (table): RowsById => (table === 'playlists' ? this.playlists : new RowMap()),
  );
  #index = perTable((table) => new TableIndex(table, (id) => this.#rows[table].get(id)));

  row(table: TableName, id: string): Row | undefined {
    return this.#rows[table].get(id);
  }

  /** Returns the row, or its unparsed JSON text for a playlist loaded from a document. */
  rawRow(table: TableName, id: string): Row | ByteSlice | undefined {
    return table === 'playlists' ? this.playlists.rawRow(id) : this.#rows[table].get(id);
  }

  holder(table: TableName, index: string, key: string): Row | undefined {
    return deepFreeze(this.#index[table].holder(index, key));
  }

  ids(table: TableName, member: string, value: string): readonly string[] {
    return this.#index[table].ids(member, value);
  }

  /** Iterates over the ids of all rows. Rows may be added and deleted during the iteration. */
  all(table: TableName): IterableIterator<string> {
    return this.#rows[table].ids();
  }

  apply({ table, id, row }: Change): void {
    this.#index[table].replace(this.row(table, id), row);
    this.load(table, id, row);
  }

  /** Applies a change without updating the indexes. At start, `index` then builds them once. */
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
