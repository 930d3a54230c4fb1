import type { LastActivity, TokenActivity } from '../../domain/records/rows.ts';

export type ActivityKind = 'device' | 'token';
export type AnyActivity = LastActivity & TokenActivity;

/** The timestamp that belongs to each member. Members not listed are timestamps themselves. */
const timeOf: Readonly<Record<string, keyof AnyActivity>> = {
  lastAddress: 'lastSeenAt',
  lastPlaylistVersion: 'lastPlaylistAt',
  lastPlaylistStatus: 'lastPlaylistAt',
};

/**
 * Merges the activity of one device or token from two instances: the latest value of each member
 * wins. For equal times, `more` wins.
 */
export function mergeActivity(known: AnyActivity, more: AnyActivity): AnyActivity {
  const merged: Record<string, unknown> = { ...known };
  for (const [name, value] of Object.entries(more) as [keyof AnyActivity, unknown][]) {
    const time = timeOf[name] ?? name;
    const isOlder = Number(more[time] ?? 0) < Number(known[time] ?? 0);
    if (!isOlder || known[name] === undefined) merged[name] = value;
  }
  return merged as AnyActivity;
}

/** Merges two calls of one instance: the later call wins, and members that it omits stay. */
export function laterActivity(known: AnyActivity, later: AnyActivity): AnyActivity {
  const defined = Object.entries(later).filter(([, value]) => value !== undefined);
  return { ...known, ...Object.fromEntries(defined) };
}
