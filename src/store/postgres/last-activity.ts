import pLimit from 'p-limit';
import { hasBegun } from '../../domain/clock.ts';
import type { DeviceSequence } from '../../domain/events/sequence.ts';
import {
  type ActivityKind,
  type AnyActivity,
  type DeviceActivity,
  isPause,
  seenSinceAfter,
  type TokenActivity,
} from '../../domain/records/activity.ts';
import type { Database } from './connection/database.ts';
import { Batcher } from './rows/batcher.ts';
import { lookUpLimits } from './rows/versioned-rows.ts';

type ShownActivity = DeviceActivity & TokenActivity;

/** Number of rows written in one transaction. */
const rowsPerTransaction = 500;

type ActivityByName = Map<string, AnyActivity>;

interface StoredActivity {
  kind: ActivityKind;
  id: string;
  marks: string;
}

/** `null`: the device has sent no sequence numbers, or the kind is `token`. */
type StoredSequence =
  | { last: number; missing: number; conflicts: number }
  | { last: null; missing: null; conflicts: null };

type ReadActivity = Omit<StoredActivity, 'marks'> & { marks: string | null } & StoredSequence;

const nameOf = (kind: ActivityKind, id: string) => `${kind}/${id}`;

function keyOf(name: string): { kind: string; id: string } {
  const [kind = '', id = ''] = name.split('/');
  return { kind, id };
}

/**
 * The latest activity of devices and tokens: a write-behind cache. `touch` updates memory; `flush`
 * writes to the database and merges with the activity that other instances have stored.
 */
export class LastActivityTable {
  readonly #database: Database;
  readonly #now: () => number;
  #pending: ActivityByName = new Map();
  /** Activity that is being written. The database may not return it yet. */
  #inFlight: ActivityByName = new Map();
  readonly #flushLimit = pLimit(1);
  /** The flush that waits for the current flush to end, if any. Further callers share it. */
  #nextFlush: Promise<void> | undefined;
  readonly #stored = new Batcher(lookUpLimits, (names: readonly string[]) =>
    this.#readStored(names),
  );

  /** @param now returns the decision time */
  constructor(database: Database, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  touch(kind: ActivityKind, id: string, activity: AnyActivity): void {
    const name = nameOf(kind, id);
    this.#pending.set(name, laterActivity(this.#pending.get(name) ?? {}, activity));
  }

  async marks(kind: ActivityKind, id: string): Promise<ShownActivity> {
    const own = [this.#inFlight, this.#pending].map(
      (activities) => activities.get(nameOf(kind, id)) ?? {},
    );
    const stored = await this.#stored.add(nameOf(kind, id));
    const nowMs = this.#now();
    const activity = own.reduce(
      (known, more) => mergeActivity(known, more, nowMs),
      JSON.parse(stored?.marks ?? '{}') as AnyActivity,
    );
    return { ...activity, ...sequenceOf(stored) };
  }

  async #readStored(names: readonly string[]): Promise<(ReadActivity | undefined)[]> {
    const stored = await this.#database.query<ReadActivity>(selectShown, [
      JSON.stringify([...new Set(names)].map(keyOf)),
    ]);
    const byName = new Map(stored.map((row) => [nameOf(row.kind, row.id), row]));
    return names.map((name) => byName.get(name));
  }

  /** Writes the activity recorded before the call. */
  flush(): Promise<void> {
    this.#nextFlush ??= this.#flushLimit(() => {
      this.#nextFlush = undefined;
      return this.#flush();
    });
    return this.#nextFlush;
  }

  async #flush(): Promise<void> {
    this.#inFlight = this.#pending;
    this.#pending = new Map();
    try {
      // A fixed order avoids deadlocks between instances.
      const names = [...this.#inFlight.keys()].sort();
      while (names.length > 0) await this.#write(names.splice(0, rowsPerTransaction));
    } finally {
      // Puts unwritten activity back into `#pending`. Newer activity takes precedence.
      for (const [name, activity] of this.#inFlight)
        this.#pending.set(name, laterActivity(activity, this.#pending.get(name) ?? {}));
      this.#inFlight = new Map();
    }
  }

  async #write(names: readonly string[]): Promise<void> {
    const rows = names.map((name) => ({
      ...keyOf(name),
      own: this.#inFlight.get(name) as AnyActivity,
    }));
    const keys = JSON.stringify(rows.map(({ kind, id }) => ({ kind, id })));
    await this.#database.transaction('BEGIN', async (query) => {
      await query(insertMissing, [keys]);
      const known = await query<StoredActivity>(selectForUpdate, [keys]);
      const before = new Map(known.map(({ kind, id, marks }) => [nameOf(kind, id), marks]));
      const nowMs = this.#now();
      const merged = rows.map(({ kind, id, own }) => {
        const activity = mergeActivity(
          JSON.parse(before.get(`${kind}/${id}`) as string) as AnyActivity,
          own,
          nowMs,
        );
        return {
          kind,
          id,
          marks: JSON.stringify(activity),
          last_seen_at: activity.lastSeenAt ?? null,
        };
      });
      await query(updateActivity, [JSON.stringify(merged)]);
    });
    for (const name of names) this.#inFlight.delete(name);
  }
}

function sequenceOf(stored: StoredSequence | undefined): Partial<DeviceSequence> {
  if (!stored || stored.last === null) return {};
  const { last, missing, conflicts } = stored;
  return { lastSeq: last, missingEvents: missing, conflictingEvents: conflicts };
}

/** Computes the same result as `summaryOf` in domain/events/sequence.ts. */
const selectShown = `SELECT k.kind, k.id, m.marks, s.conflicts,
    coalesce(upper(s.received) - 1, s.floor) AS last,
    s.missing + coalesce(upper(s.received) - 1, s.floor) - s.floor - signage.size_of(s.received) AS missing
  FROM json_to_recordset($1::text::json) AS k (kind text, id text)
  LEFT JOIN signage.marks m USING (kind, id)
  LEFT JOIN signage.sequences s ON k.kind = 'device' AND s.device_id = k.id`;
const insertMissing = `INSERT INTO signage.marks (kind, id, marks)
  SELECT kind, id, '{}' FROM json_to_recordset($1::text::json) AS k (kind text, id text) ON CONFLICT DO NOTHING`;
const selectActivity = `SELECT m.kind, m.id, m.marks FROM signage.marks m
  JOIN json_to_recordset($1::text::json) AS k (kind text, id text) USING (kind, id)`;
const selectForUpdate = `${selectActivity} ORDER BY m.kind, m.id FOR UPDATE OF m`;
const updateActivity = `UPDATE signage.marks m SET marks = n.marks, last_seen_at = n.last_seen_at
  FROM json_to_recordset($1::text::json) AS n (kind text, id text, marks text, last_seen_at bigint)
  WHERE m.kind = n.kind AND m.id = n.id`;

/** The timestamp that dates each member. Members not listed are timestamps themselves. */
const timeOf: Readonly<Record<string, keyof AnyActivity>> = {
  lastAddress: 'lastSeenAt',
  lastPlaylistVersion: 'lastPlaylistAt',
  lastPlaylistStatus: 'lastPlaylistAt',
  seenSince: 'lastSeenAt',
  lastPlayId: 'lastPlayAt',
  isPlayTimeGuessed: 'lastPlayAt',
  playsSince: 'lastPlayAt',
  longestPlayGapMs: 'playGapAt',
  playErrors: 'lastEventAt',
  stoppedAt: 'lastEventAt',
  clockOffsetMs: 'lastEventAt',
  mutedSince: 'lastEventAt',
  shown: 'lastEventAt',
  hidden: 'lastEventAt',
  report: 'lastEventAt',
};

/**
 * Merges the activity of one device or token from two instances: the latest value of each member
 * wins. For equal times, and over a time that a fast clock made, `more` wins.
 */
function mergeActivity(known: AnyActivity, more: AnyActivity, nowMs: number): AnyActivity {
  const { lastSeenAt } = more;
  const merged: Record<string, unknown> = {
    ...known,
    ...(lastSeenAt !== undefined && { seenSince: seenSinceAfter(known, lastSeenAt) }),
  };
  for (const [name, value] of Object.entries(more) as [keyof AnyActivity, unknown][]) {
    const time = timeOf[name] ?? name;
    const knownMs = Number(known[time] ?? 0);
    const isOlder = Number(more[time] ?? 0) < knownMs && hasBegun(nowMs, knownMs);
    if (!isOlder || known[name] === undefined) merged[name] = value;
  }
  return merged as AnyActivity;
}

/**
 * Merges the activity of two calls of one instance. The later call wins. Members that it omits keep
 * their values.
 */
function laterActivity(known: AnyActivity, later: AnyActivity): AnyActivity {
  const defined = Object.entries(later).filter(([, value]) => value !== undefined);
  const { lastSeenAt } = later;
  const isBack =
    lastSeenAt !== undefined &&
    known.lastSeenAt !== undefined &&
    isPause(known.lastSeenAt, lastSeenAt);
  return {
    ...known,
    ...(isBack && { seenSince: lastSeenAt }),
    ...Object.fromEntries(defined),
  };
}
