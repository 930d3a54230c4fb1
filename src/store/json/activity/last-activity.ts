import { type Clock, minuteMs } from '../../../domain/clock.ts';
import type { RenderedDocument, WrittenDocument } from '../checkpoint/document-owner.ts';
import type { LastActivityPart, MakeLastActivityPart, PartContext } from '../parts.ts';
import type { ByteSlice } from '../rows/byte-slice.ts';
import { endOfId, HashIndex } from '../rows/hash-index.ts';
import { LazyLines } from '../rows/lazy-lines.ts';
import { shardNames } from '../rows/shard.ts';
import { ActivityEntry, type AnyActivity } from './activity-entry.ts';

const shards = 64;
/** Documents are written at most this often: a fleet changes all of them in every minute. */
const flushMs = minuteMs;

type Kind = 'device' | 'token';
const kinds = ['device', 'token'] as const satisfies readonly Kind[];

/** One document's part. */
interface Shard {
  noted: Record<Kind, Set<ActivityEntry<Shard>>>;
  /** What was loaded stays text until somebody asks. */
  loaded: Record<Kind, LazyLines> | undefined;
  dirty: boolean;
}

/** The latest doings of devices and tokens, in memory; documents `marks-00` to `marks-3f` have them as of a minute ago. */
class MarkDocuments implements LastActivityPart {
  readonly kind = 'marks';
  readonly log = 'none';
  readonly #clock: Clock;
  readonly #shards = new Map<string, Shard>();
  /** All that is in the shards and is no text any more: every request of a TV asks twice, and to tell its shard takes longer than all else. */
  readonly #noted = { device: notedById(), token: notedById() };
  /** When documents were asked for last: those named then are written. */
  #flushedAt: number;
  #closed = false;

  constructor({ clock }: PartContext) {
    this.#clock = clock;
    this.#flushedAt = clock.now();
  }

  touch(kind: Kind, id: string, marks: AnyActivity): void {
    const noted = this.#find(kind, id) ?? this.#add(kind, id);
    noted.shard.dirty = true;
    noted.note(marks);
  }

  marks(kind: Kind, id: string): AnyActivity {
    return this.#find(kind, id)?.marks() ?? {};
  }

  forget(kind: Kind, id: string): void {
    const noted = this.#find(kind, id);
    if (!noted) return;
    this.#noted[kind].delete(id);
    noted.shard.noted[kind].delete(noted);
    noted.shard.dirty = true;
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
    // One of 64 documents has 1,600 devices of a fleet of 100,000: 2 ms.
    const lines = kinds.flatMap((kind) => {
      const loaded = [...(shard.loaded?.[kind].texts() ?? [])].map(String);
      return [
        ...loaded,
        ...[...shard.noted[kind]].map((noted) =>
          JSON.stringify({ kind, id: noted.id, ...noted.marks() }),
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
    const known = this.#noted[kind].get(id);
    if (known !== undefined) return known;
    const loaded = this.#shards.get(marksDocument(id))?.loaded?.[kind];
    const line = loaded?.find(id);
    if (!loaded || !line) return undefined;
    const noted = this.#add(kind, id);
    noted.note(marksOf(line));
    loaded.delete(id);
    return noted;
  }

  #add(kind: Kind, id: string): ActivityEntry<Shard> {
    const shard = this.#shardOf(marksDocument(id));
    const noted = new ActivityEntry(id, shard);
    shard.noted[kind].add(noted);
    this.#noted[kind].set(id, noted);
    return noted;
  }

  #shardOf(name: string): Shard {
    const known = this.#shards.get(name);
    if (known) return known;
    const made: Shard = {
      noted: { device: new Set(), token: new Set() },
      loaded: undefined,
      dirty: false,
    };
    this.#shards.set(name, made);
    return made;
  }
}

const notedById = () =>
  new HashIndex<ActivityEntry<Shard>>((noted, id) => noted.id === id, endOfId);

/** The document that a device's or token's marks lie in. */
export const marksDocument = shardNames('marks', shards);

/** What a line says. */
function marksOf(line: ByteSlice): AnyActivity {
  const {
    kind: _kind,
    id: _id,
    ...marks
  } = JSON.parse(line.toString()) as { kind: Kind; id: string } & AnyActivity;
  return marks;
}

export const makeLastActivityPart: MakeLastActivityPart = (context) => new MarkDocuments(context);
