import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import {
  auditOf,
  expectInvalid,
  item,
  type Manager,
  manager,
  unknownId,
  walk,
} from '../../support/service/management.ts';
import { type Answer, startService, type TestService } from '../../support/service/service.ts';

let service: TestService;
let platform: Manager;
let admin: Manager;
let tenantId: string;
let tokenId: string;
let tokenName: string;
let venue: { id: string; name: string };
let screen: { id: string; name: string };
let count = 0;
const fresh = () => `Name ${++count}`;

beforeAll(async () => {
  service = await startService();
  tenantId = (await manager(service).get('/v1/me')).body.tenantId;
  platform = manager(service).in(tenantId);
  admin = await platform.as('admin');
  ({ tokenId, name: tokenName } = (await admin.get('/v1/me')).body);
  venue = await admin.venue('Hall');
  screen = await admin.screen(venue.id, 'Lobby');
});

const withRequestId = { 'X-Request-Id': 'audited-1' };
const send = (method: string, path: string, body?: unknown) =>
  admin.send(method, path, { body, headers: withRequestId });

interface Expected {
  kind: string;
  /** Default: the id of the created record. */
  id?: string;
  details?: object;
  actor?: object;
}

/** Expects that a change leaves one complete entry, and returns the answer. */
async function expectEntry(
  action: string,
  sending: () => Promise<Answer>,
  expected: Expected | ((body: Answer['body']) => Expected),
): Promise<Answer['body']> {
  let body: Answer['body'];
  const entries = await auditOf(platform, async () => {
    const answer = await sending();
    expect(answer.status, answer.text).toBeLessThan(300);
    ({ body } = answer);
  });
  const { kind, id, ...more } = typeof expected === 'function' ? expected(body) : expected;
  expect(entries).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      at: new Date(service.clock.now()).toISOString(),
      actor: { kind: 'token', id: tokenId, name: tokenName },
      action,
      address: '127.0.0.1',
      requestId: 'audited-1',
      details: {},
      subject: { kind, id: id ?? body.id },
      ...more,
    },
  ]);
  return body;
}

describe('each change leaves exactly one entry', () => {
  it('venue.create, venue.update, venue.delete', async () => {
    const name = fresh();
    const creation = { name, address: 'here' };
    const subject = { kind: 'venue', details: { name } };
    const create = () => send('POST', '/v1/venues', creation);
    const { id } = await expectEntry('venue.create', create, subject);
    const path = `/v1/venues/${id}`;
    const update = () => send('PATCH', path, { address: null });
    await expectEntry('venue.update', update, { ...subject, id });
    await expectEntry('venue.delete', () => send('DELETE', path), { ...subject, id });
  });

  it('screen.create, screen.update, screen.delete', async () => {
    const details = { name: fresh(), venueId: venue.id };
    const subject = { kind: 'screen', details };
    const { id } = await expectEntry(
      'screen.create',
      () => send('POST', '/v1/screens', details),
      subject,
    );
    const path = `/v1/screens/${id}`;
    const update = () => send('PATCH', path, { labels: { a: '1' } });
    await expectEntry('screen.update', update, { ...subject, id });
    const { deviceId } = await service.tv(id);
    await expectEntry('screen.delete', () => send('DELETE', `${path}?force=true`), {
      kind: 'screen',
      id,
      details: { ...details, deviceId },
    });
  });

  it('code.create, code.cancel, device.register, device.revoke', async () => {
    const { id: screenId } = await admin.screen(venue.id, fresh());
    const ofScreen = { kind: 'screen', id: screenId };
    const codes = '/v1/devices/provisioning-codes';
    const create = () => send('POST', codes, { screenId });
    const { code } = await expectEntry('code.create', create, ofScreen);
    await expectEntry('code.cancel', () => send('DELETE', `${codes}/${code}`), ofScreen);
    const next = (await create()).body.code;
    const sent = { deviceInfo: { deviceName: 'Lobby TV' }, headers: withRequestId };
    const register = () => service.register(next, sent);
    const { deviceId: id } = await expectEntry('device.register', register, ({ deviceId }) => ({
      kind: 'device',
      id: deviceId,
      actor: { kind: 'device', id: deviceId, name: 'Lobby TV' },
      details: { screenId },
    }));
    const revoke = () => send('POST', `/v1/devices/${id}/revoke`, { reason: 'stolen' });
    const details = { screenId, reason: 'stolen' };
    await expectEntry('device.revoke', revoke, { kind: 'device', id, details });
  });

  it('playlist.publish, playlist.withdraw', async () => {
    const path = `/v1/screens/${screen.id}/playlist`;
    const subject = (version: number) => ({
      kind: 'screen',
      id: screen.id,
      details: { version },
    });
    for (const version of [1, 2]) {
      const publish = () => send('PUT', path, { items: [item({ duration: version })] });
      await expectEntry('playlist.publish', publish, subject(version));
    }
    await expectEntry('playlist.withdraw', () => send('DELETE', path), subject(2));
  });

  it.each(['screen', 'venue', 'tenant'])('config.set, config.unset of a %s', async (kind) => {
    const id = { screen: screen.id, venue: venue.id, tenant: tenantId }[kind]!;
    const path = `/v1/${kind}s/${id}/config`;
    const set = () => send('PUT', path, { syncIntervalMinutes: 7 });
    await expectEntry('config.set', set, { kind, id });
    await expectEntry('config.unset', () => send('DELETE', path), { kind, id });
  });

  it('token.create, token.delete', async () => {
    const details = { name: fresh(), role: 'viewer' };
    const subject = { kind: 'token', details };
    const create = () => send('POST', '/v1/tokens', details);
    const { id } = await expectEntry('token.create', create, subject);
    await expectEntry('token.delete', () => send('DELETE', `/v1/tokens/${id}`), {
      ...subject,
      id,
    });
  });

  it('tenant.create, tenant.update, tenant.delete', async () => {
    const name = fresh();
    const other = await platform.tenant(name);
    const inside = platform.in(other.id);
    const subject = { kind: 'tenant', id: other.id };
    const created = await inside.get('/v1/audit?action=tenant.create');
    expect(created.body.items).toMatchObject([{ subject, details: { name } }]);
    const details = { name: `${name} B` };
    const updated = await auditOf(inside, () => platform.patch(`/v1/tenants/${other.id}`, details));
    expect(updated).toMatchObject([{ action: 'tenant.update', subject, details }]);
    const token = await inside.newToken({ name: fresh(), role: 'viewer' });
    const deleted = await auditOf(platform, () => platform.delete(`/v1/tenants/${other.id}`));
    // Its tokens are deleted with it, each with an entry. The tenant itself cannot be read any
    // more.
    const ofToken = { name: token.name, role: 'viewer', tenantId: other.id };
    expect(deleted.toSorted((a, b) => (a.action < b.action ? -1 : 1))).toMatchObject([
      { action: 'tenant.delete', subject, details },
      { action: 'token.delete', subject: { kind: 'token', id: token.id }, details: ofToken },
    ]);
  });
});

describe('a request that changes nothing leaves no entry', () => {
  it.each<[string, () => [method: string, path: string, body?: object]]>([
    [
      'the same playlist again',
      () => ['PUT', `/v1/screens/${screen.id}/playlist`, { items: [item({ duration: 9 })] }],
    ],
    [
      'the same config again',
      () => ['PUT', `/v1/venues/${venue.id}/config`, { syncIntervalMinutes: 9 }],
    ],
    ['removing a config that is not there', () => ['DELETE', `/v1/screens/${screen.id}/config`]],
    ['an empty patch of a screen', () => ['PATCH', `/v1/screens/${screen.id}`, {}]],
    [
      'a patch that a venue has already',
      () => ['PATCH', `/v1/venues/${venue.id}`, { name: venue.name, labels: {} }],
    ],
    ['an empty patch of a tenant', () => ['PATCH', `/v1/tenants/${tenantId}`, {}]],
    ['reading', () => ['GET', '/v1/venues']],
  ])('%s', async (_, request) => {
    const [method, path, body] = request();
    const work = () => platform.send(method, path, { body });
    await work();
    expect(await auditOf(platform, work)).toEqual([]);
  });

  it('a second revoke, a second withdrawal', async () => {
    const tv = await service.tv();
    await admin.put(`/v1/screens/${tv.screenId}/playlist`, { items: [item()] });
    const both = async () => {
      expect((await admin.post(`/v1/devices/${tv.deviceId}/revoke`)).status).toBe(200);
      expect((await admin.delete(`/v1/screens/${tv.screenId}/playlist`)).status).toBe(204);
    };
    expect(await auditOf(platform, both)).toHaveLength(2);
    expect(await auditOf(platform, both)).toEqual([]);
  });

  it('a rejected request', async () => {
    const viewer = await admin.as('viewer');
    const refused = async () => {
      await viewer.post('/v1/venues', { name: fresh() });
      await admin.post('/v1/venues', { name: venue.name });
      await admin.delete(`/v1/venues/${venue.id}`);
      await admin.post('/v1/venues', { name: '' });
      await service.register('AAAAAAAA');
    };
    // Rejected requests of tokens have an entry of their own.
    expect(
      (await auditOf(platform, refused)).filter(({ action }) => action !== 'access.denied'),
    ).toEqual([]);
  });
});

describe('GET /v1/audit', () => {
  const listed = async (query: string) => (await admin.get(`/v1/audit${query}`)).body.items;

  it('200 newest first, page by page, each exactly once, also while entries are added', async () => {
    service.clock.advance(1000);
    await admin.venue(fresh());
    const all = (await walk(admin, '/v1/audit', 200)).items;
    expect(all.length).toBeGreaterThan(10);
    const times = all.map(({ at }) => at);
    expect(times).toEqual(times.toSorted().toReversed());
    expect((await walk(admin, '/v1/audit', 3)).items).toEqual(all);
    const first = (await admin.get('/v1/audit?limit=4')).body;
    await admin.venue(fresh());
    const second = (await admin.get(`/v1/audit?limit=4&cursor=${first.nextCursor}`)).body;
    expect([...first.items, ...second.items]).toEqual(all.slice(0, 8));
  });

  it('200 filtered by action, subject and time', async () => {
    service.clock.advance(5000);
    const fromSeconds = service.clock.now() / 1000;
    const { id } = await admin.venue(fresh());
    service.clock.advance(1000);
    await admin.patch(`/v1/venues/${id}`, { address: 'x' });
    const [updated, created] = await listed(`?subjectId=${id.toUpperCase()}`);
    expect([updated.action, created.action]).toEqual(['venue.update', 'venue.create']);
    expect(await listed(`?subjectId=${id}&action=venue.create`)).toEqual([created]);
    expect(await listed(`?from=${fromSeconds}&to=${fromSeconds + 1}`)).toEqual([created]);
    expect(await listed(`?from=${updated.at}`)).toEqual([updated]);
    expect(await listed(`?subjectId=${unknownId}`)).toEqual([]);
    expect(await listed('?action=venue.painted')).toEqual([]);
  });

  it('400 for an unknown parameter, a malformed time or cursor', async () => {
    for (const query of ['subjectId=x', 'to=1-1', 'cursor=x', 'actor=x'])
      expectInvalid(await admin.get(`/v1/audit?${query}`), `query.${query.split('=')[0]}`);
  });

  it('200 with entries without a tenant for platform tokens only', async () => {
    const mine = await walk(admin, '/v1/audit', 200);
    const ofPlatform = await auditOf(platform, () => platform.as('platform'));
    expect(ofPlatform).toMatchObject([{ action: 'token.create', details: { role: 'platform' } }]);
    expect((await walk(admin, '/v1/audit', 200)).items).toEqual(mine.items);
  });

  it('200 with the actions of the service itself at its start', async () => {
    const first = await startService();
    const { items } = (await manager(first).get('/v1/audit')).body;
    const bySystem = {
      actor: { kind: 'system', id: null, name: null },
      address: null,
      requestId: null,
    };
    expect(items).toMatchObject([
      { action: 'token.create', ...bySystem },
      { action: 'tenant.create', ...bySystem },
    ]);
  });
});

describe('a token that is rejected with 403', () => {
  const denied = async (id: string) =>
    (await platform.get(`/v1/audit?action=access.denied&subjectId=${id}&limit=200`)).body.items;
  const who = async (caller: Manager) => (await caller.get('/v1/me')).body;

  it('leaves access.denied at once, and a count of further rejections when the minute ends', async () => {
    const viewer = await admin.as('viewer');
    const { tokenId: id, name } = await who(viewer);
    for (let n = 0; n < 5; n++)
      expect((await viewer.post('/v1/venues', { name: 'x' })).status).toBe(403);
    const entry = (count: number) => ({
      action: 'access.denied',
      actor: { kind: 'token', id, name },
      subject: { kind: 'token', id },
      address: '127.0.0.1',
      details: { operation: 'createVenue', role: 'viewer', count },
    });
    await expect.poll(() => denied(id)).toMatchObject([entry(1)]);
    service.clock.advance(60_000);
    await expect.poll(() => denied(id)).toMatchObject([entry(4), entry(1)]);
    service.clock.advance(60_000);
    await viewer.post('/v1/venues', { name: 'x' });
    await expect.poll(() => denied(id)).toHaveLength(3);
  });

  it('is recorded per operation, even when the service layer rejects the request', async () => {
    const operator = await admin.as('operator');
    const second = await platform.as('admin');
    const { tokenId: id } = await who(operator);
    await Promise.all([operator.get('/v1/audit'), operator.post('/v1/tokens', {})]);
    await expect.poll(() => denied(id)).toHaveLength(2);
    const operations = (await denied(id)).map((one: Answer['body']) => one.details.operation);
    expect(operations.toSorted()).toEqual(['createToken', 'listAudit']);
    const { tokenId } = await who(second);
    expect((await second.post('/v1/tokens', { name: 'above', role: 'platform' })).status).toBe(403);
    await expect.poll(() => denied(tokenId)).toHaveLength(1);
  });

  it('leaves no entry for an unknown token', async () => {
    const before = (await walk(platform, '/v1/audit', 200)).items.length;
    const misspelt = admin.token.slice(0, -1) + (admin.token.endsWith('0') ? '1' : '0');
    expect((await manager(service, misspelt).post('/v1/venues', {})).status).toBe(401);
    expect((await walk(platform, '/v1/audit', 200)).items).toHaveLength(before);
  });

  it('is recorded before a clean stop', async () => {
    const store = await temporaryFolder();
    const stopped = await startService({ store });
    const viewer = await manager(stopped).as('viewer');
    const { tokenId: id } = await who(viewer);
    for (let n = 0; n < 3; n++) await viewer.post('/v1/venues', { name: 'x' });
    await stopped.close();
    const again = await startService({ store });
    const path = `/v1/audit?action=access.denied&subjectId=${id}`;
    const { items } = (await manager(again).get(path)).body;
    expect(items).toMatchObject([{ details: { count: 2 } }, { details: { count: 1 } }]);
    await again.close();
  });
});
