import { SignageError } from '../../../domain/error.ts';
import { PageRoom } from '../../../domain/page-room.ts';
import type { Playlist } from '../../../domain/records/rows.ts';
import type { PastPlaylistQuery, Slice } from '../../store.ts';
import type { RenderedDocument, WrittenDocument } from '../checkpoint/document-owner.ts';
import { textLines } from '../checkpoint/lines.ts';
import { unavailable } from '../log/group-log.ts';
import type { MakeOnDiskTable, OnDiskTable } from '../parts.ts';
import { shardNames } from './shard.ts';

const shards = 256;

/** Rows by id; `null` for a deleted row. */
type Changes = Map<string, Playlist | null>;

/** A document and the changes that it does not contain yet. */
interface Shard {
  document: WrittenDocument | undefined;
  /** Changes since the last snapshot. */
  fresh: Changes;
  /** Changes in a snapshot that is being written. */
  taken: Changes;
  /** The last journal record contained in `document`, `taken` and `fresh` together. */
  seq: number;
}

/**
 * On-disk table of past playlist versions: documents `past-00` to `past-ff`, sharded by screen, one
 * row per line, ordered by id.
 */
class PlaylistHistory implements OnDiskTable {
  readonly kind = 'past';
  readonly log = 'journal';
  readonly readsLate = true;
  readonly #shards = new Map<string, Shard>();

  apply(seq: number, id: string, row: Playlist | null): void {
    const shard = this.#shardOf(pastDocument(screenOf(id)));
    if (seq <= (shard.document?.seq ?? 0)) return;
    shard.fresh.set(id, row);
    shard.seq = seq;
  }

  async get(id: string): Promise<Playlist | undefined> {
    const rows = await this.#rowsOf(screenOf(id));
    return rows.find((row) => row.id === id);
  }

  async select(screenIds: readonly string[]): Promise<Playlist[]> {
    const rows: Playlist[] = [];
    for (const screenId of new Set(screenIds)) rows.push(...(await this.#rowsOf(screenId)));
    return rows.sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  async page({ screenId, below, limit }: PastPlaylistQuery): Promise<Slice<Playlist>> {
    const lines = await this.#linesOf(screenId);
    const versions = [...lines.keys()].map(versionOf).filter((version) => version < below);
    const items: Playlist[] = [];
    const room = new PageRoom();
    for (const version of versions.sort((one, other) => other - one)) {
      const row = rowOf(lines.get(`${screenId}/${version}`) as Line);
      if (items.length === limit || !room.take(Buffer.byteLength(row.items)))
        return { items, next: String(items.at(-1)?.version) };
      items.push(row);
    }
    return { items, next: null };
  }

  async #rowsOf(screenId: string): Promise<Playlist[]> {
    return [...(await this.#linesOf(screenId)).values()].map(rowOf);
  }

  /** Returns a screen's rows by id. Rows of the document are not parsed yet. */
  async #linesOf(screenId: string): Promise<Map<string, Line>> {
    const shard = this.#shards.get(pastDocument(screenId));
    if (!shard) return new Map();
    const { document, taken, fresh } = shard;
    const lines = new Map<string, Line>();
    const changes = [...taken, ...fresh].filter(([id]) => screenOf(id) === screenId);
    try {
      const bytes = await document?.bytes();
      for (const line of bytes ? linesFrom(bytes, `${lineOpening}${screenId}/`) : [])
        lines.set(idOf(line.toString('latin1', 0, 100)), line);
    } catch (error) {
      // The document was replaced meanwhile. Retry with the new one.
      if (shard.document !== document && (error as NodeJS.ErrnoException).code === 'ENOENT')
        return this.#linesOf(screenId);
      throw error instanceof SignageError
        ? error
        : unavailable('The disk could not be read; nothing was changed.', error);
    }
    for (const [id, row] of changes) {
      if (row) lines.set(id, row);
      else lines.delete(id);
    }
    return lines;
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
    const text = (await before?.read()) ?? '';
    const { done: isEmpty } = mergedLines(text, changes).next();
    return isEmpty ? undefined : { lines: mergedLines(text, changes), seq };
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

/** Returns the name of the document that holds a screen's past versions. */
export const pastDocument = shardNames('past', shards);

/** Returns the screen of a row's id, `<screen>/<version>`. */
export function screenOf(id: string): string {
  return id.slice(0, id.indexOf('/'));
}

const lineOpening = '{"id":"';

function lineOf(row: Playlist): string {
  const { id, ...rest } = row;
  return JSON.stringify({ id, ...rest });
}

function idOf(line: string): string {
  return line.slice(lineOpening.length, line.indexOf('"', lineOpening.length));
}

const versionOf = (id: string) => Number(id.slice(id.indexOf('/') + 1));

/** A row: its line in the document, or the changed row. */
type Line = Buffer | Playlist;

function rowOf(line: Line): Playlist {
  return Buffer.isBuffer(line) ? JSON.parse(line.toString()) : line;
}

/** Yields the lines that start with a text. */
function* linesFrom(bytes: Buffer, opening: string): Generator<Buffer> {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf('\n', start);
    const stop = end < 0 ? bytes.length : end;
    if (bytes.toString('latin1', start, start + opening.length) === opening)
      yield bytes.subarray(start, stop);
    start = stop + 1;
  }
}

/** Yields the lines of a document with changes merged in, in order. */
function* mergedLines(before: string, changes: Changes): Generator<string> {
  const ids = [...changes.keys()].sort();
  let at = 0;
  for (const line of textLines(before)) {
    const id = idOf(line);
    for (; at < ids.length && (ids[at] as string) < id; at++) yield* changed(changes, ids[at]);
    if (ids[at] === id) yield* changed(changes, ids[at++]);
    else yield line;
  }
  for (; at < ids.length; at++) yield* changed(changes, ids[at]);
}

function* changed(changes: Changes, id = ''): Generator<string> {
  const row = changes.get(id);
  if (row) yield lineOf(row);
}

export const makePlaylistHistory: MakeOnDiskTable = () => new PlaylistHistory();
