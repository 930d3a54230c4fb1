import type { z } from 'zod';
import { foldName } from '../domain/fields.ts';
import {
  claimRow,
  codeRow,
  configRow,
  creationRow,
  deviceKeyRow,
  deviceRow,
  playlistRow,
  screenRow,
  tenantRow,
  tokenRow,
  venueRow,
} from '../domain/records/rows.ts';

type RowSchema = z.ZodObject<{ id: z.ZodString }>;

/** Returns a row's key in a unique index, or `undefined` to leave the row out of it. */
type KeyOf<R> = (row: R) => string | undefined;

/** Describes the rows of one table: what every store, dump and check needs to know about them. */
export interface Section<S extends RowSchema, U extends string, I extends string> {
  /** Strict schema of a row. Its member `id` identifies the row within the section. */
  row: S;
  /** Unique indexes by name. */
  unique: Record<U, KeyOf<z.infer<S>>>;
  /**
   * Indexed members, for `select` and `count`. Lists also use them to restrict rows to a tenant or
   * venue.
   */
  indexed: readonly I[];
  /** True if rows are read from disk on demand. Otherwise they are held in memory. */
  cold?: boolean;
}

function section<S extends RowSchema, U extends string, const I extends keyof z.infer<S> & string>(
  one: Section<S, U, I>,
): Section<S, U, I> {
  return one;
}

/** Returns the unique key of a name within its scope. */
export function nameKey(scope: string | null, name: string): string {
  return `${scope ?? ''}/${foldName(name)}`;
}

/** Describes each stored row once, the same for every store, in the order of a dump. */
export const sections = {
  tenants: section({
    row: tenantRow,
    unique: { name: (row) => nameKey(null, row.name) },
    indexed: [],
  }),
  tokens: section({
    row: tokenRow,
    unique: {
      name: (row) => nameKey(row.tenantId, row.name),
      hash: (row) => row.hash,
      retiring: (row) => row.retiring?.hash,
    },
    indexed: ['tenantId', 'role'],
  }),
  venues: section({
    row: venueRow,
    unique: { name: (row) => nameKey(row.tenantId, row.name) },
    indexed: ['tenantId'],
  }),
  screens: section({
    row: screenRow,
    unique: { name: (row) => nameKey(row.venueId, row.name) },
    indexed: ['tenantId', 'venueId'],
  }),
  devices: section({
    row: deviceRow,
    unique: { bound: (row) => (row.state === 'bound' ? row.screenId : undefined) },
    indexed: ['tenantId', 'venueId', 'screenId'],
  }),
  deviceKeys: section({
    row: deviceKeyRow,
    unique: { hash: (row) => row.hash },
    indexed: ['deviceId'],
  }),
  codes: section({ row: codeRow, unique: {}, indexed: ['screenId'] }),
  playlists: section({ row: playlistRow, unique: {}, indexed: [] }),
  pastPlaylists: section({ row: playlistRow, unique: {}, indexed: ['screenId'], cold: true }),
  configs: section({ row: configRow, unique: {}, indexed: [] }),
  creations: section({
    row: creationRow,
    unique: { request: (row) => row.request },
    indexed: ['tokenId'],
  }),
  claims: section({ row: claimRow, unique: {}, indexed: ['shard'] }),
};

export type TableName = keyof typeof sections;
/** The row types of all tables. */
export type Rows = { [T in TableName]: z.infer<(typeof sections)[T]['row']> };
export type UniqueOf<T extends TableName> = keyof (typeof sections)[T]['unique'] & string;
export type IndexOf<T extends TableName> = (typeof sections)[T]['indexed'][number];

export const tableNames = Object.keys(sections) as TableName[];
