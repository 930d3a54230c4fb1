import type { Rows, TableName } from '../../../domain/records/rows.ts';
import type { Row } from '../rows/table-index.ts';

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string';
const number: Check = (value) => typeof value === 'number';
const flag: Check = (value) => typeof value === 'boolean';
const object: Check = (value) => typeof value === 'object' && value !== null;
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const oneOf =
  (...values: unknown[]): Check =>
  (value) =>
    values.includes(value);

const times = { createdAt: number, updatedAt: number };
const playlist = {
  id: text,
  screenId: text,
  tenantId: text,
  playlistId: text,
  version: number,
  state: oneOf('active', 'superseded', 'withdrawn'),
  items: text,
  validUntil: orNull(number),
  publishedAt: number,
  origin: oneOf('published', 'on-demand'),
  noneSince: optional(number),
};

/**
 * Required members of each table's rows. A row with an unknown member does not match, which detects
 * damaged member names.
 */
const shapes: { [T in TableName]: { [K in keyof Rows[T]]-?: Check } } = {
  tenants: { id: text, name: text, ...times },
  tokens: {
    id: text,
    tenantId: orNull(text),
    name: text,
    role: text,
    hash: text,
    createdAt: number,
    bootstrap: flag,
    expiresAt: optional(orNull(number)),
    venueIds: optional(orNull(object)),
  },
  venues: {
    id: text,
    tenantId: text,
    name: text,
    address: orNull(text),
    timezone: orNull(text),
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
    state: oneOf('provisioning', 'active'),
    deviceId: orNull(text),
  },
  devices: {
    id: text,
    tenantId: text,
    venueId: text,
    screenId: text,
    state: oneOf('bound', 'suspended'),
    deviceInfo: object,
    createdAt: number,
    suspendedAt: orNull(number),
    suspendReason: orNull(text),
  },
  deviceKeys: {
    id: text,
    tenantId: text,
    deviceId: text,
    screenId: text,
    hash: text,
    state: oneOf('active', 'retiring', 'revoked'),
    createdAt: number,
    firstUsedAt: orNull(number),
    revokedAt: orNull(number),
  },
  codes: {
    id: text,
    tenantId: text,
    venueId: optional(text),
    screenId: text,
    state: oneOf('pending', 'used', 'cancelled'),
    createdAt: number,
    expiresAt: number,
    usedAt: orNull(number),
    cancelledAt: orNull(number),
    deviceId: orNull(text),
    answeredConfig: orNull(object),
  },
  playlists: playlist,
  pastPlaylists: playlist,
  configs: {
    id: text,
    tenantId: text,
    level: oneOf('screen', 'venue', 'tenant'),
    ownerId: text,
    config: object,
    updatedAt: number,
  },
  mirrorPending: { id: text, tenantId: text, queuedAt: number },
  mirrorTargets: { id: text, location: text },
};

/**
 * Parses a row from a line of a document. Its members identify the table. Returns `undefined` if it
 * matches no table.
 */
export function rowIn(line: string): { table: TableName; row: Row } | undefined {
  const row = parsed(line.endsWith(',') ? line.slice(0, -1) : line);
  if (!isObject(row)) return undefined;
  const table = (Object.keys(shapes) as TableName[]).find((name) => matches(shapes[name], row));
  if (table === undefined) return undefined;
  const isPast = table === 'playlists' && String(row.id).includes('/');
  return { table: isPast ? 'pastPlaylists' : table, row: row as unknown as Row };
}

function matches(shape: Record<string, Check>, row: Record<string, unknown>): boolean {
  const isKnown = Object.keys(row).every((name) => Object.hasOwn(shape, name));
  return isKnown && Object.entries(shape).every(([name, check]) => check(row[name]));
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Parses the JSON of a line. Returns `undefined` if invalid. Bytes that are not UTF-8 have become
 * U+FFFD.
 */
export function parsed(line: string): unknown {
  if (line.includes('\uFFFD')) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
