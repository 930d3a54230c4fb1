import { type Clock, minuteMs } from '../../../domain/clock.ts';
import {
  type ActivityKind,
  type AnyActivity,
  lastActivity,
  seenSinceAfter,
} from '../../../domain/records/activity.ts';
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
interface TouchedActivity {
  /** Name of the document that contains the activity. */
  document: string;
  activity: AnyActivity;
}

/** Gives a line the order of its members. A line omits members that were never set. */
const inOrder = Object.fromEntries(
  [...Object.keys(lastActivity.shape), 'lastUsedAt'].map((member) => [member, undefined]),
);

function formatOf(kind: ActivityKind): LineFormat<AnyActivity> {
  return {
    opening: `{"kind":"${kind}","id":"`,
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
   * Activity of the devices and tokens that made requests since the start. It saves each request
   * the look-ups in `#tables`.
   */
  readonly #touched = {
    device: new Map<string, TouchedActivity>(),
    token: new Map<string, TouchedActivity>(),
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
    const touched = this.#touched[kind].get(id) ?? this.#beginTouching(kind, id);
    const { lastSeenAt } = activity;
    if (lastSeenAt !== undefined)
      touched.activity.seenSince = seenSinceAfter(touched.activity, lastSeenAt);
    Object.assign(touched.activity, activity);
    this.#dirty.add(touched.document);
  }

  #beginTouching(kind: ActivityKind, id: string): TouchedActivity {
    const activity = { ...this.#tables[kind].get(id) };
    this.#tables[kind].set(id, activity);
    const touched = { document: activityDocument(id), activity };
    this.#touched[kind].set(id, touched);
    return touched;
  }

  marks(kind: ActivityKind, id: string): AnyActivity {
    const activity = this.#tables[kind].get(id);
    // Caches the parsed activity: a list filtered by online state reads the activity of all
    // devices.
    if (activity) this.#tables[kind].set(id, activity);
    return { ...activity };
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
    this.#touched[kind].delete(id);
    if (this.#tables[kind].delete(id)) this.#dirty.add(activityDocument(id));
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
    this.#tables.device.load(name, bytes);
    this.#tables.token.load(name, bytes);
  }
}

/** Returns the name of the document that has the activity of a device or token. */
export const activityDocument = shardNames('marks', shards);
