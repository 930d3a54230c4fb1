import type { LastActivity, TokenActivity } from '../../../domain/records/rows.ts';

export type AnyActivity = LastActivity & TokenActivity;

/**
 * Times are kept as what has passed since then: of nearly all that is a small integer, and stands in its place, where a number of milliseconds since 1970 takes
 * an object of its own. A fleet of 100,000 has half a million of them.
 */
const sinceMs = Date.now();

/** In this order they stand in a document's line, `{"kind":"device","id":…}`, and which of them are times. What was never noted is left out. */
const isTime = {
  lastSeenAt: true,
  lastAddress: false,
  lastPlaylistAt: true,
  lastPlaylistVersion: false,
  lastPlaylistStatus: false,
  lastConfigAt: true,
  lastEventAt: true,
  lastRefusedAt: true,
  lastUsedAt: true,
} as const satisfies Record<keyof AnyActivity, boolean>;

type Member = keyof typeof isTime;
type Value = string | number | null | undefined;

const members = Object.keys(isTime) as Member[];

/** What was noted of one device or token. */
export class ActivityEntry<S> implements Record<Member, Value> {
  readonly id: string;
  readonly shard: S;
  lastSeenAt: Value = undefined;
  lastAddress: Value = undefined;
  lastPlaylistAt: Value = undefined;
  lastPlaylistVersion: Value = undefined;
  lastPlaylistStatus: Value = undefined;
  lastConfigAt: Value = undefined;
  lastEventAt: Value = undefined;
  lastRefusedAt: Value = undefined;
  lastUsedAt: Value = undefined;

  constructor(id: string, shard: S) {
    this.id = id;
    this.shard = shard;
  }

  /** What is not given stays. */
  note(marks: AnyActivity): void {
    for (const name in marks) {
      const member = name as Member;
      const value = marks[member];
      if (value !== undefined) this[member] = isTime[member] ? (value as number) - sinceMs : value;
    }
  }

  marks(): AnyActivity {
    const all: Partial<Record<Member, Value>> = {};
    for (const member of members) {
      const value = this[member];
      if (value !== undefined) all[member] = isTime[member] ? (value as number) + sinceMs : value;
    }
    return all as AnyActivity;
  }
}
