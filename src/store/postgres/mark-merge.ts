import type { LastActivity, TokenActivity } from '../../domain/records/rows.ts';

export type ActivityKind = 'device' | 'token';
export type AnyActivity = LastActivity & TokenActivity;

/** What goes with which time: of two notes the later one tells. All else are times. */
const timeOf: Readonly<Record<string, keyof AnyActivity>> = {
  lastAddress: 'lastSeenAt',
  lastPlaylistVersion: 'lastPlaylistAt',
  lastPlaylistStatus: 'lastPlaylistAt',
};

/** Two notes of one device or token, made by two instances: the latest of each. Of the same time, `more` tells. */
export function mergeActivity(known: AnyActivity, more: AnyActivity): AnyActivity {
  const merged: Record<string, unknown> = { ...known };
  for (const [name, value] of Object.entries(more) as [keyof AnyActivity, unknown][]) {
    const time = timeOf[name] ?? name;
    const isOlder = Number(more[time] ?? 0) < Number(known[time] ?? 0);
    if (!isOlder || known[name] === undefined) merged[name] = value;
  }
  return merged as AnyActivity;
}

/** Notes of one instance, one after the other: the later call tells, and what it does not say stays. */
export function laterActivity(known: AnyActivity, later: AnyActivity): AnyActivity {
  const said = Object.entries(later).filter(([, value]) => value !== undefined);
  return { ...known, ...Object.fromEntries(said) };
}
