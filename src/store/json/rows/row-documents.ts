import type { StoredConfig } from '../../../domain/records/rows.ts';
import type { Rows, TableName } from '../../sections.ts';
import type {
  DocumentOwner,
  RenderedDocument,
  WrittenDocument,
} from '../checkpoint/document-owner.ts';
import { shardNames } from '../checkpoint/line-table.ts';
import { type CommittedRows, playlistDocument, rowLine, screenShards } from './committed-rows.ts';
import type { Row } from './table-index.ts';

/** Tables whose rows are in memory. Past playlists are on disk. */
export type InMemoryTable = Exclude<TableName, 'pastPlaylists'>;

const venueShards = 64;
const creationShards = 64;

const configDocument = {
  tenant: () => 'rows-tenants',
  venue: shardNames('rows-venues', venueShards),
  screen: shardNames('rows-screens', screenShards),
};

const creationDocument = shardNames('rows-creations', creationShards);

/**
 * By table: the function that returns the name of a row's document. Rows that change together share
 * a document.
 */
const documentOf: { [T in InMemoryTable]: (row: Rows[T]) => string } = {
  tenants: configDocument.tenant,
  tokens: configDocument.tenant,
  venues: (row) => configDocument.venue(row.id),
  screens: (row) => configDocument.screen(row.id),
  devices: (row) => configDocument.screen(row.screenId),
  deviceKeys: (row) => configDocument.screen(row.screenId),
  codes: (row) => configDocument.screen(row.screenId),
  playlists: (row) => playlistDocument(row.screenId),
  configs: (row: StoredConfig) => configDocument[row.level](row.ownerId),
  creations: (row) => creationDocument(row.id),
  claims: () => 'rows-claims',
};

const inMemoryTables = Object.keys(documentOf) as InMemoryTable[];

/** Row ids by table. A document has few rows, so a linear search is cheaper than a set. */
type DocumentIds = { [T in InMemoryTable]?: string[] };

/**
 * The documents of the in-memory tables: `rows-tenants`, `rows-venues-<shard>`,
 * `rows-screens-<shard>`, `rows-playlists-<shard>`, `rows-creations-<shard>`, `rows-claims`.
 */
export class RowDocuments implements DocumentOwner {
  readonly kind = 'rows';
  readonly log = 'journal';
  readonly #base: CommittedRows;
  readonly #seq: () => number;
  /** Row ids of each document. Playlist documents are in `CommittedRows.playlists` instead. */
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
  changing(table: InMemoryTable, id: string, after: Row | null): void {
    const before = this.#base.row(table, id);
    for (const row of [before, after]) if (row) this.#dirty.add(rowDocument(table, row));
    if (table === 'playlists') return;
    if (before) {
      const ids = this.#idsOf(rowDocument(table, before));
      ids[table] = ids[table]?.filter((one) => one !== id);
    }
    if (after) {
      const ids = this.#idsOf(rowDocument(table, after));
      ids[table] ??= [];
      ids[table].push(id);
    }
  }

  dirty(): string[] {
    return [...this.#dirty];
  }

  async render(name: string): Promise<RenderedDocument | undefined> {
    this.#dirty.delete(name);
    const tables = isOfPlaylists(name)
      ? [{ table: 'playlists', rows: this.#base.playlists.lines(name) }]
      : this.#tablesOf(name);
    const seq = this.#seq();
    const filled = tables.filter(({ rows }) => rows.length > 0);
    return filled.length === 0 ? undefined : { seq, lines: rowLines(seq, filled) };
  }

  #tablesOf(name: string): TableRows[] {
    const ids = this.#idsOf(name);
    return inMemoryTables.map((table) => ({
      table,
      rows: (ids[table] ?? []).map((id) => this.#base.row(table, id) as Row),
    }));
  }

  failed(name: string): void {
    this.#dirty.add(name);
  }

  async load(name: string, written: WrittenDocument): Promise<void> {
    if (isOfPlaylists(name)) {
      this.#base.playlists.load(name, await written.bytes());
      return;
    }
    const { rows } = JSON.parse(await written.text()) as {
      rows: Partial<Record<InMemoryTable, Row[]>>;
    };
    const ids = this.#idsOf(name);
    for (const table of inMemoryTables) {
      const found = rows[table];
      if (found) ids[table] = found.map(({ id }) => id);
      for (const row of found ?? []) this.#base.load(table, row.id, row);
    }
  }

  #idsOf(name: string): DocumentIds {
    const ids = this.#documents.get(name) ?? {};
    this.#documents.set(name, ids);
    return ids;
  }
}

function isOfPlaylists(name: string): boolean {
  return name.startsWith('rows-playlists-');
}

/** Returns the name of the document that holds a row. */
export function rowDocument(table: InMemoryTable, row: Row): string {
  return (documentOf[table] as (row: Row) => string)(row);
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
