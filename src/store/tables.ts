import { foldName } from '../domain/fields.ts';
import type { Rows, TableName } from '../domain/records/rows.ts';

/** A row's key in a unique index; `undefined` leaves the row out of it. */
type KeyOf<R> = (row: R) => string | undefined;

interface Table<R> {
  /** Keys that at most one row may have. */
  unique: Record<string, KeyOf<R>>;
  /** Members by which rows are found; every listed table has those its filters and scopes need. */
  indexed: readonly (keyof R & string)[];
  /** Read one at a time from disk rather than held in memory. */
  cold?: boolean;
}

/** The key of a name in its scope. */
export function nameKey(scope: string | null, name: string): string {
  return `${scope ?? ''}/${foldName(name)}`;
}

/** All tables: their unique keys and indexes. Every store makes the same of it. */
export const tables = {
  tenants: { unique: { name: (row) => nameKey(null, row.name) }, indexed: [] },
  tokens: {
    unique: { name: (row) => nameKey(row.tenantId, row.name), hash: (row) => row.hash },
    indexed: ['tenantId', 'role'],
  },
  venues: { unique: { name: (row) => nameKey(row.tenantId, row.name) }, indexed: ['tenantId'] },
  screens: {
    unique: { name: (row) => nameKey(row.venueId, row.name) },
    indexed: ['tenantId', 'venueId'],
  },
  devices: {
    unique: { bound: (row) => (row.state === 'bound' ? row.screenId : undefined) },
    indexed: ['tenantId', 'venueId', 'screenId'],
  },
  deviceKeys: { unique: { hash: (row) => row.hash }, indexed: ['deviceId'] },
  codes: { unique: {}, indexed: ['screenId'] },
  playlists: { unique: {}, indexed: [] },
  pastPlaylists: { unique: {}, indexed: ['screenId'], cold: true },
  configs: { unique: {}, indexed: [] },
  mirrorPending: { unique: {}, indexed: [] },
  mirrorTargets: { unique: {}, indexed: [] },
} satisfies { [T in TableName]: Table<Rows[T]> };

export const tableNames = Object.keys(tables) as TableName[];

export type UniqueOf<T extends TableName> = keyof (typeof tables)[T]['unique'] & string;
export type IndexOf<T extends TableName> = (typeof tables)[T]['indexed'][number];
