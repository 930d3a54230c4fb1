import { z } from 'zod';
import { tryParseJson } from '../../../domain/json/try-parse-json.ts';
import type { Rows, TableName } from '../../../domain/records/rows.ts';
import { tableNames } from '../../tables.ts';
import type { Row } from '../rows/table-index.ts';

const text = z.string();
const number = z.number();
const flag = z.boolean();
const object = z.record(z.string(), z.unknown());

const times = { createdAt: number, updatedAt: number };
const playlist = {
  id: text,
  screenId: text,
  tenantId: text,
  playlistId: text,
  version: number,
  state: z.enum(['active', 'superseded', 'withdrawn']),
  items: text,
  validUntil: number.nullable(),
  publishedAt: number,
  origin: z.enum(['published', 'on-demand']),
  noneSince: number.optional(),
};

/**
 * Members of each table's rows. A row with an unknown member does not match, which detects damaged
 * member names.
 */
const shapes: { [T in TableName]: { [K in keyof Rows[T]]-?: z.ZodType } } = {
  tenants: { id: text, name: text, ...times },
  tokens: {
    id: text,
    tenantId: text.nullable(),
    name: text,
    role: text,
    hash: text,
    createdAt: number,
    bootstrap: flag,
    expiresAt: number.nullish(),
    venueIds: z.array(text).nullish(),
    firstUsedAt: number.nullish(),
    retiring: z.object({ hash: text, until: number }).nullish(),
  },
  venues: {
    id: text,
    tenantId: text,
    name: text,
    address: text.nullable(),
    timezone: text.nullable(),
    labels: object,
    ...times,
  },
  screens: {
    id: text,
    tenantId: text,
    venueId: text,
    name: text,
    labels: object,
    ...times,
    state: z.enum(['provisioning', 'active']),
    deviceId: text.nullable(),
  },
  devices: {
    id: text,
    tenantId: text,
    venueId: text,
    screenId: text,
    state: z.enum(['bound', 'suspended']),
    deviceInfo: object,
    createdAt: number,
    suspendedAt: number.nullable(),
    suspendReason: text.nullable(),
    simulated: flag.optional(),
  },
  deviceKeys: {
    id: text,
    tenantId: text,
    deviceId: text,
    screenId: text,
    hash: text,
    state: z.enum(['active', 'retiring', 'revoked']),
    createdAt: number,
    firstUsedAt: number.nullable(),
    revokedAt: number.nullable(),
  },
  codes: {
    id: text,
    tenantId: text,
    venueId: text.optional(),
    screenId: text,
    state: z.enum(['pending', 'used', 'cancelled']),
    createdAt: number,
    expiresAt: number,
    usedAt: number.nullable(),
    cancelledAt: number.nullable(),
    deviceId: text.nullable(),
    answeredConfig: object.nullable(),
    simulated: flag.optional(),
  },
  playlists: playlist,
  pastPlaylists: playlist,
  configs: {
    id: text,
    tenantId: text,
    level: z.enum(['screen', 'venue', 'tenant']),
    ownerId: text,
    config: object,
    updatedAt: number,
  },
  creations: {
    id: text,
    tokenId: text,
    request: text,
    body: text,
    recordId: text,
    createdAt: number,
  },
  claims: {
    id: text,
    tokenHash: text,
    deviceInfo: object,
    address: text.nullable(),
    shard: text,
    network: text,
    share: text.nullable(),
    state: z.enum(['waiting', 'offered']),
    createdAt: number,
    expiresAt: number,
    offer: object.nullable(),
  },
};

const schemas = tableNames.map((table) => ({ table, schema: z.strictObject(shapes[table]) }));

/**
 * Parses a row from a line of a document. Its members identify the table. Returns `undefined` if it
 * matches no table.
 */
export function rowIn(line: string): { table: TableName; row: Row } | undefined {
  const row = parsed(line.endsWith(',') ? line.slice(0, -1) : line);
  const table = schemas.find(({ schema }) => schema.safeParse(row).success)?.table;
  if (!isObject(row) || table === undefined) return undefined;
  const isPast = table === 'playlists' && String(row.id).includes('/');
  return { table: isPast ? 'pastPlaylists' : table, row: row as unknown as Row };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Parses the JSON of a line. Returns `undefined` for invalid JSON, and for a line with U+FFFD,
 * which has replaced bytes that are not UTF-8.
 */
export function parsed(line: string): unknown {
  return line.includes('\uFFFD') ? undefined : tryParseJson(line);
}
