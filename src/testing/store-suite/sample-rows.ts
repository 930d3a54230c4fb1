import { z } from 'zod';
import type { AuditEntry } from '../../domain/records/audit.ts';
import type { Content, Playlist, StoredConfig } from '../../domain/records/rows.ts';
import { type Rows, sectionOf, type TableName } from '../../store/sections.ts';
import { guid, tenantA } from './sample-batch.ts';

const createdAt = 1_760_000_000_000;

type Schema = z.core.JSONSchema.BaseSchema;

/**
 * Returns a valid value: `null` and empty where that is allowed, the first value of an enumeration,
 * and texts and ids that contain the number.
 */
function sampleOf(schema: Schema, member: string, number: number): unknown {
  if (member === 'tenantId') return tenantA;
  if (schema.anyOf || Array.isArray(schema.type)) return null;
  if (schema.enum) return schema.enum[0];
  switch (schema.type) {
    case 'boolean':
      return false;
    case 'integer':
    case 'number':
      return createdAt;
    case 'array':
      return [];
    case 'string':
      return member.endsWith('Id') ? guid(member.slice(0, 4), number) : `${member} ${number}`;
    default: {
      const members = Object.entries(schema.properties ?? {}) as [string, Schema][];
      return Object.fromEntries(members.map(([name, one]) => [name, sampleOf(one, name, number)]));
    }
  }
}

/** Members whose samples are no consequence of the schema. */
const given: { [T in TableName]?: (number: number) => Partial<Rows[T]> } = {
  screens: () => ({ venueId: guid('venu', 1) }),
  devices: () => ({ venueId: guid('venu', 1) }),
  deviceKeys: (number) => ({ id: guid('keys', number), hash: `key ${number}` }),
  codes: (number) => ({
    id: `code-${String(number).padStart(4, '0')}`,
    venueId: guid('venu', 1),
    screenId: guid('scre', 1),
    expiresAt: createdAt + 900_000,
  }),
  contents: (number) => ({ id: `content-${number}`, items: '[]' }),
  playlists: (number) => ({ id: guid('scre', number), contentId: 'content-1' }),
  pastPlaylists: (number) => ({
    id: `${guid('scre', number)}/1`,
    version: 1,
    contentId: 'content-1',
  }),
  layers: (number) => ({ id: `screen/${guid('owne', number)}` }),
  pastSchedules: (number) => ({ id: `${guid('owne', number)}/1` }),
  pastInputs: (number) => ({ id: `${guid('owne', number)}/${number}/screens`, until: number }),
  loops: (number) => ({ id: `content-${number}`, until: number }),
  configs: (number) => ({ id: `screen/${guid('owne', number)}` }),
  statements: (number) => ({ id: `owner ${number}/${number}`, owner: `owner ${number}` }),
  notices: (number) => ({ id: `bucket ${number}/${number}` }),
  creations: () => ({ tokenId: guid('toke', 1) }),
  webhookDeliveries: () => ({ pendingOf: guid('webh', 1) }),
  tickets: (number) => ({ screenId: guid('scre', number) }),
  claims: (number) => ({ id: `CLAIM${number}`, shard: '7', expiresAt: createdAt + 600_000 }),
  logins: (number) => ({ id: `LOGIN${number}`, shard: '7', expiresAt: createdAt + 600_000 }),
};

const schemas = new WeakMap<z.ZodType, Schema>();

/** Returns a row whose id and name contain `number`. `more` replaces members. */
export function sampleRow<T extends TableName>(
  table: T,
  number: number,
  more: Partial<Rows[T]> = {},
): Rows[T] {
  const { row } = sectionOf(table);
  const schema = schemas.get(row) ?? z.toJSONSchema(row, { io: 'input' });
  schemas.set(row, schema);
  const name = `${table.charAt(0).toUpperCase()}${table.slice(1, -1)} ${number}`;
  return {
    ...(sampleOf(schema, table, number) as Rows[T]),
    id: guid(table.slice(0, 4), number),
    ...('name' in row.shape && { name }),
    ...given[table]?.(number),
    ...more,
  };
}

const sampler =
  <T extends TableName>(table: T) =>
  (number: number, more: Partial<Rows[T]> = {}) =>
    sampleRow(table, number, more);

export const tenantRow = sampler('tenants');
export const tokenRow = sampler('tokens');
export const venueRow = sampler('venues');
export const screenRow = sampler('screens');
export const deviceRow = sampler('devices');
export const deviceKeyRow = sampler('deviceKeys');
export const codeRow = sampler('codes');
export const creationRow = sampler('creations');
export const claimRow = sampler('claims');

export function contentRow(number: number, more: Partial<Content> = {}): Content {
  const items = `[{"creativeUrl":"https://media.example.com/${number}.mp4"}]`;
  return sampleRow('contents', number, { items, ...more });
}

export function pastContentRow(number: number, movedAt = createdAt): Rows['pastContents'] {
  return { ...contentRow(number), movedAt };
}

export function playlistRow(
  screen: number,
  version: number,
  more: Partial<Playlist> = {},
): Playlist {
  return sampleRow('playlists', screen, { version, contentId: `content-${version}`, ...more });
}

export function pastPlaylistRow(screen: number, version: number): Playlist {
  return playlistRow(screen, version, {
    id: `${guid('scre', screen)}/${version}`,
    state: 'superseded',
  });
}

export function configRow(
  level: StoredConfig['level'],
  ownerId: string,
  config: StoredConfig['config'],
): StoredConfig {
  return sampleRow('configs', 1, { id: `${level}/${ownerId}`, level, ownerId, config });
}

export function auditRow(number: number, more: Partial<AuditEntry> = {}): AuditEntry {
  return {
    id: guid('audi', number),
    tenantId: tenantA,
    at: createdAt + number,
    actor: { kind: 'system', id: null, name: null },
    action: 'venue.create',
    subject: { kind: 'venue', id: guid('venu', number) },
    address: null,
    requestId: null,
    details: {},
    ...more,
  };
}
