import { beforeAll, describe, expect, it } from 'vitest';
import {
  auditOf,
  expectInvalid,
  item,
  type Manager,
  manager,
  unknownId,
  walk,
} from '../../support/management.ts';
import { startService, type TestService } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

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

/**
 * Expects that `work` leaves one complete entry. `subject` and `details` may be functions of its
 * result.
 */
async function expectEntry(
  work: () => Promise<{ status: number; body: { id?: string } }>,
  expected: (body: { id?: string }) => object,
) {
  let answered: Awaited<ReturnType<typeof work>> | undefined;
  const entries = await auditOf(platform, async () => {
    answered = await work();
    expect(answered.status).toBeLessThan(300);
  });
  expect(entries).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      at: new Date(service.clock.now()).toISOString(),
      actor: { kind: 'token', id: tokenId, name: tokenName },
      address: '127.0.0.1',
      requestId: 'audited-1',
      details: {},
      ...expected(answered!.body),
    },
  ]);
}

const send = (method: string, path: string, body?: unknown) =>
  admin.send(method, path, { body, headers: { 'X-Request-Id': 'audited-1' } });

describe('each change leaves exactly one entry', () => {
  it('venue.create, venue.update, venue.delete', async () => {
    const name = fresh();
    await expectEntry(
      () => send('POST', '/v1/venues', { name, address: 'here' }),
      ({ id }) => ({ action: 'venue.create', subject: { kind: 'venue', id }, details: { name } }),
    );
    const { id } = (await admin.get(`/v1/venues?name=${name}`)).body.items[0];
    const subject = { kind: 'venue', id };
    const details = { name };
    await expectEntry(
      () => send('PATCH', `/v1/venues/${id}`, { address: null }),
      () => ({ action: 'venue.update', subject, details }),
    );
    await expectEntry(
      () => send('DELETE', `/v1/venues/${id}`),
      () => ({ action: 'venue.delete', subject, details }),
    );
  });

  it('screen.create, screen.update, screen.delete', async () => {
    const name = fresh();
    const details = { name, venueId: venue.id };
    await expectEntry(
      () => send('POST', '/v1/screens', { venueId: venue.id, name }),
      ({ id }) => ({ action: 'screen.create', subject: { kind: 'screen', id }, details }),
    );
    const { id } = (await admin.get(`/v1/screens?name=${name}`)).body.items[0];
    const subject = { kind: 'screen', id };
    await expectEntry(
      () => send('PATCH', `/v1/screens/${id}`, { labels: { a: '1' } }),
      () => ({ action: 'screen.update', subject, details }),
    );
    const { deviceId } = await service.tv(id);
    await expectEntry(
      () => send('DELETE', `/v1/screens/${id}?force=true`),
      () => ({ action: 'screen.delete', subject, details: { ...details, deviceId } }),
    );
  });

  it('code.create, code.cancel, device.register, device.revoke', async () => {
    const { id: screenId } = await admin.screen(venue.id, fresh());
    const subject = { kind: 'screen', id: screenId };
    let code = '';
    const create = async () => {
      const answer = await send('POST', '/v1/devices/provisioning-codes', { screenId });
      ({ code } = answer.body);
      return answer;
    };
    await expectEntry(create, () => ({ action: 'code.create', subject }));
    await expectEntry(
      () => send('DELETE', `/v1/devices/provisioning-codes/${code}`),
      () => ({ action: 'code.cancel', subject }),
    );
    await create();
    const deviceInfo = { deviceName: 'Lobby TV' };
    let deviceId = '';
    await expectEntry(
      async () => {
        const answer = await service.register(code, {
          deviceInfo,
          headers: { 'X-Request-Id': 'audited-1' },
        });
        ({ deviceId } = answer.body);
        return answer;
      },
      () => ({
        action: 'device.register',
        actor: { kind: 'device', id: deviceId, name: 'Lobby TV' },
        subject: { kind: 'device', id: deviceId },
        details: { screenId },
      }),
    );
    await expectEntry(
      () => send('POST', `/v1/devices/${deviceId}/revoke`, { reason: 'stolen' }),
      () => ({
        action: 'device.revoke',
        subject: { kind: 'device', id: deviceId },
        details: { screenId, reason: 'stolen' },
      }),
    );
  });

  it('playlist.publish, playlist.withdraw', async () => {
    const subject = { kind: 'screen', id: screen.id };
    const path = `/v1/screens/${screen.id}/playlist`;
    for (const version of [1, 2]) {
      await expectEntry(
        () => send('PUT', path, { items: [item({ duration: version })] }),
        () => ({ action: 'playlist.publish', subject, details: { version } }),
      );
    }
    await expectEntry(
      () => send('DELETE', path),
      () => ({ action: 'playlist.withdraw', subject, details: { version: 2 } }),
    );
  });

  it('config.set, config.unset, at each level', async () => {
    for (const [kind, id] of [
      ['screen', screen.id],
      ['venue', venue.id],
      ['tenant', tenantId],
    ]) {
      const subject = { kind, id };
      await expectEntry(
        () => send('PUT', `/v1/${kind}s/${id}/config`, { syncIntervalMinutes: 7 }),
        () => ({ action: 'config.set', subject }),
      );
      await expectEntry(
        () => send('DELETE', `/v1/${kind}s/${id}/config`),
        () => ({ action: 'config.unset', subject }),
      );
    }
  });

  it('token.create, token.delete', async () => {
    const details = { name: fresh(), role: 'viewer' };
    let id: string | undefined;
    await expectEntry(
      () => send('POST', '/v1/tokens', details),
      (body) => {
        id = body.id;
        return { action: 'token.create', subject: { kind: 'token', id }, details };
      },
    );
    await expectEntry(
      () => send('DELETE', `/v1/tokens/${id}`),
      () => ({ action: 'token.delete', subject: { kind: 'token', id }, details }),
    );
  });

  it('tenant.create, tenant.update, tenant.delete', async () => {
    const name = fresh();
    const other = await platform.tenant(name);
    const inside = platform.in(other.id);
    const subject = { kind: 'tenant', id: other.id };
    expect((await inside.get('/v1/audit?action=tenant.create')).body.items).toContainEqual(
      expect.objectContaining({ subject, details: { name } }),
    );
    const entries = await auditOf(inside, () =>
      platform.patch(`/v1/tenants/${other.id}`, { name: `${name} B` }),
    );
    expect(entries).toEqual([
      expect.objectContaining({ action: 'tenant.update', subject, details: { name: `${name} B` } }),
    ]);
    const { id, name: tokenName } = (
      await inside.post('/v1/tokens', { name: fresh(), role: 'viewer' })
    ).body;
    const deleted = await auditOf(platform, () => platform.delete(`/v1/tenants/${other.id}`));
    // Its tokens are deleted with it, each with an entry. The tenant itself cannot be read any
    // more.
    expect(deleted).toHaveLength(2);
    expect(deleted).toContainEqual(
      expect.objectContaining({ action: 'tenant.delete', subject, details: { name: `${name} B` } }),
    );
    expect(deleted).toContainEqual(
      expect.objectContaining({
        action: 'token.delete',
        subject: { kind: 'token', id },
        details: { name: tokenName, role: 'viewer', tenantId: other.id },
      }),
    );
  });
});

describe('a request that changes nothing leaves no entry', () => {
  it.each<[string, () => Promise<{ status: number }>]>([
    [
      'the same playlist again',
      () => send('PUT', `/v1/screens/${screen.id}/playlist`, { items: [item({ duration: 9 })] }),
    ],
    [
      'the same config again',
      () => send('PUT', `/v1/venues/${venue.id}/config`, { syncIntervalMinutes: 9 }),
    ],
    [
      'removing a config that is not there',
      () => send('DELETE', `/v1/screens/${screen.id}/config`),
    ],
    ['an empty patch of a venue', () => send('PATCH', `/v1/venues/${venue.id}`, {})],
    ['an empty patch of a screen', () => send('PATCH', `/v1/screens/${screen.id}`, {})],
    [
      'a patch that a venue has already',
      () => send('PATCH', `/v1/venues/${venue.id}`, { name: venue.name, labels: {} }),
    ],
    ['an empty patch of a tenant', () => platform.patch(`/v1/tenants/${tenantId}`, {})],
    ['reading', () => admin.get('/v1/venues')],
  ])('%s', async (_, work) => {
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

  it('200 newest first, page by page, each exactly once', async () => {
    service.clock.advance(1000);
    await admin.venue(fresh());
    const all = (await walk(admin, '/v1/audit', 200)).items;
    expect(all.length).toBeGreaterThan(10);
    expect(all.map(({ at }) => at)).toEqual(
      all
        .map(({ at }) => at)
        .toSorted()
        .toReversed(),
    );
    expect((await walk(admin, '/v1/audit', 3)).items).toEqual(all);
  });

  it('200 with stable pages while entries are added', async () => {
    const before = (await walk(admin, '/v1/audit', 200)).items;
    const first = (await admin.get('/v1/audit?limit=4')).body;
    await admin.venue(fresh());
    const second = (await admin.get(`/v1/audit?limit=4&cursor=${first.nextCursor}`)).body;
    expect([...first.items, ...second.items]).toEqual(before.slice(0, 8));
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
    expect(ofPlatform).toEqual([
      expect.objectContaining({
        action: 'token.create',
        details: expect.objectContaining({ role: 'platform' }),
      }),
    ]);
    expect((await walk(admin, '/v1/audit', 200)).items).toEqual(mine.items);
  });

  it('200 with the actions of the service itself at its start', async () => {
    const first = await startService();
    const { items } = (await manager(first).get('/v1/audit')).body;
    expect(items.map(({ action }: { action: string }) => action)).toEqual([
      'token.create',
      'tenant.create',
    ]);
    for (const entry of items) {
      expect(entry).toMatchObject({
        actor: { kind: 'system', id: null, name: null },
        address: null,
        requestId: null,
      });
    }
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
    await expect.poll(() => denied(id)).toHaveLength(1);
    const entry = {
      action: 'access.denied',
      actor: { kind: 'token', id, name },
      subject: { kind: 'token', id },
      address: '127.0.0.1',
    };
    expect(await denied(id)).toEqual([
      expect.objectContaining({
        ...entry,
        details: { operation: 'createVenue', role: 'viewer', count: 1 },
      }),
    ]);
    service.clock.advance(60_000);
    await expect.poll(() => denied(id)).toHaveLength(2);
    expect((await denied(id))[0]).toMatchObject({
      ...entry,
      details: { operation: 'createVenue', count: 4 },
    });
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
    expect(
      (await denied(id))
        .map(({ details }: { details: { operation: string } }) => details.operation)
        .sort(),
    ).toEqual(['createToken', 'listAudit']);
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
    const { items } = (await manager(again).get(`/v1/audit?action=access.denied&subjectId=${id}`))
      .body;
    expect(items.map(({ details }: { details: { count: number } }) => details.count)).toEqual([
      2, 1,
    ]);
    await again.close();
  });
});
