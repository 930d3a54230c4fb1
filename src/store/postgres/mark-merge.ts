import type { DeviceMarks, TokenMarks } from '../../domain/records/rows.ts';

export type MarkKind = 'device' | 'token';
export type AnyMarks = DeviceMarks & TokenMarks;

/** What goes with which time: of two notes the later one tells. All else are times. */
const timeOf: Readonly<Record<string, keyof AnyMarks>> = {
  lastAddress: 'lastSeenAt',
  lastPlaylistVersion: 'lastPlaylistAt',
  lastPlaylistStatus: 'lastPlaylistAt',
};

/** Two notes of one device or token, made by two instances: the latest of each. Of the same time, `more` tells. */
export function mergedMarks(known: AnyMarks, more: AnyMarks): AnyMarks {
  const merged: Record<string, unknown> = { ...known };
  for (const [name, value] of Object.entries(more) as [keyof AnyMarks, unknown][]) {
    const time = timeOf[name] ?? name;
    const isOlder = Number(more[time] ?? 0) < Number(known[time] ?? 0);
    if (!isOlder || known[name] === undefined) merged[name] = value;
  }
  return merged as AnyMarks;
}

/** Notes of one instance, one after the other: the later call tells, and what it does not say stays. */
export function laterMarks(known: AnyMarks, later: AnyMarks): AnyMarks {
  const said = Object.entries(later).filter(([, value]) => value !== undefined);
  return { ...known, ...Object.fromEntries(said) };
}
