// What tenants, venues, screens and tokens have in common: creation, reading, patches, names,
// deletion and lists. Formats of their members are in test/domain/records/bodies.test.ts.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  expectProblem,
  type Manager,
  manager,
  unknownId,
  walk,
} from '../../support/service/management.ts';
import { type Answer, startService, type TestService } from '../../support/service/service.ts';

interface Kind {
  path: string;
  /** Members of a creation, besides the name. */
  creation(): object;
  /** Further members of a new record. */
  members(): object;
  /** A patch that changes every other member, and the changed members. */
  patch?: object;
  patched?: object;
  /** Patches that change nothing. */
  unchanging?: object[];
}

let service: TestService;
let admin: Manager;
let tenantId: string;
let venueId: string;
let count = 0;

const hours = [{ days: ['mon', 'sun'], from: '08:00', to: '02:00' }];
const hoursExceptions = [{ dates: { from: '2026-12-25', until: '2026-12-26' } }];
const labels = { labels: { a: '1', b: '2' } };
const labelPatch = { labels: { a: null, c: '3' } };
const patchedLabels = { labels: { b: '2', c: '3' } };
const unchangingLabels = [labels, { labels: { gone: null } }];

const kinds: Record<string, Kind> = {
  tenant: {
    path: '/v1/tenants',
    creation: () => ({}),
    members: () => ({}),
    patch: {},
  },
  venue: {
    path: '/v1/venues',
    creation: () => ({
      address: 'Lange Straße 12',
      timezone: 'Europe/Berlin',
      hours,
      hoursExceptions,
      ...labels,
    }),
    members: () => ({ tenantId }),
    patch: { address: null, timezone: null, hours: null, hoursExceptions: null, ...labelPatch },
    patched: {
      address: null,
      timezone: null,
      hours: null,
      hoursExceptions: null,
      ...patchedLabels,
    },
    unchanging: [
      ...unchangingLabels,
      { address: 'Lange Straße 12' },
      { hours },
      { hoursExceptions },
    ],
  },
  screen: {
    path: '/v1/screens',
    creation: () => ({ venueId, hours: [], hoursExceptions: null, serial: 'S-1', ...labels }),
    members: () => ({ tenantId, state: 'provisioning', deviceId: null, provisioningCode: null }),
    patch: { hours: null, serial: null, ...labelPatch },
    patched: { hours: null, serial: null, ...patchedLabels },
    unchanging: [...unchangingLabels, { serial: 'S-1' }],
  },
  token: {
    path: '/v1/tokens',
    creation: () => ({
      role: 'viewer',
      expiresAt: '2099-01-01T00:00:00.000Z',
      venueIds: [venueId],
    }),
    members: () => ({ tenantId, lastUsedAt: null }),
  },
};

beforeAll(async () => {
  service = await startService();
  ({ tenantId } = (await manager(service).get('/v1/me')).body);
  admin = manager(service).in(tenantId);
  venueId = (await admin.venue('Hall')).id;
});

const fresh = () => `Name ${++count}`;
const iso = () => new Date(service.clock.now()).toISOString();

const create = ({ path, creation }: Kind, name: string) =>
  admin.post(path, { name, ...creation() });
const named = async ({ path }: Kind, name: string) =>
  (await admin.get(`${path}?name=${encodeURIComponent(name)}`)).body.items;

/** Creates a record, and returns it as it is read. */
async function made(kind: Kind, name = fresh()): Promise<Answer['body']> {
  const answer = await create(kind, name);
  expect(answer.status, answer.text).toBe(201);
  const { token: _, ...record } = answer.body;
  return record;
}

describe.each(Object.entries(kinds))('a %s', (_, kind) => {
  const { path, creation, members } = kind;

  it('201 with the record and its Location; reading returns the same, for an id in any case', async () => {
    const name = fresh();
    const { status, headers, body } = await create(kind, `  ${name}\t`);
    const { id, token: _, ...record } = body;
    const updatedAt = kind.patch ? { updatedAt: iso() } : {};
    expect(status).toBe(201);
    expect(record).toEqual({ name, ...creation(), ...members(), createdAt: iso(), ...updatedAt });
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(headers.get('location')).toBe(`${path}/${id}`);
    for (const each of [id, id.toUpperCase()])
      expect((await admin.get(`${path}/${each}`)).body).toEqual({ id, ...record });
    for (const other of [unknownId, `${id}0`, '%2e%2e%2f', '%ff'])
      expect((await admin.get(`${path}/${other}`)).status).toBe(404);
  });

  it('409 name_taken with existingId, without regard to case, spaces and normal form', async () => {
    const name = `Ärztehaus ${++count}`;
    const { id: existingId } = await made(kind, name);
    for (const taken of [name, name.toUpperCase(), ` a\u0308rztehaus ${count} `])
      expectProblem(await create(kind, taken), 'name_taken', { existingId });
    expect(await named(kind, name.toLowerCase())).toMatchObject([{ id: existingId, name }]);
  });

  it('409 for one of two simultaneous creations with the same name', async () => {
    const name = fresh();
    const answers = await Promise.all([create(kind, name), create(kind, name)]);
    const [won, lost] = answers.toSorted((a, b) => a.status - b.status);
    expect(won!.status).toBe(201);
    expectProblem(lost!, 'name_taken', { existingId: won!.body.id });
  });

  it('204 deletes it, and its name is free again', async () => {
    const { id, name } = await made(kind);
    expect(await admin.delete(`${path}/${id}`)).toMatchObject({ status: 204, text: '' });
    for (const method of ['GET', 'DELETE'])
      expect((await admin.send(method, `${path}/${id}`)).status).toBe(404);
    expect((await made(kind, name)).id).not.toBe(id);
  });

  it('is listed in order of creation, page by page, each exactly once', async () => {
    const records = [await made(kind), await made(kind), await made(kind)];
    const all = (await walk(admin, path, 200)).items;
    expect(all.slice(-3)).toEqual(records);
    for (const limit of [1, 2]) {
      const { items, pages } = await walk(admin, path, limit);
      expect(items).toEqual(all);
      expect(pages).toBe(Math.ceil(all.length / limit));
    }
  });

  it('is found by its whole name, and by a part of it, in any case', async () => {
    const group = `Group${++count}`;
    const records = [await made(kind, `${group} one`), await made(kind, `${group} two`)];
    expect(await named(kind, `${group} ONE`)).toEqual([records[0]]);
    expect(await named(kind, group)).toEqual([]);
    expect(await named(kind, '')).toEqual([]);
    const search = `${path}?search=${group.slice(2).toUpperCase()}%20`;
    expect((await walk(admin, search, 1)).items).toEqual(records);
    expect((await admin.get(`${search}&name=${group}%20two`)).body.items).toEqual([records[1]]);
  });
});

const changeable = Object.entries(kinds).filter(([, { patch }]) => patch);

describe.each(changeable)('a %s', (_, kind) => {
  const { path } = kind;

  it('200 for a patch, which leaves other members unchanged', async () => {
    const record = await made(kind);
    service.clock.advance(1000);
    const name = fresh();
    const { status, body } = await admin.patch(`${path}/${record.id}`, { name });
    expect(status).toBe(200);
    expect(body).toEqual({ ...record, name, updatedAt: iso() });
    service.clock.advance(1000);
    const changed = (await admin.patch(`${path}/${record.id}`, { ...kind.patch, name: fresh() }))
      .body;
    expect(changed).toEqual({ ...body, name: `Name ${count}`, ...kind.patched, updatedAt: iso() });
    expect((await admin.get(`${path}/${record.id}`)).body).toEqual(changed);
  });

  it('200 and nothing changes for an empty patch, or for current values', async () => {
    const record = await made(kind);
    service.clock.advance(1000);
    for (const patch of [{}, { name: record.name }, ...(kind.unchanging ?? [])])
      expect((await admin.patch(`${path}/${record.id}`, patch)).body).toEqual(record);
  });

  it('409 for a patch to a name that is taken, but not to its own in another case', async () => {
    const [one, other] = [await made(kind), await made(kind)];
    const taken = await admin.patch(`${path}/${one.id}`, {
      ...kind.patch,
      name: other.name.toUpperCase(),
    });
    expectProblem(taken, 'name_taken', { existingId: other.id });
    expect((await admin.get(`${path}/${one.id}`)).body).toEqual(one);
    const name = one.name.toUpperCase();
    expect((await admin.patch(`${path}/${one.id}`, { name })).body.name).toBe(name);
  });

  it('400 for a patch with an unknown member, and nothing changes', async () => {
    const record = await made(kind);
    const answer = await admin.patch(`${path}/${record.id}`, { name: fresh(), id: unknownId });
    expectProblem(answer, 'invalid_request', {
      errors: [{ path: '/id', message: expect.any(String) }],
    });
    expect((await admin.get(`${path}/${record.id}`)).body).toEqual(record);
  });
});

describe('a list', () => {
  it('has stable pages while records are created and deleted', async () => {
    const made = [];
    for (const name of ['Page 1', 'Page 2', 'Page 3', 'Page 4']) made.push(await admin.venue(name));
    const first = (await admin.get('/v1/venues?search=page&limit=2')).body;
    const late = await admin.venue('Page 5');
    await admin.delete(`/v1/venues/${made[1].id}`);
    const next = `/v1/venues?search=page&limit=200&cursor=${first.nextCursor}`;
    expect((await admin.get(next)).body.items).toEqual([made[2], made[3], late]);
  });

  it('400 for an unknown or repeated parameter, and a malformed cursor', async () => {
    for (const [query, path] of [
      ['lable=a:b&limit=5', 'query.lable'],
      ['limit=5&limit=6', 'query.limit'],
      ['cursor=5', 'query.cursor'],
      ['cursor=x', 'query.cursor'],
    ]) {
      const answer = await admin.get(`/v1/venues?${query}`);
      expectProblem(answer, 'invalid_request', { errors: [expect.objectContaining({ path })] });
    }
  });
});
