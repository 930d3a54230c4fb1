import { foldName } from '../domain/fields.ts';
import type { Rows, TableName } from '../domain/records/rows.ts';

/** Returns a row's key in a unique index, or `undefined` to leave the row out of it. */
type KeyOf<R> = (row: R) => string | undefined;

interface Table<R> {
  /** Unique indexes by name. */
  unique: Record<string, KeyOf<R>>;
  /**
   * Indexed members, for `select` and `count`. Lists also use them to restrict rows to a tenant or
   * venue.
   */
  indexed: readonly (keyof R & string)[];
  /** True if rows are read from disk on demand. Otherwise they are held in memory. */
  cold?: boolean;
}

/** Returns the unique key of a name within its scope. */
export function nameKey(scope: string | null, name: string): string {
  return `${scope ?? ''}/${foldName(name)}`;
}

/** Unique keys and indexes of all tables, the same in every store. */
export const tables = {
  tenants: { unique: { name: (row) => nameKey(null, row.name) }, indexed: [] },
  tokens: {
    unique: {
      name: (row) => nameKey(row.tenantId, row.name),
      hash: (row) => row.hash,
      retiring: (row) => row.retiring?.hash,
    },
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
  creations: { unique: { request: (row) => row.request }, indexed: ['tokenId'] },
  claims: { unique: {}, indexed: ['shard'] },
} satisfies { [T in TableName]: Table<Rows[T]> };

export const tableNames = Object.keys(tables) as TableName[];

export type UniqueOf<T extends TableName> = keyof (typeof tables)[T]['unique'] & string;
export type IndexOf<T extends TableName> = (typeof tables)[T]['indexed'][number];
