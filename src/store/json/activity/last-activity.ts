import { type Clock, minuteMs } from '../../../domain/clock.ts';
import type { RenderedDocument, WrittenDocument } from '../checkpoint/document-owner.ts';
import type { LastActivityPart, MakeLastActivityPart, PartContext } from '../parts.ts';
import type { ByteSlice } from '../rows/byte-slice.ts';
import { endOfId, HashIndex } from '../rows/hash-index.ts';
import { LazyLines } from '../rows/lazy-lines.ts';
import { shardNames } from '../rows/shard.ts';
import { ActivityEntry, type AnyActivity } from './activity-entry.ts';

const shards = 64;
/** Minimum time between writes. In a large fleet every document changes in every minute. */
const flushMs = minuteMs;

type Kind = 'device' | 'token';
const kinds = ['device', 'token'] as const satisfies readonly Kind[];

/** The entries of one document. */
interface Shard {
  entries: Record<Kind, Set<ActivityEntry<Shard>>>;
  /** Loaded lines stay text until an entry is used. */
  loaded: Record<Kind, LazyLines> | undefined;
  dirty: boolean;
}

/**
 * Last activity of devices and tokens, in memory. The documents `marks-00` to `marks-3f` are at
 * most a minute old.
 */
class LastActivityDocuments implements LastActivityPart {
  readonly kind = 'marks';
  readonly log = 'none';
  readonly #clock: Clock;
  readonly #shards = new Map<string, Shard>();
  /**
   * Parsed entries of all shards. Every request of a TV looks up two, and computing the shard of an
   * id is slow.
   */
  readonly #entries = { device: makeEntryIndex(), token: makeEntryIndex() };
  /** Time of the last `dirty` call that returned documents. */
  #flushedAt: number;
  #closed = false;

  constructor({ clock }: PartContext) {
    this.#clock = clock;
    this.#flushedAt = clock.now();
  }

  touch(kind: Kind, id: string, activity: AnyActivity): void {
    const entry = this.#find(kind, id) ?? this.#add(kind, id);
    entry.shard.dirty = true;
    entry.update(activity);
  }

  marks(kind: Kind, id: string): AnyActivity {
    return this.#find(kind, id)?.activity() ?? {};
  }

  forget(kind: Kind, id: string): void {
    const entry = this.#find(kind, id);
    if (!entry) return;
    this.#entries[kind].delete(id);
    entry.shard.entries[kind].delete(entry);
    entry.shard.dirty = true;
  }

  keepsBytes(): boolean {
    return true;
  }

  close(): void {
    this.#closed = true;
  }

  dirty(): string[] {
    const now = this.#clock.now();
    const elapsedMs = now - this.#flushedAt;
    if (!this.#closed && elapsedMs >= 0 && elapsedMs < flushMs) return [];
    this.#flushedAt = now;
    return [...this.#shards].filter(([, shard]) => shard.dirty).map(([name]) => name);
  }

  async render(name: string): Promise<RenderedDocument | undefined> {
    const shard = this.#shardOf(name);
    shard.dirty = false;
    // A fleet of 100,000 has 1,600 devices in each of 64 documents: 2 ms.
    const lines = kinds.flatMap((kind) => {
      const loaded = [...(shard.loaded?.[kind].texts() ?? [])].map(String);
      return [
        ...loaded,
        ...[...shard.entries[kind]].map((entry) =>
          JSON.stringify({ kind, id: entry.id, ...entry.activity() }),
        ),
      ];
    });
    return lines.length === 0 ? undefined : { lines, seq: 0 };
  }

  written(): void {}

  failed(name: string): void {
    this.#shardOf(name).dirty = true;
  }

  async load(name: string, document: WrittenDocument): Promise<void> {
    const bytes = await document.bytes();
    const linesOf = (kind: Kind) => new LazyLines(bytes, `{"kind":"${kind}","id":"`);
    this.#shardOf(name).loaded = { device: linesOf('device'), token: linesOf('token') };
  }

  #find(kind: Kind, id: string): ActivityEntry<Shard> | undefined {
    const known = this.#entries[kind].get(id);
    if (known !== undefined) return known;
    const loaded = this.#shards.get(activityDocument(id))?.loaded?.[kind];
    const line = loaded?.find(id);
    if (!loaded || !line) return undefined;
    const entry = this.#add(kind, id);
    entry.update(activityOf(line));
    loaded.delete(id);
    return entry;
  }

  #add(kind: Kind, id: string): ActivityEntry<Shard> {
    const shard = this.#shardOf(activityDocument(id));
    const entry = new ActivityEntry(id, shard);
    shard.entries[kind].add(entry);
    this.#entries[kind].set(id, entry);
    return entry;
  }

  #shardOf(name: string): Shard {
    const known = this.#shards.get(name);
    if (known) return known;
    const made: Shard = {
      entries: { device: new Set(), token: new Set() },
      loaded: undefined,
      dirty: false,
    };
    this.#shards.set(name, made);
    return made;
  }
}

const makeEntryIndex = () =>
  new HashIndex<ActivityEntry<Shard>>((entry, id) => entry.id === id, endOfId);

/** Returns the name of the document that has the activity of a device or token. */
export const activityDocument = shardNames('marks', shards);

/** Parses a line. */
function activityOf(line: ByteSlice): AnyActivity {
  const {
    kind: _kind,
    id: _id,
    ...activity
  } = JSON.parse(line.toString()) as { kind: Kind; id: string } & AnyActivity;
  return activity;
}

export const makeLastActivityPart: MakeLastActivityPart = (context) =>
  new LastActivityDocuments(context);
