// Limited tokens: every management operation, by expired tokens and by tokens bound to venues.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  mayAct,
  type RequiredRole,
  type Role,
  rankedRoles,
} from '../../../src/domain/records/role.ts';
import { type Operation, type OperationId, operations } from '../../../src/wire/operations.ts';
import {
  auditOf,
  expectProblem,
  impression,
  item,
  type Manager,
  manager,
  unknownId,
  walk,
} from '../../support/management.ts';
import { operationCalls } from '../../support/operation-calls.ts';
import { type Answer, startService, type TestService } from '../../support/service.ts';

type Management = [OperationId, Operation & { access: RequiredRole }];
type Body = Answer['body'];

const table = Object.entries<Operation>(operations).filter(([, { path }]) =>
  path.startsWith('/v1/'),
) as Management[];
const ofTenants = table.filter(([, { access }]) => access !== 'platform' && access !== 'backup');
/** A claim belongs to no tenant. */
const withRecord = ofTenants.filter(([, { record }]) => record && record !== 'claim');
const tenantRoles = rankedRoles.filter((role) => role !== 'platform');

let service: TestService;
let platform: Manager;
let home: string;
/** An admin of the whole tenant. */
let whole: Manager;
let calls: ReturnType<typeof operationCalls>;
/**
 * Each place has a screen, a TV that has played, a playlist, configs, a pairing code, and a token
 * of its own.
 */
let inside: Place;
let outside: Place;
/** Callers that are bound to the venue inside, by role. */
let bound: Record<Role, Manager>;
let count = 0;

interface Place {
  venueId: string;
  screenId: string;
  deviceId: string;
  tokenId: string;
  code: string;
}

/** `campaign` and `creative` are the last digits of their ids. */
async function fillPlace(
  name: string,
  ids: { campaignId: string; creativeId: string },
): Promise<Place> {
  const { id: venueId } = await whole.venue(name);
  const screen = await whole.screen(venueId, 'Main', { labels: { floor: '1' } });
  const { code } = await whole.code(screen.id);
  const { deviceId, apiKey } = (await service.register(code)).body;
  const shared = impression({ campaignId: shares, creativeId: shares, duration: 5 });
  const events = [
    impression({ ...ids, duration: 10 }),
    shared,
    { type: 'heartbeat', timestamp: 1_790_000_000 },
  ];
  await service.send('POST', `/devices/${screen.id}/events`, { key: apiKey, body: events });
  await whole.put(`/v1/screens/${screen.id}/playlist`, { items: [item()] });
  await whole.put(`/v1/screens/${screen.id}/config`, { syncIntervalMinutes: 7 });
  await whole.put(`/v1/venues/${venueId}/config`, { syncIntervalMinutes: 8 });
  const token = await whole.post('/v1/tokens', {
    name: `Token of ${name}`,
    role: 'viewer',
    venueIds: [venueId],
  });
  const { code: pending } = await whole.code((await whole.screen(venueId, 'Spare')).id);
  return { venueId, screenId: screen.id, deviceId, tokenId: token.body.id, code: pending };
}

const shares = '99999999-9999-4999-8999-999999999999';
const own = (digit: number) => `${String(digit).repeat(8)}-0000-4000-8000-000000000000`;

/** Returns a caller with a token bound to these venues. */
async function boundTo(role: Role, ...venueIds: string[]): Promise<Manager> {
  const { status, text, body } = await whole.post('/v1/tokens', {
    name: `${role} ${++count}`,
    role,
    venueIds,
  });
  expect(status, text).toBe(201);
  return manager(service, body.token);
}

beforeAll(async () => {
  service = await startService();
  platform = manager(service);
  home = (await platform.get('/v1/me')).body.tenantId;
  whole = await platform.as('admin');
  calls = operationCalls(service, whole, home);
  inside = await fillPlace('Inside', { campaignId: own(1), creativeId: own(2) });
  outside = await fillPlace('Outside', { campaignId: own(3), creativeId: own(4) });
  await whole.put(`/v1/tenants/${home}/config`, { syncIntervalMinutes: 9 });
  bound = {} as typeof bound;
  for (const role of tenantRoles) bound[role] = await boundTo(role, inside.venueId);
});

/** Expects that `work` changes nothing in the tenant. */
async function expectNoChange(work: () => Promise<void>): Promise<void> {
  const newest = async () => {
    const { items } = (await platform.get('/v1/audit?limit=200')).body;
    // Rejections are recorded asynchronously.
    return items.find(({ action }: { action: string }) => action !== 'access.denied').id;
  };
  const before = await newest();
  await work();
  expect(await newest()).toBe(before);
}

const bare = ({ text, body }: Answer) => text.replaceAll(body.requestId, '');
const headerNames = ({ headers }: Answer) =>
  [...headers.keys()].filter((name) => name !== 'date').toSorted();

describe('a token that has expired', () => {
  /** Expired, never used tokens of each kind of role. */
  let expired: Record<'viewer' | 'admin' | 'platform', { id: string; caller: Manager }>;

  async function brief(role: Role): Promise<{ id: string; caller: Manager }> {
    const expiresAt = new Date(service.clock.now() + 3_600_000).toISOString();
    const { body } = await platform.post('/v1/tokens', {
      name: `Brief ${++count}`,
      role,
      expiresAt,
    });
    return { id: body.id, caller: manager(service, body.token) };
  }

  beforeAll(async () => {
    expired = {
      viewer: await brief('viewer'),
      admin: await brief('admin'),
      platform: await brief('platform'),
    };
    service.clock.advance(3_600_000);
  });

  it.each(['viewer', 'platform'] as const)(
    'works until the last millisecond, with the role %s',
    async (role) => {
      const { caller } = await brief(role);
      service.clock.advance(3_599_999);
      expect((await caller.get('/v1/me')).status).toBe(200);
      service.clock.advance(1);
      expectProblem(await caller.get('/v1/me'), 'credential_expired');
    },
  );

  it.each(table)(
    '%s: 401 credential_expired, before role, record and body are checked, without changes',
    async (_, operation) => {
      const ids = [await calls.makeFor(operation), 'x'];
      await expectNoChange(async () => {
        for (const { caller } of Object.values(expired)) {
          for (const id of ids) {
            const path = operation.path.replace(/:(id|code|claim)/, id);
            const answer = await caller.send(
              operation.method,
              path,
              operation.body ? { body: { nonsense: [] } } : {},
            );
            expectProblem(answer, 'credential_expired');
            expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="signage"/);
          }
        }
      });
      expect((await whole.get(`/v1/tokens/${expired.admin.id}`)).body.lastUsedAt).toBeNull();
    },
  );

  it('stays in the list and keeps its name until it is deleted', async () => {
    const { id, name } = (await whole.get(`/v1/tokens/${expired.admin.id}`)).body;
    expect((await whole.get(`/v1/tokens?name=${name}`)).body.items).toHaveLength(1);
    expectProblem(await whole.post('/v1/tokens', { name, role: 'viewer' }), 'name_taken', {
      existingId: id,
    });
    expect((await whole.delete(`/v1/tokens/${id}`)).status).toBe(204);
    expectProblem(await expired.admin.caller.get('/v1/me'), 'credential_invalid');
  });

  it('does not make its address trusted: 429 as for a stranger', async () => {
    const stranger = await startService();
    const { body } = await manager(stranger).post('/v1/tokens', {
      name: 'Brief',
      role: 'viewer',
      expiresAt: '2026-11-21',
    });
    stranger.clock.advance(48 * 3_600_000);
    expectProblem(await manager(stranger, body.token).get('/v1/me'), 'credential_expired');
    for (let n = 0; n < 10; n++) expect((await stranger.register(`AAAAAAA${n}`)).status).toBe(404);
    expect((await stranger.register('AAAAAAAA')).status).toBe(429);
  });
});

describe.each(withRecord)('%s with a token that is bound to venues', (_, operation) => {
  const isOfTenant = operation.record === 'tenant';

  it.each(tenantRoles.filter((role) => mayAct(role, operation.access)))(
    'is unrestricted inside, for a %s',
    async (role) => {
      if (isOfTenant) return;
      // A venue must be empty to be deleted.
      const fresh = (await whole.venue(`Room ${++count}`)).id;
      const caller = await boundTo(role, fresh);
      const id = await calls.makeFor(operation, fresh);
      const answer = await calls.perform(caller.send, operation, id, fresh);
      // Without an on-demand source.
      if (operation.path.endsWith('/refresh')) return expectProblem(answer, 'not_supported');
      if (answer.status === 404)
        return expect(answer.body.code).toMatch(/^(playlist|config)_not_found$/);
      expect(answer.status, answer.text).toBe(operation.status);
    },
  );

  it.each(tenantRoles.filter((role) => mayAct(role, operation.access)))(
    '404 outside for a %s, byte for byte as for an unknown record, without changes',
    async (role) => {
      const id = await calls.makeFor(operation, isOfTenant ? undefined : outside.venueId);
      const unknown = operation.record === 'pairing_code' ? 'ZZZZZZZZ' : unknownId;
      const { send } = bound[role];
      await expectNoChange(async () => {
        const foreign = await calls.perform(
          send,
          operation,
          operation.record === 'venue' ? outside.venueId : id,
          inside.venueId,
        );
        const absent = await calls.perform(send, operation, unknown, inside.venueId);
        expectProblem(foreign, `${operation.record as 'screen'}_not_found`);
        expect(bare(foreign)).toBe(bare(absent));
        expect(headerNames(foreign)).toEqual(headerNames(absent));
        const path = operation.path.replace(/:(id|code|claim)/, id);
        const nonsense = await send(
          operation.method,
          path,
          operation.body ? { body: { nonsense: [] } } : {},
        );
        expect(bare(nonsense)).toBe(bare(absent));
      });
    },
  );

  it.each(tenantRoles.filter((role) => !mayAct(role, operation.access)))(
    '403 for a %s, inside and outside alike',
    async (role) => {
      for (const id of [
        await calls.makeFor(operation, isOfTenant ? undefined : inside.venueId),
        await calls.makeFor(operation),
        unknownId,
      ])
        expectProblem(
          await calls.perform(bound[role].send, operation, id, inside.venueId),
          'insufficient_role',
        );
    },
  );
});

/**
 * Returns the items of a list that belong to the venue inside, as a token of the whole tenant sees
 * them.
 */
async function itemsInside(path: string, belongs: (item: Body) => boolean): Promise<Body[]> {
  const { items } = await walk(whole, path, 200);
  const own = items.filter(belongs);
  const others = items.filter((one) => !belongs(one));
  // A list without other items would prove nothing.
  expect(own).not.toEqual([]);
  expect(others).not.toEqual([]);
  return own;
}

/** Expects that a list shows a bound token only items inside, page by page too. */
async function expectInside(
  path: string,
  belongs: (item: Body) => boolean,
  caller = bound.viewer,
): Promise<void> {
  const own = await itemsInside(path, belongs);
  for (const limit of [3, 200]) expect((await walk(caller, path, limit)).items).toEqual(own);
}

const nothing = { items: [], nextCursor: null };

/** Rules for operations that name no record. */
const rules: Partial<Record<OperationId, () => Promise<void>>> = {
  async getMe() {
    const { body } = await bound.viewer.get('/v1/me');
    expect(body).toMatchObject({
      tenantId: home,
      tenantName: 'default',
      venueIds: [inside.venueId],
      expiresAt: null,
    });
    expect((await bound.viewer.in(home).get('/v1/me')).status).toBe(200);
    expectProblem(await bound.viewer.in(unknownId).get('/v1/me'), 'tenant_not_found');
  },

  async listVenues() {
    await expectInside('/v1/venues', ({ id }) => id === inside.venueId);
    expect((await bound.viewer.get('/v1/venues?name=Outside')).body).toEqual(nothing);
    expect(
      (await bound.viewer.get('/v1/venues?search=side')).body.items.map(({ name }: Body) => name),
    ).toEqual(['Inside']);
    expect((await bound.viewer.get(`/v1/venues?cursor=${inside.venueId}`)).body).toEqual(nothing);
  },

  async createVenue() {
    for (const body of [{ name: 'Outside' }, { name: `Room ${++count}` }, { nonsense: 1 }])
      await expectNoChange(async () =>
        expectProblem(await bound.admin.post('/v1/venues', body), 'insufficient_role'),
      );
  },

  async listScreens() {
    await expectInside('/v1/screens', ({ venueId }) => venueId === inside.venueId);
    await expectInside('/v1/screens?name=Main', ({ venueId }) => venueId === inside.venueId);
    await expectInside(
      '/v1/screens?label=floor:1&state=active',
      ({ venueId }) => venueId === inside.venueId,
    );
    for (const id of [outside.venueId, unknownId])
      expect((await bound.viewer.get(`/v1/screens?venueId=${id}`)).body).toEqual(nothing);
    expect(
      (await bound.viewer.get(`/v1/screens?venueId=${inside.venueId}`)).body.items,
    ).not.toEqual([]);
  },

  async listScreenStatus() {
    await expectInside('/v1/status', ({ screen }) => screen.venueId === inside.venueId);
    for (const id of [outside.venueId, unknownId])
      expect((await bound.viewer.get(`/v1/status?venueId=${id}`)).body).toEqual(nothing);
  },

  async createScreen() {
    expect(
      (await bound.operator.post('/v1/screens', { venueId: inside.venueId, name: `TV ${++count}` }))
        .status,
    ).toBe(201);
    await expectNoChange(async () => {
      const [foreign, absent] = [outside.venueId, unknownId].map((venueId) =>
        bound.operator.post('/v1/screens', { venueId, name: 'Main' }),
      );
      expectProblem(await foreign!, 'venue_not_found');
      expect(bare(await foreign!)).toBe(bare(await absent!));
    });
  },

  async createCode() {
    const path = '/v1/devices/provisioning-codes';
    expect(
      (await bound.installer.post(path, { screenId: await calls.make.screen(inside.venueId) }))
        .status,
    ).toBe(201);
    const free = await calls.make.screen(outside.venueId);
    await expectNoChange(async () => {
      for (const screenId of [free, outside.screenId]) {
        const [foreign, absent] = [
          await bound.installer.post(path, { screenId }),
          await bound.installer.post(path, { screenId: unknownId }),
        ];
        expectProblem(foreign!, 'screen_not_found');
        expect(bare(foreign!)).toBe(bare(absent!));
      }
    });
  },

  async listDevices() {
    const known = new Map(
      (await walk(whole, '/v1/screens', 200)).items.map(({ id, venueId }) => [id, venueId]),
    );
    await expectInside('/v1/devices', ({ screenId }) => known.get(screenId) === inside.venueId);
    await expectInside(
      '/v1/devices?state=bound',
      ({ screenId }) => known.get(screenId) === inside.venueId,
    );
    for (const query of [
      `venueId=${outside.venueId}`,
      `screenId=${outside.screenId}`,
      `venueId=${inside.venueId}&screenId=${outside.screenId}`,
    ])
      expect((await bound.viewer.get(`/v1/devices?${query}`)).body).toEqual(nothing);
    for (const query of [`venueId=${inside.venueId}`, `screenId=${inside.screenId}`])
      expect(
        (await bound.viewer.get(`/v1/devices?${query}`)).body.items.map(({ id }: Body) => id),
      ).toContain(inside.deviceId);
  },

  async listEvents() {
    for (const order of ['asc', 'desc'])
      await expectInside(
        `/v1/events?order=${order}`,
        ({ screenId }) => screenId === inside.screenId,
      );
    for (const query of [`screenId=${outside.screenId}`, `deviceId=${outside.deviceId}`])
      expect((await bound.viewer.get(`/v1/events?${query}`)).body).toEqual(nothing);
    const [after] = (await whole.get(`/v1/events?screenId=${outside.screenId}&limit=1`)).body.items;
    expect((await bound.viewer.get(`/v1/events?order=asc&after=${after.id}`)).body).toEqual(
      nothing,
    );
  },

  async reportImpressions() {
    const rows = async (caller: Manager, query: string) =>
      (await caller.get(`/v1/reports/impressions?${query}`)).body.items;
    const at = { impressions: 1, seconds: 10 };
    const sharing = { key: shares, impressions: 1, seconds: 5 };
    const all = { impressions: 2, seconds: 15 };
    expect(await rows(bound.viewer, '')).toEqual([{ key: own(1), ...at }, sharing]);
    expect(await rows(bound.viewer, 'groupBy=creative')).toEqual([{ key: own(2), ...at }, sharing]);
    expect(await rows(bound.viewer, 'groupBy=screen')).toEqual([{ key: inside.screenId, ...all }]);
    expect(await rows(bound.viewer, 'groupBy=venue&by=received')).toEqual([
      { key: inside.venueId, ...all },
    ]);
    expect(await rows(bound.viewer, 'groupBy=day')).toEqual([{ key: '2026-09-21', ...all }]);
    expect((await rows(whole, '')).map(({ key }: Body) => key)).toEqual([own(1), own(3), shares]);
    const csv = await bound.viewer.send('GET', '/v1/reports/impressions?groupBy=venue', {
      headers: { Accept: 'text/csv' },
    });
    expect(csv.text).toBe(`key,impressions,seconds\r\n${inside.venueId},2,15\r\n`);
  },

  async listRequests() {
    for (const { screenId } of [inside, outside])
      await service.send('GET', `/devices/${screenId}/config`);
    const { items } = (await whole.get(`/v1/requests?screenId=${outside.screenId}`)).body;
    expect(items).not.toEqual([]);
    const known = new Map(
      (await walk(whole, '/v1/screens', 200)).items.map(({ id, venueId }) => [id, venueId]),
    );
    const listed = (await walk(bound.operator, '/v1/requests', 20)).items;
    expect(listed.map(({ screenId }) => screenId)).toContain(inside.screenId);
    for (const { screenId } of listed) expect(known.get(screenId)).toBe(inside.venueId);
    for (const query of [`screenId=${outside.screenId}`, `deviceId=${outside.deviceId}`])
      expect((await bound.operator.get(`/v1/requests?${query}`)).body).toEqual(nothing);
  },

  async listAudit() {
    const inHere = new Set(Object.values(inside));
    for (const { id } of (await walk(whole, `/v1/screens?venueId=${inside.venueId}`, 200)).items)
      inHere.add(id);
    for (const { id } of (await walk(bound.admin, '/v1/tokens', 200)).items) inHere.add(id);
    for (const { id } of (await walk(bound.admin, '/v1/devices', 200)).items) inHere.add(id);
    // The other entries belong to deleted venues, tokens and TVs.
    const { items } = await walk(bound.admin, '/v1/audit', 20);
    const actions = new Set(items.map(({ action }) => action));
    const told = [
      'venue.create',
      'screen.create',
      'code.create',
      'device.register',
      'playlist.publish',
      'config.set',
      'token.create',
    ];
    expect(told.filter((action) => !actions.has(action))).toEqual([]);
    const standing = items.filter(({ action }) => /\.(create|register|publish|set)$/.test(action));
    for (const { subject } of standing.filter(
      ({ subject: { id } }) => Object.values(outside).includes(id) || id === home,
    ))
      expect(subject).toBeUndefined();
    const seen = new Set(items.map(({ id }) => id));
    const all = (await walk(whole, '/v1/audit', 200)).items;
    const missed = all.filter(({ id, subject }) => inHere.has(subject.id) && !seen.has(id));
    expect(missed).toEqual([]);
    expect((await bound.admin.get(`/v1/audit?subjectId=${outside.screenId}`)).body).toEqual(
      nothing,
    );
    expect((await bound.admin.get(`/v1/audit?subjectId=${home}`)).body).toEqual(nothing);
  },

  async listTokens() {
    await expectInside(
      '/v1/tokens',
      ({ venueIds }) => venueIds?.length === 1 && venueIds[0] === inside.venueId,
      bound.admin,
    );
    const both = (
      await whole.post('/v1/tokens', {
        name: `Both ${++count}`,
        role: 'viewer',
        venueIds: [inside.venueId, outside.venueId],
      })
    ).body;
    expect((await bound.admin.get(`/v1/tokens?name=${both.name}`)).body).toEqual(nothing);
    expectProblem(await bound.admin.delete(`/v1/tokens/${both.id}`), 'token_not_found');
    const wider = await boundTo('admin', outside.venueId, inside.venueId);
    expect((await wider.get(`/v1/tokens?name=${both.name}`)).body.items).toHaveLength(1);
  },

  async createToken() {
    const make = (body: object) =>
      bound.admin.post('/v1/tokens', { name: `Token ${++count}`, role: 'admin', ...body });
    const made = await make({ venueIds: [inside.venueId] });
    expect([made.status, made.body.venueIds]).toEqual([201, [inside.venueId]]);
    await expectNoChange(async () => {
      for (const venueIds of [undefined, null])
        expectProblem(await make({ venueIds }), 'insufficient_role');
      const absent = await make({ venueIds: [unknownId] });
      for (const venueIds of [[outside.venueId], [inside.venueId, outside.venueId]]) {
        const foreign = await make({ venueIds });
        expectProblem(foreign, 'venue_not_found');
        expect(bare(foreign)).toBe(bare(absent));
      }
      expectProblem(await make({ role: 'platform' }), 'insufficient_role');
    });
  },

  async listMirror() {
    // Without an object store here; test/http/playlists/mirror.test.ts has one.
    expectProblem(await bound.operator.get('/v1/mirror'), 'not_supported');
  },
  async repairMirror() {
    expectProblem(await bound.operator.post('/v1/mirror/repair'), 'not_supported');
  },
};

describe('with a token that is bound to venues', () => {
  it.each(ofTenants.filter(([, { record }]) => !record))(
    '%s is limited to them',
    async (id, operation) => {
      const rule = rules[id];
      if (!rule)
        throw new Error(`${id} names no record: say here what a bound token may see of it`);
      await rule();
      for (const role of tenantRoles.filter((one) => !mayAct(one, operation.access)))
        expectProblem(
          await calls.perform(bound[role].send, operation, unknownId, inside.venueId),
          'insufficient_role',
        );
    },
  );

  it.each(table.filter(([, { access }]) => access === 'platform'))(
    '%s is for platform tokens only: 403',
    async (_, operation) => {
      expectProblem(await calls.perform(bound.admin.send, operation, home), 'insufficient_role');
    },
  );

  it('has no rule for unknown operations', () => {
    expect(
      Object.keys(rules).filter(
        (id) => !ofTenants.some(([known, { record }]) => known === id && !record),
      ),
    ).toEqual([]);
  });

  it('reads and changes several venues', async () => {
    const both = await boundTo('operator', inside.venueId, outside.venueId);
    const other = (await whole.venue(`Room ${++count}`)).id;
    const ids = (await walk(both, '/v1/venues', 1)).items.map(({ id }) => id);
    expect(ids).toEqual([inside.venueId, outside.venueId]);
    expect((await both.get(`/v1/venues/${other}`)).status).toBe(404);
    const { items } = (await both.get('/v1/reports/impressions')).body;
    expect(items.find(({ key }: Body) => key === shares)).toEqual({
      key: shares,
      impressions: 2,
      seconds: 10,
    });
    for (const { screenId } of [inside, outside])
      expect((await both.get(`/v1/screens/${screenId}/playlist`)).status).toBe(200);
  });

  it('gets name_taken for a name outside, without existingId', async () => {
    const fresh = await whole.venue(`Room ${++count}`);
    const caller = await boundTo('admin', fresh.id);
    const taken = await caller.patch(`/v1/venues/${fresh.id}`, { name: 'outside' });
    expectProblem(taken, 'name_taken');
    expect(taken.body).not.toHaveProperty('existingId');
    const token = await caller.post('/v1/tokens', {
      name: 'Token of Outside',
      role: 'viewer',
      venueIds: [fresh.id],
    });
    expectProblem(token, 'name_taken');
    expect(token.body).not.toHaveProperty('existingId');
    const { id } = (await caller.post('/v1/screens', { venueId: fresh.id, name: 'Main' })).body;
    expectProblem(
      await caller.post('/v1/screens', { venueId: fresh.id, name: 'main' }),
      'name_taken',
      { existingId: id },
    );
    const own = (
      await caller.post('/v1/tokens', {
        name: `Own ${count}`,
        role: 'viewer',
        venueIds: [fresh.id],
      })
    ).body;
    const again = await caller.post('/v1/tokens', {
      name: `Own ${count}`,
      role: 'viewer',
      venueIds: [fresh.id],
    });
    expectProblem(again, 'name_taken', { existingId: own.id });
  });

  it('is not woken by events outside while it follows events', async () => {
    const [last] = (await bound.viewer.get('/v1/events?limit=1')).body.items;
    const held = bound.viewer.get(`/v1/events?order=asc&after=${last.id}&waitSeconds=30`);
    const tell = async (venueId: string) => {
      const screenId = await calls.make.screen(venueId);
      const { apiKey } = (await service.register((await whole.code(screenId)).code)).body;
      await service.send('POST', `/devices/${screenId}/events`, {
        key: apiKey,
        body: [{ type: 'log', timestamp: 1 }],
      });
      return screenId;
    };
    await tell(outside.venueId);
    const screenId = await tell(inside.venueId);
    expect((await held).body.items.map((one: Body) => one.screenId)).toEqual([screenId]);
  });

  it('still reads a code after its screen was deleted', async () => {
    const id = await calls.make.screen(inside.venueId);
    const { code } = await bound.installer.code(id);
    expect((await whole.delete(`/v1/screens/${id}`)).status).toBe(204);
    const { status, body } = await bound.viewer.get(
      `/v1/devices/provisioning-codes/${code}/status`,
    );
    expect([status, body.status]).toEqual([200, 'cancelled']);
  });

  it('sees nothing once its venues are deleted, nor a new one of that name', async () => {
    const name = `Passing ${++count}`;
    const { id } = await whole.venue(name);
    const caller = await boundTo('admin', id);
    const screen = await caller.screen(id, 'Main');
    const entries = await auditOf(whole, async () => {
      expect((await caller.delete(`/v1/screens/${screen.id}`)).status).toBe(204);
      expect((await caller.delete(`/v1/venues/${id}`)).status).toBe(204);
    });
    const again = await whole.venue(name);
    await whole.screen(again.id, 'Main');
    for (const path of ['venues', 'screens', 'devices', 'events'])
      expect((await caller.get(`/v1/${path}`)).body).toEqual(nothing);
    for (const one of [id, again.id])
      expectProblem(await caller.get(`/v1/venues/${one}`), 'venue_not_found');
    expectProblem(
      await caller.post('/v1/tokens', { name: `Token ${++count}`, role: 'viewer', venueIds: [id] }),
      'venue_not_found',
    );
    expect((await caller.get('/v1/me')).body.venueIds).toEqual([id]);
    // It may still read the audit entries of the venue.
    expect((await caller.get('/v1/audit?limit=2')).body.items).toEqual(entries.toReversed());
  });
});
