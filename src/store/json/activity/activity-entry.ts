import type { LastActivity, TokenActivity } from '../../../domain/records/rows.ts';

export type AnyActivity = LastActivity & TokenActivity;

/**
 * Times are stored as milliseconds since this process started. V8 stores such small integers
 * inline, while a Unix time in milliseconds needs an object of its own. A fleet of 100,000 has half
 * a million times.
 */
const processStartMs = Date.now();

/**
 * Members in the order of a document's line, `{"kind":"device","id":…}`, and whether each is a
 * time. A line leaves out members that were never set.
 */
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

/** Last activity of one device or token. */
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

  /** Sets the given members, and keeps the others. */
  update(activity: AnyActivity): void {
    for (const name in activity) {
      const member = name as Member;
      const value = activity[member];
      if (value !== undefined)
        this[member] = isTime[member] ? (value as number) - processStartMs : value;
    }
  }

  activity(): AnyActivity {
    const activity: Partial<Record<Member, Value>> = {};
    for (const member of members) {
      const value = this[member];
      if (value !== undefined)
        activity[member] = isTime[member] ? (value as number) + processStartMs : value;
    }
    return activity as AnyActivity;
  }
}
