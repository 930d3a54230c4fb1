import { SignageError } from '../../domain/error.ts';
import type { Playlist } from '../../domain/records.ts';
import type { RenderedDocument, WrittenDocument } from './document-owner.ts';
import { unavailable } from './group-log.ts';
import type { ColdTable, MakeColdTable } from './parts.ts';
import { shardNames } from './shard.ts';
import { textLines } from './text-lines.ts';

const shards = 256;

/** Rows by id, or `null` for one that was deleted. */
type Changes = Map<string, Playlist | null>;

/** One document, and what it does not have yet. */
interface Shard {
  document: WrittenDocument | undefined;
  /** Since the last snapshot. */
  fresh: Changes;
  /** What a snapshot took that is not yet in the document. */
  taken: Changes;
  /** The last record that `document`, `taken` and `fresh` together contain. */
  seq: number;
}

/** Past playlist versions: documents `past-00` to `past-ff` by screen, a line for each row, ordered by id. */
class ColdPlaylists implements ColdTable {
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

  async #rowsOf(screenId: string): Promise<Playlist[]> {
    const shard = this.#shards.get(pastDocument(screenId));
    if (!shard) return [];
    const { document, taken, fresh } = shard;
    const rows: Changes = new Map();
    const changes = [...taken, ...fresh].filter(([id]) => screenOf(id) === screenId);
    try {
      const text = (await document?.read()) ?? '';
      for (const line of textLines(text)) if (screenOf(idOf(line)) === screenId) rows.set(idOf(line), JSON.parse(line));
    } catch (error) {
      // Replaced meanwhile: the new document, with what it does not have, is as good.
      if (shard.document !== document && (error as NodeJS.ErrnoException).code === 'ENOENT') return this.#rowsOf(screenId);
      throw error instanceof SignageError ? error : unavailable('The disk could not be read; nothing was changed.', error);
    }
    for (const [id, row] of changes) rows.set(id, row);
    return [...rows.values()].filter((row) => row !== null);
  }

  dirty(): string[] {
    return [...this.#shards].filter(([, { fresh }]) => fresh.size > 0).map(([name]) => name);
  }

  async render(name: string, before: WrittenDocument | undefined): Promise<RenderedDocument | undefined> {
    const shard = this.#shardOf(name);
    const { fresh: changes, seq } = shard;
    [shard.taken, shard.fresh] = [changes, new Map()];
    const text = (await before?.read()) ?? '';
    const { done: isEmpty } = mergedLines(text, changes).next();
    return isEmpty ? undefined : { lines: mergedLines(text, changes), seq };
  }

  written(name: string, document: WrittenDocument | undefined): void {
    const shard = this.#shardOf(name);
    [shard.document, shard.taken] = [document, new Map()];
  }

  failed(name: string): void {
    const shard = this.#shardOf(name);
    [shard.fresh, shard.taken] = [new Map([...shard.taken, ...shard.fresh]), new Map()];
  }

  async load(name: string, document: WrittenDocument): Promise<void> {
    this.#shardOf(name).document = document;
  }

  #shardOf(name: string): Shard {
    const shard = this.#shards.get(name) ?? { document: undefined, fresh: new Map(), taken: new Map(), seq: 0 };
    this.#shards.set(name, shard);
    return shard;
  }
}

/** The document that a screen's past versions lie in. */
export const pastDocument = shardNames('past', shards);

/** The screen of a row's id, `<screen>/<version>`. */
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

/** The lines of a document with changes made, in order. */
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

export const makeColdTable: MakeColdTable = () => new ColdPlaylists();
