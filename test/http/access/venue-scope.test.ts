// What tokens that are bound to venues see in lists, and may name in bodies. Operations on records
// are in authorization.test.ts.

import { beforeAll, describe, expect, it } from 'vitest';
import { type RequiredRole, type Role, rankedRoles } from '../../../src/domain/records/role.ts';
import {
  type Operation,
  type OperationId,
  operations,
} from '../../../src/wire/operations/operations.ts';
import {
  auditOf,
  expectProblem,
  impression,
  item,
  type Manager,
  manager,
  unknownId,
  walk,
} from '../../support/service/management.ts';
import { idOf, someFile, upload, uploadPart } from '../../support/service/media.ts';
import { type Answer, startService, type TestService } from '../../support/service/service.ts';

type Management = [OperationId, Operation & { access: RequiredRole }];
type Body = Answer['body'];

const table = Object.entries<Operation>(operations).filter(
  ([, { path, access }]) => path.startsWith('/v1/') && access !== 'public',
) as Management[];
const ofTenants = table.filter(([, { access }]) => access !== 'platform' && access !== 'backup');
const withoutRecord = ofTenants.filter(([, { record }]) => !record);
const tenantRoles = rankedRoles.filter((role) => role !== 'platform');

let service: TestService;
let platform: Manager;
let home: string;
/** An admin of the whole tenant. */
let whole: Manager;
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
  /** The secret of a shared ticket. */
  ticket: string;
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
  const creation = { name: `Token of ${name}`, role: 'viewer', venueIds: [venueId] };
  const { id: tokenId } = await whole.newToken(creation);
  const { code: pending } = await whole.code((await whole.screen(venueId, 'Spare')).id);
  const { ticket } = (await whole.post('/v1/tickets', { venueId, uses: 9 })).body;
  return { venueId, screenId: screen.id, deviceId, tokenId, code: pending, ticket };
}

const shares = '99999999-9999-4999-8999-999999999999';
const own = (digit: number) => `${String(digit).repeat(8)}-0000-4000-8000-000000000000`;

/** Returns a caller with a token bound to these venues. */
async function boundTo(role: Role, ...venueIds: string[]): Promise<Manager> {
  const { token } = await whole.newToken({ name: `${role} ${++count}`, role, venueIds });
  return manager(service, token);
}

beforeAll(async () => {
  service = await startService();
  platform = manager(service);
  home = (await platform.get('/v1/me')).body.tenantId;
  whole = await platform.as('admin');
  inside = await fillPlace('Inside', { campaignId: own(1), creativeId: own(2) });
  outside = await fillPlace('Outside', { campaignId: own(3), creativeId: own(4) });
  await whole.put(`/v1/tenants/${home}/config`, { syncIntervalMinutes: 9 });
  bound = {} as typeof bound;
  for (const role of tenantRoles) bound[role] = await boundTo(role, inside.venueId);
});

const newScreen = ({ venueId }: Place) => whole.screen(venueId, `TV ${++count}`);

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

/** Expects that a list shows a bound token all items inside and no others, page by page too. */
async function expectInside(
  path: string,
  belongs: (item: Body) => boolean,
  { caller = bound.viewer, othersExist = true } = {},
): Promise<void> {
  const { items } = await walk(whole, path, 200);
  const own = items.filter(belongs);
  expect(own).not.toEqual([]);
  // A list without other items would prove nothing.
  expect(own.length < items.length).toBe(othersExist);
  for (const limit of [3, 200]) expect((await walk(caller, path, limit)).items).toEqual(own);
}

const nothing = { items: [], nextCursor: null };

/** Expects that a list is empty for a bound token with each of these queries. */
async function expectNothing(noun: string, ...queries: string[]): Promise<void> {
  for (const query of queries)
    expect((await bound.viewer.get(`/v1/${noun}?${query}`)).body, query).toEqual(
      noun === 'status' ? { ...nothing, restoredWebhooks: 0 } : nothing,
    );
}

/** A statement is about the whole tenant. */
async function refusedToBound(method: string, path: string, body?: object): Promise<void> {
  const answer = await bound.admin.send(method, path, body ? { body } : {});
  expectProblem(answer, 'insufficient_role');
}

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
    await expectNothing('venues', 'name=Outside', `cursor=${inside.venueId}`);
    const { items } = (await bound.viewer.get('/v1/venues?search=side')).body;
    expect(items.map(({ name }: Body) => name)).toEqual(['Inside']);
  },

  async createVenue() {
    for (const body of [{ name: 'Outside' }, { name: `Room ${++count}` }, { nonsense: 1 }])
      await expectNoChange(async () =>
        expectProblem(await bound.admin.post('/v1/venues', body), 'insufficient_role'),
      );
  },

  async listScreens() {
    const isInside = ({ venueId }: Body) => venueId === inside.venueId;
    for (const filter of ['', '?name=Main', '?label=floor:1&state=active', '?selector=floor%3D1'])
      await expectInside(`/v1/screens${filter}`, isInside);
    await expectInside(`/v1/screens?venueId=${inside.venueId}`, isInside, { othersExist: false });
    await expectNothing('screens', `venueId=${outside.venueId}`, `venueId=${unknownId}`);
  },

  async listScreenStatus() {
    await expectInside('/v1/status', ({ screen }) => screen.venueId === inside.venueId);
    await expectNothing('status', `venueId=${outside.venueId}`, `venueId=${unknownId}`);
  },

  async createScreen() {
    const create = (venueId: string) =>
      bound.operator.post('/v1/screens', { venueId, name: `TV ${++count}` });
    expect((await create(inside.venueId)).status).toBe(201);
    await expectNoChange(async () => {
      const foreign = await create(outside.venueId);
      expectProblem(foreign, 'venue_not_found');
      expect(bare(foreign)).toBe(bare(await create(unknownId)));
    });
  },

  async createCode() {
    const create = (screenId: string) =>
      bound.installer.post('/v1/devices/provisioning-codes', { screenId });
    expect((await create((await newScreen(inside)).id)).status).toBe(201);
    const { id: free } = await newScreen(outside);
    await expectNoChange(async () => {
      const absent = await create(unknownId);
      for (const screenId of [free, outside.screenId]) {
        const foreign = await create(screenId);
        expectProblem(foreign, 'screen_not_found');
        expect(bare(foreign)).toBe(bare(absent));
      }
    });
  },

  async listTickets() {
    await expectInside('/v1/tickets', ({ venueId }) => venueId === inside.venueId, {
      caller: bound.installer,
    });
    const { items } = (await bound.installer.get(`/v1/tickets?venueId=${outside.venueId}`)).body;
    expect(items).toEqual([]);
  },

  async listClaims() {
    for (const { ticket } of [inside, outside])
      await service.send('POST', '/devices/claims', { body: { deviceInfo: {}, ticket } });
    await expectInside('/v1/devices/claims', ({ venueId }) => venueId === inside.venueId, {
      caller: bound.installer,
    });
  },

  async createTicket() {
    const { id } = await newScreen(inside);
    expect((await bound.installer.post('/v1/tickets', { screenId: id })).status).toBe(201);
    const away = (await newScreen(outside)).id;
    await expectNoChange(async () => {
      const { venueId } = outside;
      const link = await bound.installer.post('/v1/tickets', { screenId: away });
      expectProblem(link, 'screen_not_found');
      const shared = await bound.installer.post('/v1/tickets', { venueId, uses: 1 });
      expectProblem(shared, 'venue_not_found');
    });
  },

  async listDevices() {
    for (const filter of ['', '?state=bound', '?selector=floor%3D1'])
      await expectInside(`/v1/devices${filter}`, ({ id }) => id === inside.deviceId);
    await expectNothing(
      'devices',
      `venueId=${outside.venueId}`,
      `screenId=${outside.screenId}`,
      `venueId=${inside.venueId}&screenId=${outside.screenId}`,
    );
  },

  async listEvents() {
    const [after] = (await whole.get(`/v1/events?screenId=${outside.screenId}&limit=1`)).body.items;
    for (const order of ['asc', 'desc'])
      await expectInside(
        `/v1/events?order=${order}`,
        ({ screenId }) => screenId === inside.screenId,
      );
    await expectNothing(
      'events',
      `screenId=${outside.screenId}`,
      `deviceId=${outside.deviceId}`,
      `order=asc&after=${after.id}`,
    );
  },

  async listNotices() {
    const { items } = await walk(bound.viewer, '/v1/notices', 20);
    expect(items.map(({ type }) => type)).toEqual(expect.arrayContaining(['screen.paired']));
    expect(items.filter(({ venueId }) => venueId !== inside.venueId)).toEqual([]);
    const all = (await walk(whole, '/v1/notices', 200)).items;
    expect(all.filter(({ venueId }) => venueId === inside.venueId)).toEqual(items);
    expect(all.length).toBeGreaterThan(items.length);
  },

  async reportImpressions() {
    const rows = async (caller: Manager, query: string) =>
      (await caller.get(`/v1/reports/impressions?${query}`)).body.items.map(
        ({ key, impressions, seconds }: Body) => ({ key, impressions, seconds }),
      );
    const own1 = { key: own(1), impressions: 1, seconds: 10 };
    const sharing = { key: shares, impressions: 1, seconds: 5 };
    const all = { impressions: 2, seconds: 15 };
    for (const [query, expected] of [
      ['', [own1, sharing]],
      ['groupBy=creative', [{ ...own1, key: own(2) }, sharing]],
      ['groupBy=screen', [{ key: inside.screenId, ...all }]],
      ['groupBy=venue&by=received', [{ key: inside.venueId, ...all }]],
      ['groupBy=day', [{ key: '2026-09-21', ...all }]],
    ] as const)
      expect(await rows(bound.viewer, query)).toEqual(expected);
    expect((await rows(whole, '')).map(({ key }: Body) => key)).toEqual([own(1), own(3), shares]);
    const csv = await bound.viewer.send('GET', '/v1/reports/impressions?groupBy=venue', {
      headers: { Accept: 'text/csv' },
    });
    expect(csv.text.split('\r\n')[1]).toMatch(`${inside.venueId},2,15,`);
  },

  async reportPlays() {
    const screens = async (caller: Manager) => {
      const { text } = await caller.send('GET', '/v1/reports/plays');
      const lines = text.split('\n').filter(Boolean);
      return new Set(lines.map((line) => JSON.parse(line).screenId));
    };
    expect(await screens(bound.viewer)).toEqual(new Set([inside.screenId]));
    expect(await screens(whole)).toEqual(new Set([inside.screenId, outside.screenId]));
  },

  async reportCoverage() {
    const screens = async (caller: Manager) =>
      (await caller.get('/v1/reports/coverage')).body.items.map(({ key }: Body) => key);
    expect(await screens(bound.viewer)).toEqual([inside.screenId]);
    expect(await screens(whole)).toEqual([inside.screenId, outside.screenId].sort());
  },

  async listRequests() {
    for (const { screenId } of [inside, outside])
      await service.send('GET', `/devices/${screenId}/config`);
    await expectInside('/v1/requests', ({ screenId }) => screenId === inside.screenId, {
      caller: bound.operator,
    });
    for (const query of [`screenId=${outside.screenId}`, `deviceId=${outside.deviceId}`])
      expect((await bound.operator.get(`/v1/requests?${query}`)).body).toEqual(nothing);
  },

  async listAudit() {
    const inHere = new Set(Object.values(inside));
    for (const noun of ['screens', 'tokens', 'devices'])
      for (const { id } of (await walk(bound.admin, `/v1/${noun}`, 200)).items) inHere.add(id);
    // The other entries belong to deleted venues, tokens and TVs.
    const { items } = await walk(bound.admin, '/v1/audit', 20);
    const told = ['venue.create', 'screen.create', 'code.create', 'device.register'];
    told.push('playlist.publish', 'config.set', 'token.create');
    expect(items.map(({ action }) => action)).toEqual(expect.arrayContaining(told));
    const standing = items.filter(({ action }) => /\.(create|register|publish|set)$/.test(action));
    const outOfReach = [...Object.values(outside), home];
    expect(standing.filter(({ subject }) => outOfReach.includes(subject.id))).toEqual([]);
    const seen = new Set(items.map(({ id }) => id));
    const all = (await walk(whole, '/v1/audit', 200)).items;
    const missed = all.filter(({ id, subject }) => inHere.has(subject.id) && !seen.has(id));
    expect(missed).toEqual([]);
    for (const id of [outside.screenId, home])
      expect((await bound.admin.get(`/v1/audit?subjectId=${id}`)).body).toEqual(nothing);
  },

  async listWebhooks() {
    for (const { venueId } of [inside, outside])
      await whole.post('/v1/webhooks', { url: 'https://receiver.example/', venueIds: [venueId] });
    await expectInside(
      '/v1/webhooks',
      ({ venueIds }) => venueIds?.length === 1 && venueIds[0] === inside.venueId,
      { caller: bound.admin },
    );
  },

  async createWebhook() {
    const make = (body: object) =>
      bound.admin.post('/v1/webhooks', { url: 'https://receiver.example/', ...body });
    for (const venueIds of [undefined, null, [inside.venueId]]) {
      const made = await make({ venueIds });
      expect([made.status, made.body.venueIds]).toEqual([201, [inside.venueId]]);
    }
    await expectNoChange(async () => {
      const absent = await make({ venueIds: [unknownId] });
      for (const venueIds of [[outside.venueId], [inside.venueId, outside.venueId]]) {
        const foreign = await make({ venueIds });
        expectProblem(foreign, 'venue_not_found');
        expect(bare(foreign)).toBe(bare(absent));
      }
    });
  },

  async listTokens() {
    await expectInside(
      '/v1/tokens',
      ({ venueIds }) => venueIds?.length === 1 && venueIds[0] === inside.venueId,
      { caller: bound.admin },
    );
    const venueIds = [inside.venueId, outside.venueId];
    const both = await whole.newToken({ name: `Both ${++count}`, role: 'viewer', venueIds });
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

  // test/http/media/media.test.ts tells what a bound token sees.
  async publishMany() {
    const screenIds = [inside.screenId, outside.screenId];
    const publication = { screenIds, action: 'publish', items: [item({ duration: 77 })] };
    const { results } = (await bound.operator.post('/v1/publications', publication)).body;
    expect(results).toMatchObject([
      { screenId: inside.screenId, changed: true },
      { screenId: outside.screenId, code: 'screen_not_found' },
    ]);
    const { body } = await whole.get(`/v1/screens/${outside.screenId}/playlist`);
    expect(body.items[0].duration).not.toBe(77);
    const all = { venueId: outside.venueId, action: 'withdraw' };
    expectProblem(await bound.operator.post('/v1/publications', all), 'venue_not_found');
  },
  async identifyTvs() {
    const venueIds = [inside.venueId, outside.venueId];
    const { body } = await bound.installer.post('/v1/identify', { venueIds, seconds: 1 });
    expect(body.notFound).toEqual([outside.venueId]);
  },
  async reloadTvs() {
    const screenIds = [inside.screenId, outside.screenId];
    const { body } = await bound.installer.post('/v1/reload', { screenIds });
    expect(body.notFound).toEqual([outside.screenId]);
  },
  async putMedia() {
    expect((await upload(bound.operator, someFile(++count))).status).toBe(201);
  },
  async listMedia() {
    const file = someFile(++count);
    await upload(whole, file);
    expect((await bound.admin.get('/v1/media')).text).not.toContain(idOf(file));
  },
  async getMediaUpload() {
    const file = someFile(++count, 300_000);
    await uploadPart(whole, file, 0, 262_144);
    const { body } = await bound.operator.get(`/v1/media/${idOf(file)}/upload`);
    expect(body).toEqual({ received: 262_144 });
  },

  async listCampaigns() {
    await whole.put('/v1/campaigns/summer', { bookedPlays: 5 });
    expect((await whole.get('/v1/campaigns')).body.items).toHaveLength(1);
    await expectNothing('campaigns', '', 'name=summer');
    // The name of a campaign reveals nothing of its booking.
    const { items } = (await bound.viewer.get('/v1/reports/impressions')).body;
    expect(items.filter((row: object) => 'bookedPlays' in row)).toEqual([]);
    expect((await whole.get('/v1/reports/impressions')).text).toContain('bookedPlays');
  },
  async putCampaign() {
    for (const name of ['summer', 'winter'])
      await expectNoChange(async () =>
        expectProblem(
          await bound.admin.put(`/v1/campaigns/${name}`, { bookedPlays: 6 }),
          'insufficient_role',
        ),
      );
  },
  startStatements: () => refusedToBound('POST', '/v1/statements', { campaign: 'summer' }),
  listStatements: () => refusedToBound('GET', '/v1/statements'),
  getStatementRows: () => refusedToBound('GET', '/v1/statements/rows'),
  resumeStatements: () => refusedToBound('POST', '/v1/statements/resume', { campaign: 'summer' }),

  async listMirror() {
    // Without an object store here; test/http/playlists/mirror.test.ts has one.
    expectProblem(await bound.operator.get('/v1/mirror'), 'not_supported');
  },
  async repairMirror() {
    expectProblem(await bound.operator.post('/v1/mirror/repair'), 'not_supported');
  },
};

describe('with a token that is bound to venues', () => {
  it.each(withoutRecord)('%s is limited to them', async (id) => {
    const rule = rules[id];
    if (!rule) throw new Error(`${id} names no record: say here what a bound token may see of it`);
    await rule();
  });

  it('reads and changes several venues', async () => {
    const both = await boundTo('operator', inside.venueId, outside.venueId);
    const other = (await whole.venue(`Room ${++count}`)).id;
    const ids = (await walk(both, '/v1/venues', 1)).items.map(({ id }) => id);
    expect(ids).toEqual([inside.venueId, outside.venueId]);
    expect((await both.get(`/v1/venues/${other}`)).status).toBe(404);
    const { items } = (await both.get('/v1/reports/impressions')).body;
    expect(items.find(({ key }: Body) => key === shares)).toMatchObject({
      key: shares,
      name: null,
      impressions: 2,
      seconds: 10,
    });
    for (const { screenId } of [inside, outside])
      expect((await both.get(`/v1/screens/${screenId}/playlist`)).status).toBe(200);
  });

  it('gets name_taken for a name outside without existingId, and for one inside with it', async () => {
    const fresh = await whole.venue(`Room ${++count}`);
    const caller = await boundTo('admin', fresh.id);
    const creation = { role: 'viewer', venueIds: [fresh.id] };
    for (const taken of [
      await caller.patch(`/v1/venues/${fresh.id}`, { name: 'outside' }),
      await caller.post('/v1/tokens', { ...creation, name: 'Token of Outside' }),
    ]) {
      expectProblem(taken, 'name_taken');
      expect(taken.body).not.toHaveProperty('existingId');
    }
    const { id: existingId } = await caller.screen(fresh.id, 'Main');
    const screen = await caller.post('/v1/screens', { venueId: fresh.id, name: 'main' });
    expectProblem(screen, 'name_taken', { existingId });
    const own = await caller.newToken({ ...creation, name: 'Own' });
    const again = await caller.post('/v1/tokens', { ...creation, name: 'Own' });
    expectProblem(again, 'name_taken', { existingId: own.id });
  });

  it('is not woken by events outside while it follows events', async () => {
    const [last] = (await bound.viewer.get('/v1/events?limit=1')).body.items;
    const held = bound.viewer.get(`/v1/events?order=asc&after=${last.id}&waitSeconds=30`);
    const tell = async (place: Place) => {
      const { screenId, apiKey } = await whole.tv((await newScreen(place)).id);
      await service.send('POST', `/devices/${screenId}/events`, {
        key: apiKey,
        body: [{ type: 'log', timestamp: 1 }],
      });
      return screenId;
    };
    await tell(outside);
    const screenId = await tell(inside);
    expect((await held).body.items.map((one: Body) => one.screenId)).toEqual([screenId]);
  });

  it('still reads a code after its screen was deleted', async () => {
    const { id } = await newScreen(inside);
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

describe('an admin of another tenant', () => {
  let foreign: Manager;
  beforeAll(async () => {
    foreign = await platform.in((await platform.tenant('Other')).id).as('admin');
  });

  it.each(['venues', 'screens', 'status', 'devices', 'events', 'requests'])(
    'sees an empty list of %s, whatever filter or cursor it names',
    async (noun) => {
      const { items, nextCursor } = (await whole.get(`/v1/${noun}?limit=1`)).body;
      expect(items).toHaveLength(1);
      const filters: Record<string, string> = {
        screens: `&venueId=${inside.venueId}`,
        status: `&venueId=${inside.venueId}`,
        devices: `&screenId=${inside.screenId}`,
        events: `&screenId=${inside.screenId}`,
        requests: `&deviceId=${inside.deviceId}`,
      };
      for (const query of ['', filters[noun] ?? '', `&cursor=${nextCursor}`])
        expect((await foreign.get(`/v1/${noun}?limit=200${query}`)).body).toEqual(
          noun === 'status' ? { ...nothing, restoredWebhooks: 0 } : nothing,
        );
    },
  );

  it('sees its own tokens and audit entries only, and no impressions', async () => {
    const { tokenId, tenantId } = (await foreign.get('/v1/me')).body;
    expect((await foreign.get('/v1/tokens')).body.items.map(({ id }: Body) => id)).toEqual([
      tokenId,
    ]);
    const { items } = (await foreign.get('/v1/audit')).body;
    expect(items.map(({ subject }: Body) => subject.id)).toEqual([tokenId, tenantId]);
    expect((await foreign.get('/v1/reports/impressions')).body.items).toEqual([]);
  });
});
