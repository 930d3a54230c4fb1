// Bodies and queries of management requests that their schemas accept or refuse. The answer 400
// lists the same members (src/http/request/validate.ts).
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { deviceQuery, revocation } from '../../../src/domain/records/device.ts';
import { codeCreation } from '../../../src/domain/records/pairing-code.ts';
import {
  screenCreation,
  screenDeletionQuery,
  screenPatch,
  screenQuery,
} from '../../../src/domain/records/screen.ts';
import { tenantCreation, tenantPatch } from '../../../src/domain/records/tenant.ts';
import { tokenCreation } from '../../../src/domain/records/token.ts';
import { venueCreation, venuePatch, venueQuery } from '../../../src/domain/records/venue.ts';

const id = '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e';

/** Returns the paths of refused and unknown members, in order. */
function refused(schema: z.ZodType, value: unknown): string[] {
  const issues = schema.safeParse(value).error?.issues ?? [];
  const paths = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => [...issue.path, key].join('/'))
      : issue.path.join('/'),
  );
  return [...new Set(paths)].toSorted();
}

describe('the creation of a venue', () => {
  it.each([
    [{ name: 'Hall' }],
    [{ name: 'Hall', address: null, timezone: null, labels: null }],
    [{ name: 'Hall', address: 'x'.repeat(500), timezone: 'America/Argentina/Ushuaia' }],
  ])('accepts %j', (body) => expect(refused(venueCreation, body)).toEqual([]));

  it.each<[unknown, string[]]>([
    [{}, ['name']],
    [{ name: null }, ['name']],
    [
      { name: 'x', address: 7, timezone: 'Mars/Olympus', adress: 'x', id },
      ['address', 'adress', 'id', 'timezone'],
    ],
    [{ name: 'x', address: 'x'.repeat(501), timezone: 'Etc/../GMT' }, ['address', 'timezone']],
    [{ name: 'x', labels: { 'a:b': 'x', ok: 'fine', bad: 5 } }, ['labels/a:b', 'labels/bad']],
    [[], ['']],
    ['venue', ['']],
    [null, ['']],
  ])('refuses %j', (body, paths) => expect(refused(venueCreation, body)).toEqual(paths));
});

describe('a patch of a record', () => {
  it.each([
    ['of a venue', venuePatch, { address: 'x', tenantId: id, id }, ['id', 'tenantId']],
    ['of a venue', venuePatch, { name: null, labels: { a: 5 } }, ['labels/a', 'name']],
    ['of a screen', screenPatch, { venueId: id, state: 'active' }, ['state', 'venueId']],
    ['of a tenant', tenantPatch, { id, name: 'a/b' }, ['id', 'name']],
  ] as const)('%s does not change what is fixed', (_, schema, body, paths) =>
    expect(refused(schema, body)).toEqual(paths),
  );

  it.each([venuePatch, screenPatch, tenantPatch])('may be empty', (schema) =>
    expect(refused(schema, {})).toEqual([]),
  );
});

describe('the creation of a screen, a tenant or a pairing code', () => {
  it.each([
    [screenCreation, {}, ['name', 'venueId']],
    [
      screenCreation,
      { venueId: 'hall', name: 'a/b', state: 'active', deviceId: id, tenantId: id },
      ['deviceId', 'name', 'state', 'tenantId', 'venueId'],
    ],
    [tenantCreation, { nam: 'x' }, ['nam', 'name']],
    [codeCreation, { screenId: id, simulated: 'true' }, ['simulated']],
    [codeCreation, { screenId: id, simulated: null }, ['simulated']],
  ] as const)('names what is missing, unknown or fixed', (schema, body, paths) =>
    expect(refused(schema, body)).toEqual(paths),
  );
});

describe('the creation of a token', () => {
  const token = { name: 'Night shift', role: 'viewer' };

  it.each([
    {},
    { expiresAt: null, venueIds: null },
    { expiresAt: '2026-12-01', venueIds: Array(100).fill(id) },
    { role: 'platform', venueIds: null },
  ])('accepts %j', (more) => expect(refused(tokenCreation, { ...token, ...more })).toEqual([]));

  it('converts expiresAt to milliseconds, and ids to lower case', () => {
    const creation = { ...token, venueIds: [id.toUpperCase()] };
    for (const expiresAt of ['2026-12-01', '2026-12-01T01:00:00+01:00', '2026-12-01T00:00Z'])
      expect(tokenCreation.parse({ ...creation, expiresAt })).toEqual({
        ...token,
        expiresAt: Date.UTC(2026, 11, 1),
        venueIds: [id],
      });
  });

  it.each([
    ['an unknown role', { role: 'root' }, 'role'],
    ['a secret of its own', { token: 'mak_mine' }, 'token'],
    ['a time without a zone', { expiresAt: '2026-12-01T00:00:00' }, 'expiresAt'],
    ['a number as a time', { expiresAt: 1_800_000_000 }, 'expiresAt'],
    ['no time at all', { expiresAt: 'tomorrow' }, 'expiresAt'],
    ['a day that no calendar has', { expiresAt: '2027-02-30' }, 'expiresAt'],
    ['a time on such a day', { expiresAt: '2027-04-31T10:00:00+02:00' }, 'expiresAt'],
    ['no venue', { venueIds: [] }, 'venueIds'],
    ['101 venues', { venueIds: Array(101).fill(id) }, 'venueIds'],
    ['one venue that is no list', { venueIds: id }, 'venueIds'],
    ['what is no id', { venueIds: [id, 'x'] }, 'venueIds/1'],
    ['the platform and a venue', { role: 'platform', venueIds: [id] }, 'venueIds'],
    ['a backup and a venue', { role: 'backup', venueIds: [id] }, 'venueIds'],
  ])('refuses %s', (_, more, path) =>
    expect(refused(tokenCreation, { ...token, ...more })).toEqual([path]),
  );
});

describe('a revocation', () => {
  it.each([
    undefined,
    null,
    {},
    { reason: null },
    { reason: '' },
    { reason: 'r'.repeat(500), ticket: 7 },
  ])('may be %j', (body) => expect(refused(revocation, body)).toEqual([]));

  it.each([
    [{ reason: 'r'.repeat(501) }, 'reason'],
    [{ reason: 5 }, 'reason'],
    [[], ''],
  ])('may not be %j', (body, path) => expect(refused(revocation, body)).toEqual([path]));
});

describe('a query', () => {
  it.each([
    [venueQuery, { limit: '200', cursor: 'x', name: 'Hall', search: 'all' }],
    [screenQuery, { state: 'active', venueId: id, label: ['floor:1', 'url:a:b', 'empty:'] }],
    [deviceQuery, { state: 'suspended', online: 'false', screenId: id, venueId: id }],
    [screenDeletionQuery, { force: 'false' }],
  ])('accepts its parameters', (schema, query) => expect(refused(schema, query)).toEqual([]));

  it('has pages of 50 by default, and of 1 to 200', () => {
    expect(venueQuery.parse({}).limit).toBe(50);
    for (const limit of ['0', '201', '-1', '1.5', 'x', '', '1e9'])
      expect(refused(venueQuery, { limit })).toEqual(['limit']);
    expect(refused(venueQuery, { cursor: '' })).toEqual(['cursor']);
  });

  it.each([
    [venueQuery, { lable: 'a:b', name: ['a', 'b'] }, ['lable', 'name']],
    [screenQuery, { state: 'foo', venueId: 'hall', labels: 'a:b' }, ['labels', 'state', 'venueId']],
    [screenQuery, { label: 'floor' }, ['label']],
    [screenQuery, { label: ['floor:1', ':1'] }, ['label/1']],
    [deviceQuery, { state: 'foo', online: '1', screenId: 'x' }, ['online', 'screenId', 'state']],
    [deviceQuery, { venueId: 'x', name: 'x' }, ['name', 'venueId']],
    [screenDeletionQuery, { force: 'yes', forced: 'true' }, ['force', 'forced']],
    [screenDeletionQuery, { force: 'TRUE' }, ['force']],
    [screenDeletionQuery, { force: '1' }, ['force']],
    [screenDeletionQuery, { force: '' }, ['force']],
  ] as const)('refuses values and parameters that it does not know', (schema, query, paths) =>
    expect(refused(schema, query)).toEqual(paths),
  );
});
