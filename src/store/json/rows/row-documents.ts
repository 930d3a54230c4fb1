import type { Rows, StoredConfig, TableName } from '../../../domain/records/rows.ts';
import type {
  DocumentOwner,
  RenderedDocument,
  WrittenDocument,
} from '../checkpoint/document-owner.ts';
import { ByteSlice } from './byte-slice.ts';
import type { CommittedRows } from './committed-rows.ts';
import type { LazyLines } from './lazy-lines.ts';
import { playlistDocument, playlistDocuments, screenShards } from './playlist-document.ts';
import { shardNames } from './shard.ts';
import { SharedIds } from './shared-ids.ts';
import type { Row } from './table-index.ts';

/** In-memory tables. */
export type InMemoryTable = Exclude<TableName, 'pastPlaylists'>;

const venueShards = 64;

const configDocument = {
  tenant: () => 'rows-tenants',
  venue: shardNames('rows-venues', venueShards),
  screen: shardNames('rows-screens', screenShards),
};

/** Returns the document of a row. Rows that change together share a document. */
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
  mirrorPending: (row) => configDocument.screen(row.id),
  mirrorTargets: configDocument.tenant,
};

const inMemoryTables = Object.keys(documentOf) as InMemoryTable[];

interface Document {
  /** Row ids by table. They are few, so a linear search is cheaper than a set. */
  rows: { [T in InMemoryTable]?: string[] };
  /**
   * Lines of a playlist document as loaded. Their ids are listed only when the document changes.
   */
  loaded?: LazyLines | undefined;
  /** Differs from the version on disk. Rendering a snapshot clears it. */
  dirty: boolean;
}

/**
 * The documents of the in-memory tables: `rows-tenants`, `rows-venues-<shard>`,
 * `rows-screens-<shard>`, `rows-playlists-<shard>`.
 */
export class RowDocuments implements DocumentOwner {
  readonly kind = 'rows';
  readonly log = 'journal';
  readonly #base: CommittedRows;
  readonly #seq: () => number;
  readonly #documents = new Map<string, Document>();
  readonly #ids = new SharedIds();

  /** @param seq returns the last journal record contained in `base` */
  constructor(base: CommittedRows, seq: () => number) {
    this.#base = base;
    this.#seq = seq;
  }

  /** Call before a row of the base is replaced or deleted (`null`). */
  changing(table: InMemoryTable, id: string, after: Row | null): void {
    const before = this.#base.row(table, id);
    if (before) {
      const document = this.#document(table, before);
      document.rows[table] = document.rows[table]?.filter((one) => one !== id);
      document.dirty = true;
    }
    if (after) this.#add(table, after).dirty = true;
  }

  keepsBytes(name: string): boolean {
    return name.startsWith(playlistDocuments);
  }

  dirty(): string[] {
    return [...this.#documents].filter(([, document]) => document.dirty).map(([name]) => name);
  }

  async render(name: string): Promise<RenderedDocument | undefined> {
    const document = this.#documentWithIds(name);
    if (!document) return undefined;
    document.dirty = false;
    const snapshot = inMemoryTables.flatMap((table) => {
      const ids = document.rows[table] ?? [];
      return ids.length === 0
        ? []
        : [{ table, rows: ids.map((id) => this.#base.rawRow(table, id) as Row | ByteSlice) }];
    });
    if (snapshot.length === 0) return undefined;
    const seq = this.#seq();
    return { seq, lines: rowLines(seq, snapshot) };
  }

  written(): void {}

  failed(name: string): void {
    const document = this.#documents.get(name);
    if (document) document.dirty = true;
  }

  async load(name: string, written: WrittenDocument): Promise<void> {
    const document: Document = { rows: {}, dirty: false };
    this.#documents.set(name, document);
    if (this.keepsBytes(name)) {
      document.loaded = this.#base.playlists.add(name, await written.bytes());
      return;
    }
    const { rows } = JSON.parse(await written.read()) as {
      rows: Partial<Record<InMemoryTable, Row[]>>;
    };
    this.#ids.share(rows);
    for (const table of inMemoryTables) {
      const found = rows[table];
      if (found) document.rows[table] = found.map(({ id }) => id);
      for (const row of found ?? []) this.#base.load(table, row.id, row);
    }
  }

  /** Call after the last document is loaded. */
  loaded(): void {
    this.#ids.clear();
  }

  #document(table: InMemoryTable, row: Row): Document {
    const name = rowDocument(table, row);
    let document = this.#documentWithIds(name);
    if (!document) {
      document = { rows: {}, dirty: false };
      this.#documents.set(name, document);
    }
    return document;
  }

  /** Returns a document with the ids of all its rows. */
  #documentWithIds(name: string): Document | undefined {
    const document = this.#documents.get(name);
    if (document?.loaded) document.rows.playlists = [...document.loaded.ids()];
    if (document) document.loaded = undefined;
    return document;
  }

  #add(table: InMemoryTable, row: Row): Document {
    const document = this.#document(table, row);
    document.rows[table] ??= [];
    document.rows[table].push(row.id);
    return document;
  }
}

/** Returns the name of the document that holds a row. */
export function rowDocument(table: InMemoryTable, row: Row): string {
  return (documentOf[table] as (row: Row) => string)(row);
}

/** Renders `{"seq":n,"rows":{"screens":[…],…}}`, one row per line, each starting with its id. */
export function* rowLines(
  seq: number,
  tables: readonly { table: string; rows: readonly (Row | ByteSlice)[] }[],
): Generator<string> {
  yield `{"seq":${seq},"rows":{`;
  for (const [place, { table, rows }] of tables.entries()) {
    yield `${JSON.stringify(table)}:[`;
    for (const [index, row] of rows.entries())
      yield lineOf(row) + (index < rows.length - 1 ? ',' : '');
    yield place < tables.length - 1 ? '],' : ']';
  }
  yield '}}';
}

function lineOf(row: Row | ByteSlice): string {
  if (row instanceof ByteSlice) return row.toString();
  const { id, ...rest } = row;
  return JSON.stringify({ id, ...rest });
}
