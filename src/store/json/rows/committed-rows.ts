import { BoundedMap } from '../../../domain/bounded-map.ts';
import type { Device, DeviceKey, Playlist, Screen } from '../../../domain/records/rows.ts';
import type { PlaylistSummary } from '../../queries.ts';
import { type TableName, tableNames } from '../../sections.ts';
import type { KeyHolder } from '../../store.ts';
import { LineTable, shardNames } from '../checkpoint/line-table.ts';
import { deepFreeze, type Row, TableIndex } from './table-index.ts';
import type { Change, RowLookup } from './write-set.ts';

/**
 * Number of documents for the screens, and number of documents for their playlists. With 100,000
 * screens, each document has about 100 of them, so registering a TV rewrites little.
 */
export const screenShards = 1024;

/** Maximum number of parsed playlists in the cache. A playlist with ten items takes 3 KB. */
const parsedPlaylists = 5_000;

/**
 * Returns the name of the document that holds a screen's playlist. Playlists take most of the space
 * and change independently, so they have their own documents.
 */
export const playlistDocument = shardNames('rows-playlists', screenShards);

/** Renders a row as a line of its document, which starts with the id. */
export function rowLine({ id, ...rest }: Row): string {
  return JSON.stringify({ id, ...rest });
}

/** Text of a row's line before the id. */
export const rowOpening = '{"id":"';

function perTable<T>(make: (table: TableName) => T): Record<TableName, T> {
  return Object.fromEntries(tableNames.map((table) => [table, make(table)])) as Record<
    TableName,
    T
  >;
}

/** The durable rows of all in-memory tables. */
export class CommittedRows implements RowLookup {
  /** Playlists are parsed on demand. Parsing all of them would take most of the time of a start. */
  readonly playlists = new LineTable<Row>(playlistDocument, {
    opening: rowOpening,
    parse: (line) => JSON.parse(line),
    render: (_, row) => rowLine(row),
  });
  /** Cache of playlists that are read often, so that repeated reads do not parse them again. */
  readonly #parsedPlaylists = new BoundedMap<string, Row>(parsedPlaylists);
  /** Cache of playlist summaries, so that lists and changes parse each version only once. */
  readonly #playlistSummaries = new Map<string, PlaylistSummary>();
  /**
   * Cache of the holders of the keys that TVs have used since the start, by the hash of the key. It
   * saves each request the look-ups of three rows.
   */
  readonly #keyHolders = new Map<string, KeyHolder>();
  readonly #rows = perTable(() => new Map<string, Row>());
  #index = perTable((table) => new TableIndex(table));

  row(table: TableName, id: string): Row | undefined {
    return table === 'playlists' ? this.#playlist(id) : this.#rows[table].get(id);
  }

  #playlist(id: string): Row | undefined {
    const known = this.#parsedPlaylists.get(id);
    if (known) return known;
    const row = this.playlists.get(id);
    // Freezing takes about as long as parsing, so a row that only this reader gets is not frozen.
    if (row && this.#parsedPlaylists.offer(id, row)) deepFreeze(row);
    return row;
  }

  /** Bypasses the cache of parsed playlists, so that it evicts no playlist that TVs read. */
  playlistSummary(id: string): PlaylistSummary | undefined {
    const known = this.#playlistSummaries.get(id);
    if (known) return known;
    const row = (this.#parsedPlaylists.get(id) ?? this.playlists.get(id)) as Playlist | undefined;
    if (!row) return undefined;
    const { playlistId, version, state, publishedAt, validUntil } = row;
    const summary = Object.freeze({ playlistId, version, state, publishedAt, validUntil });
    this.#playlistSummaries.set(id, summary);
    return summary;
  }

  holder(table: TableName, index: string, key: string): Row | undefined {
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
   * Iterates over the ids of all rows. Callers may add and delete rows during the iteration. A
   * playlist that changes meanwhile may appear twice.
   */
  all(table: TableName): IterableIterator<string> {
    return table === 'playlists' ? this.playlists.ids() : this.#rows[table].keys();
  }

  apply({ table, id, row }: Change): void {
    this.#forgetKeyHolders(table, id);
    this.#index[table].replace(this.row(table, id), row);
    this.load(table, id, row);
  }

  /**
   * Applies a change without updating the indexes. At start, `index` builds the indexes afterwards.
   */
  load(table: TableName, id: string, row: Row | null): void {
    if (table === 'playlists') this.#loadPlaylist(id, row);
    else if (row === null) this.#rows[table].delete(id);
    else this.#rows[table].set(id, deepFreeze(row));
  }

  /** A changed playlist becomes the last line of its document. */
  #loadPlaylist(id: string, row: Row | null): void {
    this.#parsedPlaylists.delete(id);
    this.#playlistSummaries.delete(id);
    this.playlists.delete(id);
    if (row) this.playlists.set(id, deepFreeze(row));
  }

  index(): void {
    this.#index = perTable((table) => {
      const index = new TableIndex(table);
      const rows = this.#rows[table];
      // Sorted ids are appended to the index. Inserting one among 100,000 ids would take 50 µs.
      for (const id of [...rows.keys()].sort()) index.replace(undefined, rows.get(id) as Row);
      return index;
    });
  }
}
