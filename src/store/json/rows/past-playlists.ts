import pLimit from 'p-limit';
import { SignageError } from '../../../domain/error.ts';
import type { Playlist } from '../../../domain/records/rows.ts';
import type { PastPlaylistQuery, Slice } from '../../queries.ts';
import { sections } from '../../sections.ts';
import { linesIn } from '../checkpoint/document-file.ts';
import type {
  DocumentOwner,
  RenderedDocument,
  WrittenDocument,
} from '../checkpoint/document-owner.ts';
import { LoadedLines } from '../checkpoint/loaded-lines.ts';
import { unavailable } from '../log/group-log.ts';
import { rowLine, rowOfLine, rowOpening } from './committed-rows.ts';

/** Maximum number of documents that are read at a time. A fleet's documents take megabytes each. */
const maxReads = 4;

/** Rows by id; `null` for a deleted row. */
type Changes = Map<string, Playlist | null>;

/** A document and the changes that it does not contain yet. */
interface Shard {
  document: WrittenDocument | undefined;
  /** Changes since the last snapshot. */
  fresh: Changes;
  /** Changes in a snapshot that is being written. */
  taken: Changes;
  /** Number of the last journal record applied since the start. 0 if there was none. */
  seq: number;
}

/**
 * On-disk table of past playlist versions: documents `past-00` to `past-ff`, sharded by screen, one
 * row per line, ordered by id. Rows are read from the documents on demand. Changes that no document
 * contains yet are in memory.
 */
export class PastPlaylists implements DocumentOwner {
  readonly kind = 'past';
  readonly log = 'journal';
  readonly readsLate = true;
  readonly #shards = new Map<string, Shard>();
  readonly #loading = new Map<WrittenDocument, Promise<LoadedLines>>();
  readonly #limit = pLimit(maxReads);

  /**
   * Applies a change of journal record `seq`, which has become durable or is replayed after `load`.
   * Skips changes that the document already contains. A replay may include such changes.
   */
  apply(seq: number, id: string, row: Playlist | null): void {
    const shard = this.#shardOf(documentOf(id));
    if (seq <= (shard.document?.seq ?? 0)) return;
    shard.fresh.set(id, row);
    shard.seq = seq;
  }

  async get(id: string): Promise<Playlist | undefined> {
    const rows = await this.#rowsOf(screenOf(id));
    return rows.find((row) => row.id === id);
  }

  /** Returns all rows of the given screens, ordered by id as text. */
  async select(screenIds: readonly string[]): Promise<Playlist[]> {
    const rows: Playlist[] = [];
    for (const screenId of new Set(screenIds))
      for (const one of await this.#rowsOf(screenId)) rows.push(one);
    return rows.sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  /** Returns one page. */
  async page({ screenId, below, limit }: PastPlaylistQuery): Promise<Slice<Playlist>> {
    const lines = await this.#linesOf(screenId);
    const versions = [...lines.keys()].map(versionOf).filter((version) => version < below);
    const page = versions.sort((one, other) => other - one).slice(0, limit);
    const items = page.map((version) => rowOf(lines.get(`${screenId}/${version}`) as Line));
    return { items, next: page.length < versions.length ? String(page.at(-1)) : null };
  }

  async #rowsOf(screenId: string): Promise<Playlist[]> {
    return [...(await this.#linesOf(screenId)).values()].map(rowOf);
  }

  /** Returns a screen's rows by id. Rows of the document are not parsed yet. */
  async #linesOf(screenId: string): Promise<Map<string, Line>> {
    const shard = this.#shards.get(documentOf(`${screenId}/`));
    if (!shard) return new Map();
    return readShard(shard, async ({ document, taken, fresh }) => {
      const lines = new Map<string, Line>();
      const changes = [...taken, ...fresh].filter(([id]) => screenOf(id) === screenId);
      const loaded = await this.#load(document);
      for (const id of loaded.ids())
        if (screenOf(id) === screenId) lines.set(id, loaded.get(id) as string);
      for (const [id, row] of changes) {
        if (row) lines.set(id, row);
        else lines.delete(id);
      }
      return lines;
    });
  }

  /** Reads a document. Calls that arrive meanwhile share the read. */
  #load(document: WrittenDocument | undefined): Promise<LoadedLines> {
    if (!document) return loadedLines(document);
    const inFlight = this.#loading.get(document);
    if (inFlight) return inFlight;
    const loading = this.#limit(() => loadedLines(document)).finally(() =>
      this.#loading.delete(document),
    );
    this.#loading.set(document, loading);
    return loading;
  }

  /** Yields the ids of the contents that the rows of each document name. Some may be deleted. */
  async *contentIds(): AsyncGenerator<ReadonlySet<string>> {
    for (const shard of [...this.#shards.values()])
      yield await readShard(shard, async ({ document, taken, fresh }) => {
        const named = new Set<string>();
        for (const row of [...taken.values(), ...fresh.values()]) if (row) named.add(row.contentId);
        for await (const line of document ? linesIn(document) : [])
          named.add(rowOf(line).contentId);
        return named;
      });
  }

  /**
   * Returns all rows as they are now, to be read later, sorted by id. The documents must not be
   * deleted until then.
   */
  snapshot(): () => AsyncGenerator<Playlist> {
    const taken = Array.from(this.#shards.values(), ({ document, taken, fresh }) => ({
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
    const { fresh: changes, seq } = shard;
    shard.taken = changes;
    shard.fresh = new Map();
    const loaded = await loadedLines(before);
    const ids = [...new Set([...loaded.ids(), ...changes.keys()])]
      .filter((id) => changes.get(id) !== null)
      .sort();
    return ids.length === 0 ? undefined : { lines: mergedLines(ids, loaded, changes), seq };
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

  #shardOf(name: string): Shard {
    const shard = this.#shards.get(name) ?? {
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

const documentOf = (id: string) => sections.pastPlaylists.document({ id } as Playlist);

/** Returns the screen id that a row's id, `<screen>/<version>`, contains. */
function screenOf(id: string): string {
  return id.slice(0, id.indexOf('/'));
}

const versionOf = (id: string) => Number(id.slice(id.indexOf('/') + 1));

/** A row: its line in the document, or the changed row. */
type Line = string | Playlist;

function rowOf(line: Line): Playlist {
  return typeof line === 'string' ? (rowOfLine(line) as unknown as Playlist) : line;
}

async function loadedLines(document: WrittenDocument | undefined): Promise<LoadedLines> {
  return new LoadedLines((await document?.bytes()) ?? Buffer.alloc(0), rowOpening('pastPlaylists'));
}

/** Yields the rows of a document with changes made, sorted by id. */
async function* shardRows(
  document: WrittenDocument | undefined,
  changes: Changes,
): AsyncGenerator<Playlist> {
  const ids = [...changes.keys()].sort();
  let next = 0;
  for await (const line of document ? linesIn(document) : []) {
    const row = rowOf(line);
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
async function* mergedShards(shards: AsyncGenerator<Playlist>[]): AsyncGenerator<Playlist> {
  const heads: { rows: AsyncGenerator<Playlist>; row: Playlist }[] = [];
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
  ids: readonly string[],
  loaded: LoadedLines,
  changes: Changes,
): Generator<string> {
  for (const id of ids) {
    const row = changes.get(id);
    yield row ? rowLine('pastPlaylists', row) : (loaded.get(id) as string);
  }
}
