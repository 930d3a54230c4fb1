import { beforeAll, describe, expect, it } from 'vitest';
import {
  expectInvalid,
  expectProblem,
  type Manager,
  manager,
  unknownId,
  walk,
} from '../../support/management.ts';
import { startService, type TestService } from '../../support/service.ts';

let service: TestService;
let admin: Manager;
let count = 0;
const fresh = () => `Venue ${++count}`;
const names = async (query: string) =>
  (await admin.get(`/v1/venues${query}`)).body.items.map((venue: { name: string }) => venue.name);

beforeAll(async () => {
  service = await startService();
  admin = manager(service);
});

describe('POST /v1/venues', () => {
  it('201 with the record and its Location', async () => {
    const name = fresh();
    const body = {
      name,
      address: 'Lange Straße 12',
      timezone: 'Europe/Berlin',
      labels: { region: 'north' },
    };
    const answer = await admin.post('/v1/venues', body);
    expect(answer.status).toBe(201);
    const { id, tenantId, createdAt } = answer.body;
    expect(answer.body).toEqual({ id, tenantId, ...body, createdAt, updatedAt: createdAt });
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(createdAt).toBe(new Date(service.clock.now()).toISOString());
    expect(answer.headers.get('location')).toBe(`/v1/venues/${id}`);
    expect((await admin.get(`/v1/venues/${id}`)).body).toEqual(answer.body);
  });

  it('201 with null for omitted members', async () => {
    expect((await admin.post('/v1/venues', { name: fresh() })).body).toMatchObject({
      address: null,
      timezone: null,
      labels: {},
    });
    const nulls = { address: null, timezone: null, labels: null };
    expect((await admin.post('/v1/venues', { name: fresh(), ...nulls })).body).toMatchObject({
      address: null,
      timezone: null,
      labels: {},
    });
  });

  it('201 with the name trimmed and in NFC', async () => {
    const { body } = await admin.post('/v1/venues', { name: '  Cafe\u0301 du Nord\t' });
    expect(body.name).toBe('Café du Nord');
  });

  it('201 with a name of 200 characters', async () => {
    expect((await admin.post('/v1/venues', { name: 'n'.repeat(200) })).status).toBe(201);
  });

  it.each([
    ['empty', ''],
    ['only spaces', '  \t '],
    ['201 characters', 'n'.repeat(201)],
    ['a slash', 'a/b'],
    ['a control character', 'a\u0007b'],
    ['a line break', 'a\nb'],
    ['a C1 control character', 'a\u0085b'],
    ['half a surrogate pair', 'a\ud800b'],
    ['no string', 7],
    ['null', null],
  ])('400 for a name that is %s', async (_, name) => {
    const before = (await walk(admin, '/v1/venues', 200)).items.length;
    expectInvalid(await admin.post('/v1/venues', { name }), '/name');
    expect((await walk(admin, '/v1/venues', 200)).items).toHaveLength(before);
  });

  it('400 naming every invalid and unknown member', async () => {
    const body = {
      adress: 'x',
      timezone: 'Mars/Olympus',
      address: 7,
      labels: { 'a:b': 'x', ok: 'fine', bad: 5 },
      id: unknownId,
    };
    expectInvalid(
      await admin.post('/v1/venues', body),
      '/name',
      '/adress',
      '/timezone',
      '/address',
      '/labels/a:b',
      '/labels/bad',
      '/id',
    );
  });

  it.each([
    ['a list', '[]', ''],
    ['text', '"venue"', ''],
    ['null', 'null', ''],
  ])('400 for a body that is %s', async (_, body, path) =>
    expectInvalid(await admin.post('/v1/venues', body), path),
  );

  it.each(['', '{"name":', '{"name":"x",}', "{'name':'x'}"])(
    '400 invalid_json for %j',
    async (body) => {
      expectProblem(
        await admin.send('POST', '/v1/venues', {
          body,
          headers: { 'Content-Type': 'application/json' },
        }),
        'invalid_json',
      );
    },
  );

  it('400 for labels beyond their limits', async () => {
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`k${index}`, 'v']));
    expectInvalid(await admin.post('/v1/venues', { name: fresh(), labels: many }), '/labels');
    const { k64: _, ...most } = many;
    expect((await admin.post('/v1/venues', { name: fresh(), labels: most })).status).toBe(201);
    const labels = { ['k'.repeat(101)]: 'v', '': 'v', v: 'v'.repeat(201), c: 'a\u0000' };
    expectInvalid(
      await admin.post('/v1/venues', { name: fresh(), labels }),
      `/labels/${'k'.repeat(101)}`,
      '/labels/',
      '/labels/v',
      '/labels/c',
    );
  });

  it('409 name_taken with existingId, without regard to case, spaces and normal form', async () => {
    const { id } = await admin.venue('Ärztehaus');
    for (const name of ['Ärztehaus', 'ÄRZTEHAUS', ' a\u0308rztehaus ']) {
      expectProblem(await admin.post('/v1/venues', { name }), 'name_taken', { existingId: id });
    }
    expect(await names(`?name=${encodeURIComponent('ärztehaus')}`)).toEqual(['Ärztehaus']);
  });

  it('409 for one of two simultaneous requests', async () => {
    const name = fresh();
    const both = await Promise.all([
      admin.post('/v1/venues', { name }),
      admin.post('/v1/venues', { name }),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    const [won, lost] = both.toSorted((a, b) => a.status - b.status);
    expect(lost!.body.existingId).toBe(won!.body.id);
  });
});

describe('GET /v1/venues/:id', () => {
  it('200 for an id in any case', async () => {
    const venue = await admin.venue(fresh());
    expect((await admin.get(`/v1/venues/${venue.id.toUpperCase()}`)).body).toEqual(venue);
  });

  it.each([unknownId, 'lobby', '123', `${unknownId}0`, '%2e%2e%2f', '%ff'])(
    '404 venue_not_found for %s',
    async (id) => {
      expectProblem(await admin.get(`/v1/venues/${id}`), 'venue_not_found');
    },
  );
});

describe('PATCH /v1/venues/:id', () => {
  it('200 leaves unnamed members unchanged', async () => {
    const venue = await admin.venue(fresh(), {
      address: 'here',
      timezone: 'Europe/Berlin',
      labels: { a: '1' },
    });
    service.clock.advance(1000);
    const name = fresh();
    const { status, body } = await admin.patch(`/v1/venues/${venue.id}`, { name });
    expect(status).toBe(200);
    expect(body).toEqual({
      ...venue,
      name,
      updatedAt: new Date(service.clock.now()).toISOString(),
    });
    expect((await admin.get(`/v1/venues/${venue.id}`)).body).toEqual(body);
  });

  it('200 with null clears address and timezone', async () => {
    const venue = await admin.venue(fresh(), { address: 'here', timezone: 'Europe/Berlin' });
    const { body } = await admin.patch(`/v1/venues/${venue.id}`, { address: null, timezone: null });
    expect(body).toMatchObject({ name: venue.name, address: null, timezone: null });
  });

  it('200 merges labels, and null removes one or all', async () => {
    const { id } = await admin.venue(fresh(), { labels: { a: '1', b: '2' } });
    const patched = async (labels: unknown) =>
      (await admin.patch(`/v1/venues/${id}`, { labels })).body.labels;
    expect(await patched({ b: null, c: '3', gone: null })).toEqual({ a: '1', c: '3' });
    expect(await patched({})).toEqual({ a: '1', c: '3' });
    expect(await patched(null)).toEqual({});
  });

  it('200 and nothing changes for an empty patch, or for current values', async () => {
    const venue = await admin.venue(fresh(), { labels: { a: '1' } });
    service.clock.advance(1000);
    for (const patch of [{}, { name: venue.name }, { labels: { a: '1' } }, { address: null }]) {
      expect((await admin.patch(`/v1/venues/${venue.id}`, patch)).body).toEqual(venue);
    }
  });

  it('200 for another case of its own name', async () => {
    const { id } = await admin.venue('quiet corner');
    expect((await admin.patch(`/v1/venues/${id}`, { name: 'Quiet Corner' })).body.name).toBe(
      'Quiet Corner',
    );
  });

  it('200 for application/merge-patch+json', async () => {
    const { id } = await admin.venue(fresh());
    const headers = { 'Content-Type': 'application/merge-patch+json' };
    expect(
      (await admin.send('PATCH', `/v1/venues/${id}`, { body: { address: 'there' }, headers })).body
        .address,
    ).toBe('there');
  });

  it('400 for unknown and read-only members, and nothing changes', async () => {
    const venue = await admin.venue(fresh());
    expectInvalid(
      await admin.patch(`/v1/venues/${venue.id}`, {
        address: 'x',
        tenantId: unknownId,
        id: unknownId,
      }),
      '/tenantId',
      '/id',
    );
    expectInvalid(
      await admin.patch(`/v1/venues/${venue.id}`, { address: 'x', name: null }),
      '/name',
    );
    expect((await admin.get(`/v1/venues/${venue.id}`)).body).toEqual(venue);
  });

  it('400 when the labels become too many', async () => {
    const labels = Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`k${index}`, 'v']));
    const { id } = await admin.venue(fresh(), { labels });
    expectInvalid(await admin.patch(`/v1/venues/${id}`, { labels: { another: 'v' } }), '/labels');
    expect(
      (await admin.patch(`/v1/venues/${id}`, { labels: { another: 'v', k0: null } })).status,
    ).toBe(200);
  });

  it('404 before the body is validated', async () => {
    expectProblem(
      await admin.patch(`/v1/venues/${unknownId}`, { nonsense: true }),
      'venue_not_found',
    );
  });

  it('409 name_taken with existingId, and nothing changes', async () => {
    const one = await admin.venue(fresh());
    const other = await admin.venue(fresh());
    const answer = await admin.patch(`/v1/venues/${one.id}`, {
      name: other.name.toUpperCase(),
      address: 'x',
    });
    expectProblem(answer, 'name_taken', { existingId: other.id });
    expect((await admin.get(`/v1/venues/${one.id}`)).body).toEqual(one);
  });
});

describe('DELETE /v1/venues/:id', () => {
  it('204 deletes it and its config; the name is free again', async () => {
    const venue = await admin.venue(fresh());
    await admin.put(`/v1/venues/${venue.id}/config`, { syncIntervalMinutes: 9 });
    const answer = await admin.delete(`/v1/venues/${venue.id}`);
    expect(answer).toMatchObject({ status: 204, text: '' });
    expectProblem(await admin.get(`/v1/venues/${venue.id}`), 'venue_not_found');
    expectProblem(await admin.get(`/v1/venues/${venue.id}/config`), 'venue_not_found');
    expectProblem(await admin.delete(`/v1/venues/${venue.id}`), 'venue_not_found');
    expect((await admin.venue(venue.name)).id).not.toBe(venue.id);
  });

  it('409 venue_not_empty while it has screens, without changes', async () => {
    const venue = await admin.venue(fresh());
    const screen = await admin.screen(venue.id, 'Lobby');
    await admin.put(`/v1/venues/${venue.id}/config`, { syncIntervalMinutes: 9 });
    expectProblem(await admin.delete(`/v1/venues/${venue.id}`), 'venue_not_empty');
    expect((await admin.get(`/v1/venues/${venue.id}`)).body).toEqual(venue);
    expect((await admin.get(`/v1/venues/${venue.id}/config`)).status).toBe(200);
    await admin.delete(`/v1/screens/${screen.id}`);
    expect((await admin.delete(`/v1/venues/${venue.id}`)).status).toBe(204);
  });
});

describe('GET /v1/venues', () => {
  let made: { id: string; name: string }[];

  beforeAll(async () => {
    service = await startService();
    admin = manager(service);
    made = [];
    for (let number = 1; number <= 7; number++) made.push(await admin.venue(`Hall ${number}`));
  });

  it('200 with all, in order of creation', async () => {
    const { status, body } = await admin.get('/v1/venues');
    expect(status).toBe(200);
    expect(body).toEqual({ items: made, nextCursor: null });
  });

  it.each([1, 2, 3, 6, 7, 200])(
    '200 page by page, %i at a time, each exactly once',
    async (limit) => {
      const { items, pages } = await walk(admin, '/v1/venues', limit);
      expect(items).toEqual(made);
      expect(pages).toBe(Math.ceil(made.length / limit));
    },
  );

  it('200 pages stay stable while others are created and deleted', async () => {
    const first = (await admin.get('/v1/venues?limit=3')).body;
    expect(first.nextCursor).toEqual(expect.any(String));
    const late = await admin.venue('Late hall');
    await admin.delete(`/v1/venues/${first.items[2].id}`);
    const rest = (await admin.get(`/v1/venues?limit=200&cursor=${first.nextCursor}`)).body;
    expect(rest.items.map(({ id }: { id: string }) => id)).toEqual(
      [...made.slice(3), late].map(({ id }) => id),
    );
    await admin.delete(`/v1/venues/${late.id}`);
    made.splice(2, 1);
  });

  it('200 with at most 50 by default', async () => {
    const many = await startService();
    const caller = manager(many);
    await Promise.all(Array.from({ length: 51 }, (_, index) => caller.venue(`Room ${index}`)));
    const { items, nextCursor } = (await caller.get('/v1/venues')).body;
    expect(items).toHaveLength(50);
    expect((await caller.get(`/v1/venues?cursor=${nextCursor}`)).body).toMatchObject({
      items: [{}],
      nextCursor: null,
    });
  });

  it.each(['0', '201', '-1', '1.5', 'x', '', '1e9'])('400 for limit=%s', async (limit) => {
    expectInvalid(await admin.get(`/v1/venues?limit=${limit}`), 'query.limit');
  });

  it.each(['', 'x', '5'])('400 for cursor=%s', async (cursor) => {
    expectInvalid(await admin.get(`/v1/venues?cursor=${cursor}`), 'query.cursor');
  });

  it('400 for an unknown or repeated parameter', async () => {
    expectInvalid(await admin.get('/v1/venues?lable=a:b&limit=5'), 'query.lable');
    expectInvalid(await admin.get('/v1/venues?limit=5&limit=6'), 'query.limit');
    expectInvalid(await admin.get('/v1/venues?name=a&name=b'), 'query.name');
  });

  it('200 filtered by the whole name in any case', async () => {
    expect(await names('?name=hall%204')).toEqual(['Hall 4']);
    expect(await names('?name=Hall')).toEqual([]);
    expect(await names('?name=')).toEqual([]);
  });

  it('200 filtered by search, for any part in any case', async () => {
    expect(await names('?search=ALL%204')).toEqual(['Hall 4']);
    expect(await names('?search=hall')).toHaveLength(made.length);
    expect(await names('?search=cellar')).toEqual([]);
    expect(await names('?search=hall&name=hall%205')).toEqual(['Hall 5']);
  });

  it('200 with filters over several pages', async () => {
    expect((await walk(admin, '/v1/venues?search=hall', 2)).items).toEqual(made);
  });
});
