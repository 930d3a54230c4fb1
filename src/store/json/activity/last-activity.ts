import { type Clock, minuteMs } from '../../../domain/clock.ts';
import {
  type ActivityKind,
  type AnyActivity,
  lastActivity,
  seenSinceAfter,
} from '../../../domain/records/activity.ts';
import { checksumLength } from '../checkpoint/document-line.ts';
import type {
  DocumentOwner,
  RenderedDocument,
  WrittenDocument,
} from '../checkpoint/document-owner.ts';
import { type LineFormat, LineTable, shardNames } from '../checkpoint/line-table.ts';

const shards = 64;
/**
 * Minimum time between two writes of the documents, in milliseconds. It is not shorter, because in
 * a large fleet every document changes each minute.
 */
const flushMs = minuteMs;

/** An activity in a table. It is updated in place. */
interface HeldActivity {
  /** Name of the document that contains the activity. */
  document: string;
  activity: AnyActivity;
}

/** Gives a line the order of its members. A line omits members that were never set. */
const inOrder = Object.fromEntries(
  [...Object.keys(lastActivity.shape), 'lastUsedAt'].map((member) => [member, undefined]),
);

const openingOf = (kind: ActivityKind) => `{"kind":"${kind}","id":"`;

function formatOf(kind: ActivityKind): LineFormat<AnyActivity> {
  return {
    opening: openingOf(kind),
    parse(line) {
      const { kind: _kind, id: _id, ...activity } = JSON.parse(line);
      return activity;
    },
    render: (id, activity) => JSON.stringify({ kind, id, ...inOrder, ...activity }),
  };
}

/**
 * Last activity of devices and tokens, in memory. Checkpoints write the changed documents of
 * `marks-00` to `marks-3f`, at most once a minute. After `close`, the next checkpoint writes all
 * changed documents.
 */
export class LastActivityTable implements DocumentOwner {
  readonly kind = 'marks';
  readonly log = 'none';
  readonly #clock: Clock;
  readonly #tables = {
    device: new LineTable(activityDocument, formatOf('device')),
    token: new LineTable(activityDocument, formatOf('token')),
  };
  /**
   * Activity of the devices and tokens that made requests or were read since the start. It saves
   * the look-ups in `#tables`.
   */
  readonly #activities = {
    device: new Map<string, HeldActivity>(),
    token: new Map<string, HeldActivity>(),
  };
  readonly #dirty = new Set<string>();
  /**
   * Time of the last `dirty` call that returned all changed documents. Initially the time of the
   * start.
   */
  #flushedAt: number;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#flushedAt = clock.now();
  }

  touch(kind: ActivityKind, id: string, activity: AnyActivity): void {
    const held = this.#held(kind, id) ?? this.#hold(kind, id, {});
    const { lastSeenAt } = activity;
    if (lastSeenAt !== undefined)
      held.activity.seenSince = seenSinceAfter(held.activity, lastSeenAt);
    Object.assign(held.activity, activity);
    this.#dirty.add(held.document);
  }

  /** Returns a copy. */
  marks(kind: ActivityKind, id: string): AnyActivity {
    return { ...this.#held(kind, id)?.activity };
  }

  /**
   * Returns the lines of all devices and tokens that exist now, to be read later, sorted by id.
   * Activity may be later than now.
   */
  snapshot(kind: ActivityKind): () => AsyncGenerator<string> {
    return this.#tables[kind].snapshot();
  }

  /** Deletes the activity of a deleted device or token. */
  forget(kind: ActivityKind, id: string): void {
    this.#activities[kind].delete(id);
    if (this.#tables[kind].delete(id)) this.#dirty.add(activityDocument(id));
  }

  #held(kind: ActivityKind, id: string): HeldActivity | undefined {
    const held = this.#activities[kind].get(id);
    if (held) return held;
    const activity = this.#tables[kind].get(id);
    return activity && this.#hold(kind, id, activity);
  }

  #hold(kind: ActivityKind, id: string, activity: AnyActivity): HeldActivity {
    const held = { document: activityDocument(id), activity };
    this.#tables[kind].set(id, activity);
    this.#activities[kind].set(id, held);
    return held;
  }

  close(): void {
    this.#closed = true;
  }

  dirty(): string[] {
    const now = this.#clock.now();
    const elapsedMs = now - this.#flushedAt;
    if (!this.#closed && elapsedMs >= 0 && elapsedMs < flushMs) return [];
    this.#flushedAt = now;
    return [...this.#dirty];
  }

  async render(name: string): Promise<RenderedDocument | undefined> {
    this.#dirty.delete(name);
    // Not rendered in slices: with 100,000 devices, each of the 64 documents has 1,600 lines, which
    // take up to 10 ms.
    const lines = [...this.#tables.device.lines(name), ...this.#tables.token.lines(name)];
    return lines.length === 0 ? undefined : { lines, seq: 0 };
  }

  failed(name: string): void {
    this.#dirty.add(name);
  }

  async load(name: string, document: WrittenDocument): Promise<void> {
    const bytes = await document.bytes();
    const tokensAt = bytes.indexOf(openingOf('token'));
    this.#tables.device.load(name, bytes);
    // The lines of tokens are the last ones. In the same buffer, they would keep those of devices.
    if (tokensAt >= 0)
      this.#tables.token.load(name, Buffer.from(bytes.subarray(tokensAt - checksumLength)));
  }
}

/** Returns the name of the document that has the activity of a device or token. */
export const activityDocument = shardNames('marks', shards);
