import { BoundedMap } from '../../../domain/bounded-map.ts';
import type { Device, DeviceKey, Playlist, Screen } from '../../../domain/records/rows.ts';
import type { PlaylistSummary } from '../../queries.ts';
import { sectionOf, type TableName, tableNames } from '../../sections.ts';
import type { KeyHolder } from '../../store.ts';
import { LineTable } from '../checkpoint/line-table.ts';
import { sortCooperatively } from '../checkpoint/sort-cooperatively.ts';
import { deepFreeze, TableIndex, type TableRow } from './table-index.ts';
import type { RowLookup, RowWrite } from './write-set.ts';

/** Maximum number of parsed lines in a cache. The content of ten items takes 3 KB. */
const parsedLines = 5_000;

/** Renders a row as a line of its document, which starts with the table and the id. */
export function rowLine(table: TableName, { id, ...rest }: TableRow): string {
  return JSON.stringify([table, { id, ...rest }]);
}

export function rowOfLine(line: string): TableRow {
  return (JSON.parse(line) as [TableName, TableRow])[1];
}

/** Text of a row's line before the id. */
export const rowOpening = (table: TableName) => `["${table}",{"id":"`;

function perTable<T>(make: (table: TableName) => T): Record<TableName, T> {
  return Object.fromEntries(tableNames.map((table) => [table, make(table)])) as Record<
    TableName,
    T
  >;
}

/** A table that is held as lines, and a cache of the rows that are read often. */
class ParsedLines extends LineTable<TableRow> {
  readonly #parsed = new BoundedMap<string, TableRow>(parsedLines);

  constructor(table: TableName) {
    super((id) => sectionOf(table).document({ id }), {
      opening: rowOpening(table),
      parse: rowOfLine,
      render: (_, row) => rowLine(table, row),
    });
  }

  row(id: string): TableRow | undefined {
    const known = this.#parsed.get(id);
    if (known) return known;
    const row = this.get(id);
    // Freezing takes about as long as parsing, so a row that only this reader gets is not frozen.
    if (row && this.#parsed.offer(id, row)) deepFreeze(row);
    return row;
  }

  /** A changed row becomes the last line of its document. */
  change(id: string, row: TableRow | null): void {
    this.#parsed.delete(id);
    this.delete(id);
    if (row) this.set(id, deepFreeze(row));
  }
}

/** The durable rows of all tables in memory. */
export class CommittedRows implements RowLookup {
  /** Rows parsed on demand. Parsing all contents would take most of the time of a start. */
  readonly lines: ReadonlyMap<TableName, ParsedLines> = new Map(
    tableNames
      .filter((table) => sectionOf(table).held === 'lines')
      .map((table) => [table, new ParsedLines(table)]),
  );
  /**
   * Cache of the holders of the keys that TVs have used since the start, by the hash of the key. It
   * saves each request the look-ups of three rows.
   */
  readonly #keyHolders = new Map<string, KeyHolder>();
  readonly #rows = perTable(() => new Map<string, TableRow>());
  #index = perTable((table) => new TableIndex(table));

  row(table: TableName, id: string): TableRow | undefined {
    const lines = this.lines.get(table);
    return lines ? lines.row(id) : this.#rows[table].get(id);
  }

  playlistSummary(id: string): PlaylistSummary | undefined {
    const row = this.row('playlists', id) as Playlist | undefined;
    if (!row) return undefined;
    const { playlistId, version, state, publishedAt, validUntil, hasMedia, contentId, origin } =
      row;
    return { playlistId, version, state, publishedAt, validUntil, hasMedia, contentId, origin };
  }

  holder(table: TableName, index: string, key: string): TableRow | undefined {
    return this.#index[table].holder(index, key);
  }

  keyHolder(hash: string): KeyHolder | undefined {
    const known = this.#keyHolders.get(hash);
    if (known) return known;
    const key = this.holder('deviceKeys', 'hash', hash) as DeviceKey | undefined;
    if (!key) return undefined;
    const device = this.row('devices', key.deviceId) as Device | undefined;
    const screen = this.row('screens', key.screenId) as Screen | undefined;
    const holder = Object.freeze({ key, device, screen });
    // `#forgetKeyHolders` finds a key by its device, and the device by its screen.
    if (device?.screenId === key.screenId) this.#keyHolders.set(key.hash, holder);
    return holder;
  }

  /** Evicts the cached key holders that contain a row. Call before the row changes. */
  #forgetKeyHolders(table: TableName, id: string): void {
    if (table === 'screens') {
      for (const deviceId of this.ids('devices', 'screenId', id))
        this.#forgetKeyHolders('devices', deviceId);
    } else if (table === 'devices') {
      for (const keyId of this.ids('deviceKeys', 'deviceId', id))
        this.#forgetKeyHolders('deviceKeys', keyId);
    } else if (table === 'deviceKeys') {
      const key = this.row('deviceKeys', id) as DeviceKey | undefined;
      if (key) this.#keyHolders.delete(key.hash);
    }
  }

  ids(table: TableName, member: string, value: string): readonly string[] {
    return this.#index[table].ids(member, value);
  }

  /**
   * Iterates over the ids of all rows. Callers may add and delete rows during the iteration. A line
   * that changes meanwhile may appear twice.
   */
  all(table: TableName): IterableIterator<string> {
    return this.lines.get(table)?.ids() ?? this.#rows[table].keys();
  }

  /** Returns the rows of a table as they are now, to be read later, sorted by id. */
  snapshot(table: TableName): () => AsyncGenerator<TableRow> {
    const lines = this.lines.get(table)?.snapshot();
    const rows = [...this.#rows[table].values()];
    return async function* () {
      for await (const line of lines?.() ?? []) yield rowOfLine(line);
      const byId = new Map(rows.map((row) => [row.id, row]));
      for (const id of await sortCooperatively([...byId.keys()])) yield byId.get(id) as TableRow;
    };
  }

  apply({ table, id, row }: RowWrite): void {
    this.#forgetKeyHolders(table, id);
    this.#index[table].replace(this.row(table, id), row);
    this.load(table, id, row);
  }

  /**
   * Applies a change without updating the indexes. At start, `index` builds the indexes afterwards.
   */
  load(table: TableName, id: string, row: TableRow | null): void {
    const lines = this.lines.get(table);
    if (lines) lines.change(id, row);
    else if (row === null) this.#rows[table].delete(id);
    else this.#rows[table].set(id, deepFreeze(row));
  }

  index(): void {
    this.#index = perTable((table) => {
      const index = new TableIndex(table);
      const rows = this.#rows[table];
      // Sorted ids are appended to the index. Inserting one among 100,000 ids would take 50 µs.
      for (const id of [...rows.keys()].sort()) index.replace(undefined, rows.get(id) as TableRow);
      return index;
    });
  }
}
