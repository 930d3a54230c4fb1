import pLimit from 'p-limit';
import { SignageError } from '../../../domain/error.ts';
import { type Rows, sectionOf, type TableName } from '../../sections.ts';
import { unavailable } from '../../unavailable.ts';
import { linesIn } from '../checkpoint/document-file.ts';
import type {
  DocumentOwner,
  RenderedDocument,
  WrittenDocument,
} from '../checkpoint/document-owner.ts';
import { LoadedLines } from '../checkpoint/loaded-lines.ts';
import { rowLine, rowOfLine, rowOpening } from './committed-rows.ts';
import type { TableRow } from './table-index.ts';

/** Maximum number of documents that are read at a time. A fleet's documents take megabytes each. */
const maxReads = 4;

/** Rows by id; `null` for a deleted row. */
type Changes = Map<string, TableRow | null>;

/** A document and the changes that it does not contain yet. */
interface Shard {
  table: TableName;
  document: WrittenDocument | undefined;
  /** Changes since the last snapshot. */
  fresh: Changes;
  /** Changes in a snapshot that is being written. */
  taken: Changes;
  /** Number of the last journal record applied since the start. 0 if there was none. */
  seq: number;
}

/**
 * The tables that are held on disk: documents `disk-<table>-…`, one row per line, ordered by id.
 * Rows are read from the documents on demand. Changes that no document contains yet are in memory.
 */
export class DiskRows implements DocumentOwner {
  readonly kind = 'disk';
  readonly log = 'journal';
  readonly readsLate = true;
  readonly #shards = new Map<string, Shard>();
  readonly #loading = new Map<WrittenDocument, Promise<LoadedLines>>();
  readonly #limit = pLimit(maxReads);

  /**
   * Applies a change of journal record `seq`, which has become durable or is replayed after `load`.
   * Skips changes that the document already contains. A replay may include such changes.
   */
  apply(seq: number, table: TableName, id: string, row: TableRow | null): void {
    const shard = this.#shardOf(documentOf(table, id));
    if (seq <= (shard.document?.seq ?? 0)) return;
    shard.fresh.set(id, row);
    shard.seq = seq;
  }

  async get<T extends TableName>(table: T, id: string): Promise<Rows[T] | undefined> {
    const [row] = await this.#rowsOf(table, id, (one) => one === id);
    return row;
  }

  /** Returns all rows whose ids are `<one of these>/…`, ordered by id as text. */
  async select<T extends TableName>(table: T, values: readonly string[]): Promise<Rows[T][]> {
    const rows: Rows[T][] = [];
    const byDocument = new Map<string, Set<string>>();
    for (const value of values) {
      const document = documentOf(table, `${value}/`);
      byDocument.set(document, (byDocument.get(document) ?? new Set()).add(value));
    }
    for (const wanted of byDocument.values()) {
      const [first = ''] = wanted;
      const isOf = (id: string) => wanted.has(id.slice(0, id.indexOf('/')));
      for (const row of await this.#rowsOf(table, `${first}/`, isOf)) rows.push(row);
    }
    return rows.sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  /** Returns the rows of the document of `id` whose ids match. */
  async #rowsOf<T extends TableName>(
    table: T,
    id: string,
    matches: (id: string) => boolean,
  ): Promise<Rows[T][]> {
    const shard = this.#shards.get(documentOf(table, id));
    if (!shard) return [];
    return readShard(shard, async ({ document, taken, fresh }) => {
      const rows = new Map<string, TableRow>();
      const changes = [...taken, ...fresh].filter(([one]) => matches(one));
      const loaded = await this.#load(table, document);
      for (const one of loaded.ids())
        if (matches(one)) rows.set(one, rowOfLine(loaded.get(one) as string));
      for (const [one, row] of changes) {
        if (row) rows.set(one, row);
        else rows.delete(one);
      }
      return [...rows.values()] as unknown as Rows[T][];
    });
  }

  /** Reads a document. Calls that arrive meanwhile share the read. */
  #load(table: TableName, document: WrittenDocument | undefined): Promise<LoadedLines> {
    if (!document) return loadedLines(table, document);
    const inFlight = this.#loading.get(document);
    if (inFlight) return inFlight;
    const loading = this.#limit(() => loadedLines(table, document)).finally(() =>
      this.#loading.delete(document),
    );
    this.#loading.set(document, loading);
    return loading;
  }

  /** Yields a value of each row, for the rows of each document. Some rows may be deleted. */
  async *values<T extends TableName, V>(
    table: T,
    pick: (row: Rows[T]) => V,
  ): AsyncGenerator<Set<V>> {
    const ofRow = (row: TableRow) => pick(row as unknown as Rows[T]);
    for (const shard of this.#shardsOf(table))
      yield await readShard(shard, async ({ document, taken, fresh }) => {
        const values = new Set<V>();
        for (const row of [...taken.values(), ...fresh.values()]) if (row) values.add(ofRow(row));
        for await (const line of document ? linesIn(document) : [])
          values.add(ofRow(rowOfLine(line)));
        return values;
      });
  }

  /**
   * Returns all rows of a table as they are now, to be read later, sorted by id. The documents must
   * not be deleted until then.
   */
  snapshot(table: TableName): () => AsyncGenerator<TableRow> {
    const taken = this.#shardsOf(table).map(({ document, taken, fresh }) => ({
      document,
      changes: new Map([...taken, ...fresh]),
    }));
    return () => mergedShards(taken.map(({ document, changes }) => shardRows(document, changes)));
  }

  dirty(): string[] {
    return [...this.#shards].filter(([, { fresh }]) => fresh.size > 0).map(([name]) => name);
  }

  async render(
    name: string,
    before: WrittenDocument | undefined,
  ): Promise<RenderedDocument | undefined> {
    const shard = this.#shardOf(name);
    const { table, fresh: changes, seq } = shard;
    shard.taken = changes;
    shard.fresh = new Map();
    const loaded = await loadedLines(table, before);
    const ids = [...new Set([...loaded.ids(), ...changes.keys()])]
      .filter((id) => changes.get(id) !== null)
      .sort();
    return ids.length === 0 ? undefined : { lines: mergedLines(table, ids, loaded, changes), seq };
  }

  written(name: string, document: WrittenDocument | undefined): void {
    const shard = this.#shardOf(name);
    shard.document = document;
    shard.taken = new Map();
  }

  failed(name: string): void {
    const shard = this.#shardOf(name);
    shard.fresh = new Map([...shard.taken, ...shard.fresh]);
    shard.taken = new Map();
  }

  async load(name: string, document: WrittenDocument): Promise<void> {
    this.#shardOf(name).document = document;
  }

  #shardsOf(table: TableName): Shard[] {
    return [...this.#shards.values()].filter((shard) => shard.table === table);
  }

  /** @param name of a document: `disk-<table>-<number>` */
  #shardOf(name: string): Shard {
    const shard = this.#shards.get(name) ?? {
      table: name.split('-')[1] as TableName,
      document: undefined,
      fresh: new Map(),
      taken: new Map(),
      seq: 0,
    };
    this.#shards.set(name, shard);
    return shard;
  }
}

/** Reads a document and its changes. */
async function readShard<T>(shard: Shard, read: (shard: Shard) => Promise<T>): Promise<T> {
  const { document } = shard;
  try {
    return await read(shard);
  } catch (error) {
    // The document was replaced meanwhile. Retry with the new one.
    if (shard.document !== document && (error as NodeJS.ErrnoException).code === 'ENOENT')
      return readShard(shard, read);
    throw error instanceof SignageError
      ? error
      : unavailable('The disk could not be read; nothing was changed.', error);
  }
}

function documentOf(table: TableName, id: string): string {
  return sectionOf(table).document({ id });
}

async function loadedLines(
  table: TableName,
  document: WrittenDocument | undefined,
): Promise<LoadedLines> {
  return new LoadedLines((await document?.bytes()) ?? Buffer.alloc(0), rowOpening(table));
}

/** Yields the rows of a document with changes made, sorted by id. */
async function* shardRows(
  document: WrittenDocument | undefined,
  changes: Changes,
): AsyncGenerator<TableRow> {
  const ids = [...changes.keys()].sort();
  let next = 0;
  for await (const line of document ? linesIn(document) : []) {
    const row = rowOfLine(line);
    for (; (ids[next] ?? '~') < row.id; next++) {
      const changed = changes.get(ids[next] as string);
      if (changed) yield changed;
    }
    if (!changes.has(row.id)) yield row;
  }
  for (; next < ids.length; next++) {
    const changed = changes.get(ids[next] as string);
    if (changed) yield changed;
  }
}

/** Merges rows that are sorted by id. */
async function* mergedShards(shards: AsyncGenerator<TableRow>[]): AsyncGenerator<TableRow> {
  const heads: { rows: AsyncGenerator<TableRow>; row: TableRow }[] = [];
  try {
    for (const rows of shards) {
      const { value } = await rows.next();
      if (value) heads.push({ rows, row: value });
    }
    while (heads.length > 0) {
      const least = heads.reduce((one, other) => (other.row.id < one.row.id ? other : one));
      yield least.row;
      const { value } = await least.rows.next();
      if (value) least.row = value;
      else heads.splice(heads.indexOf(least), 1);
    }
  } finally {
    // Closes the files.
    for (const rows of shards) await rows.return(undefined);
  }
}

function* mergedLines(
  table: TableName,
  ids: readonly string[],
  loaded: LoadedLines,
  changes: Changes,
): Generator<string> {
  for (const id of ids) {
    const row = changes.get(id);
    yield row ? rowLine(table, row) : (loaded.get(id) as string);
  }
}
