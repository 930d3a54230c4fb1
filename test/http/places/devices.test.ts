import { beforeAll, describe, expect, it } from 'vitest';
import {
  expectInvalid,
  expectProblem,
  item,
  type Manager,
  manager,
  unknownId,
  walk,
} from '../../support/management.ts';
import { type BoundTv, startService, type TestService } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let service: TestService;
let admin: Manager;
const minuteMs = 60_000;
const iso = (ms = service.clock.now()) => new Date(ms).toISOString();
const device = async (id: string) => (await admin.get(`/v1/devices/${id}`)).body;

beforeAll(async () => {
  service = await startService();
  admin = manager(service);
});

describe('GET /v1/devices/:id', () => {
  it('200 with all members after registration; null for activity that has not happened', async () => {
    const { code, screenId } = await service.code();
    const registered = (
      await service.register(code, {
        deviceInfo: { model: 'QM55C', macAddress: '02-00-5e-10-00-01', extra: 1 },
      })
    ).body;
    const answer = await admin.get(`/v1/devices/${registered.deviceId}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id: registered.deviceId,
      screenId,
      state: 'bound',
      deviceInfo: {
        manufacturer: null,
        model: 'QM55C',
        osVersion: null,
        appVersion: null,
        macAddress: '02-00-5e-10-00-01',
        ipAddress: null,
        deviceName: null,
        locationHint: null,
      },
      createdAt: iso(),
      lastSeenAt: iso(),
      lastAddress: '127.0.0.1',
      lastPlaylistAt: null,
      lastPlaylistVersion: null,
      lastPlaylistStatus: null,
      lastConfigAt: null,
      lastEventAt: null,
      lastRefusedAt: null,
      online: true,
      lastSeq: null,
      missingEvents: 0,
      conflictingEvents: 0,
      suspendedAt: null,
      suspendReason: null,
      simulated: false,
    });
    expect(answer.text).not.toContain(registered.apiKey);
  });

  it('200 with its latest activity: 404, 200 and 304 for the playlist, config, events', async () => {
    const tv = await service.tv();
    service.clock.advance(1000);
    expect((await tv.send('GET', 'playlist')).status).toBe(404);
    expect(await device(tv.deviceId)).toMatchObject({
      lastPlaylistAt: iso(),
      lastPlaylistStatus: 404,
      lastPlaylistVersion: null,
    });
    await admin.put(`/v1/screens/${tv.screenId}/playlist`, { items: [item()] });
    service.clock.advance(1000);
    const { headers } = await tv.send('GET', 'playlist');
    expect(await device(tv.deviceId)).toMatchObject({
      lastPlaylistAt: iso(),
      lastPlaylistStatus: 200,
      lastPlaylistVersion: 1,
    });
    service.clock.advance(1000);
    expect(
      (await tv.send('GET', 'playlist', { headers: { 'If-None-Match': headers.get('etag')! } }))
        .status,
    ).toBe(304);
    expect(await device(tv.deviceId)).toMatchObject({
      lastPlaylistAt: iso(),
      lastPlaylistStatus: 304,
      lastConfigAt: null,
      lastEventAt: null,
    });
    service.clock.advance(1000);
    await tv.send('GET', 'config');
    expect(await device(tv.deviceId)).toMatchObject({
      lastConfigAt: iso(),
      lastSeenAt: iso(),
      lastEventAt: null,
    });
    service.clock.advance(1000);
    await tv.send('POST', 'events', { body: [{ type: 'heartbeat', timestamp: 1 }] });
    expect(await device(tv.deviceId)).toMatchObject({
      lastEventAt: iso(),
      lastSeenAt: iso(),
      lastPlaylistStatus: 304,
    });
  });

  it('200, and a rejected batch counts as seen, but not as an event', async () => {
    const tv = await service.tv();
    service.clock.advance(1000);
    expect((await tv.send('POST', 'events', { body: [{}] })).status).toBe(400);
    expect(await device(tv.deviceId)).toMatchObject({ lastEventAt: null, lastSeenAt: iso() });
  });

  it('200 with the time of the latest request with a revoked or replaced key', async () => {
    const tv = await service.tv();
    const rotated = await service.tv();
    await admin.post(`/v1/devices/${tv.deviceId}/revoke`);
    expect(await device(tv.deviceId)).toMatchObject({ lastRefusedAt: null });
    const seenAt = (await device(tv.deviceId)).lastSeenAt;
    service.clock.advance(1000);
    for (const what of ['playlist', 'config'] as const)
      expect((await tv.send('GET', what)).status).toBe(401);
    expect(await device(tv.deviceId)).toMatchObject({
      lastRefusedAt: iso(),
      lastSeenAt: seenAt,
      lastPlaylistAt: null,
      online: false,
    });
    const { apiKey: key } = (
      await service.send('POST', `/devices/${rotated.screenId}/keys/rotate`, {
        key: rotated.apiKey,
      })
    ).body;
    expect((await service.send('GET', `/devices/${rotated.screenId}/config`, { key })).status).toBe(
      200,
    );
    expect(await device(rotated.deviceId)).toMatchObject({ lastRefusedAt: null });
    expect((await rotated.send('GET', 'config')).status).toBe(401);
    expect(await device(rotated.deviceId)).toMatchObject({ lastRefusedAt: iso(), online: true });
  });

  it('200 with its latest activity even after a restart', async () => {
    const other = await startService({ store: await temporaryFolder() });
    const tv = await other.tv();
    await tv.send('GET', 'playlist');
    await tv.send('POST', 'events', { body: [{ type: 'heartbeat', timestamp: 1 }] });
    const before = await other.manage('GET', `/v1/devices/${tv.deviceId}`);
    await other.restart();
    expect((await other.manage('GET', `/v1/devices/${tv.deviceId}`)).body).toEqual(before.body);
  });
});

describe('online', () => {
  const both = async ({ deviceId, screenId }: BoundTv) => {
    const listed =
      (await admin.get(`/v1/devices?screenId=${screenId}&online=true`)).body.items.length === 1;
    const { online } = await device(deviceId);
    expect(
      (await admin.get(`/v1/devices?screenId=${screenId}&online=false`)).body.items,
    ).toHaveLength(online ? 0 : 1);
    expect(listed).toBe(online);
    return online;
  };

  it.each([
    ['default', {}, 10],
    ['screen', { syncIntervalMinutes: 1, heartbeatIntervalMinutes: 2 }, 4],
    ['venue', { heartbeatIntervalMinutes: 30 }, 60],
  ])(
    'for twice the larger interval of the effective config: %s',
    async (level, config, minutes) => {
      const tv = await service.tv();
      const owner = level === 'venue' ? `venues/${tv.venueId}` : `screens/${tv.screenId}`;
      if (level !== 'default') await admin.put(`/v1/${owner}/config`, config);
      service.clock.advance(minutes * minuteMs);
      expect(await both(tv)).toBe(true);
      service.clock.advance(1);
      expect(await both(tv)).toBe(false);
      await tv.send('GET', 'config');
      expect(await both(tv)).toBe(true);
    },
  );

  it('not by a rejected request', async () => {
    const tv = await service.tv();
    const other = await service.tv();
    service.clock.advance(11 * minuteMs);
    await service.send('GET', `/devices/${other.screenId}/config`, { key: tv.apiKey });
    expect(await both(tv)).toBe(false);
    expect(await both(other)).toBe(false);
  });

  it('not when suspended', async () => {
    const tv = await service.tv();
    await admin.post(`/v1/devices/${tv.deviceId}/revoke`);
    expect(await both(tv)).toBe(false);
  });
});

describe('GET /v1/devices', () => {
  let lister: Manager;
  let tvs: BoundTv[];
  const ids = async (query: string) =>
    (await lister.get(`/v1/devices${query}`)).body.items.map(({ id }: { id: string }) => id);
  const idsOf = (...places: number[]) => places.map((place) => tvs[place]!.deviceId);

  beforeAll(async () => {
    const other = await startService();
    lister = manager(other);
    const venue = await lister.venue('Hall');
    tvs = [];
    for (let number = 0; number < 5; number++)
      tvs.push(await other.tv((await lister.screen(venue.id, `TV ${number}`)).id));
    tvs.push(await other.tv());
    await lister.post(`/v1/devices/${tvs[1]!.deviceId}/revoke`);
  });

  it('200 page by page, each exactly once, in the order of registration', async () => {
    for (const limit of [1, 4, 200]) {
      expect((await walk(lister, '/v1/devices', limit)).items.map(({ id }) => id)).toEqual(
        idsOf(0, 1, 2, 3, 4, 5),
      );
    }
  });

  it('200 with each device as in GET /v1/devices/:id', async () => {
    for (const one of (await lister.get('/v1/devices')).body.items)
      expect((await lister.get(`/v1/devices/${one.id}`)).body).toEqual(one);
  });

  it('200 filtered by screen, venue and state; empty for unknown ids', async () => {
    expect(await ids(`?screenId=${tvs[3]!.screenId.toUpperCase()}`)).toEqual(idsOf(3));
    expect(await ids(`?venueId=${tvs[0]!.venueId}`)).toEqual(idsOf(0, 1, 2, 3, 4));
    expect(await ids('?state=suspended')).toEqual(idsOf(1));
    expect(await ids(`?state=bound&venueId=${tvs[5]!.venueId}`)).toEqual(idsOf(5));
    expect(await ids(`?screenId=${unknownId}`)).toEqual([]);
    expect(await ids(`?venueId=${unknownId}`)).toEqual([]);
    expect(await ids('?online=true')).toEqual(idsOf(0, 2, 3, 4, 5));
    expect(await ids('?online=false')).toEqual(idsOf(1));
  });
});

describe('POST /v1/devices/:id/revoke', () => {
  it('200: device suspended, key revoked, screen provisioning, all at once', async () => {
    const tv = await service.tv();
    service.clock.advance(1000);
    const { status, body } = await admin.post(`/v1/devices/${tv.deviceId}/revoke`, {
      reason: 'stolen',
    });
    expect(status).toBe(200);
    expect(body.device).toMatchObject({
      id: tv.deviceId,
      state: 'suspended',
      suspendedAt: iso(),
      suspendReason: 'stolen',
      online: false,
    });
    expect(body.screen).toMatchObject({
      id: tv.screenId,
      state: 'provisioning',
      deviceId: null,
      updatedAt: iso(),
    });
    expect(body.device).toEqual(await device(tv.deviceId));
    expect(body.screen).toEqual((await admin.get(`/v1/screens/${tv.screenId}`)).body);
    for (const what of ['playlist', 'config'] as const)
      expectProblem(await tv.send('GET', what), 'device_key_revoked');
  });

  it('200, and the screen accepts another TV: two devices, one bound', async () => {
    const tv = await service.tv();
    await admin.post(`/v1/devices/${tv.deviceId}/revoke`);
    const next = await service.tv(tv.screenId);
    expect(next.deviceId).not.toBe(tv.deviceId);
    expect((await next.send('GET', 'config')).status).toBe(200);
    expectProblem(await tv.send('GET', 'config'), 'device_key_revoked');
    const { items } = (await admin.get(`/v1/devices?screenId=${tv.screenId}`)).body;
    expect(items.map(({ state }: { state: string }) => state)).toEqual(['suspended', 'bound']);
    // Revoking the former device again leaves the new one unchanged.
    const again = await admin.post(`/v1/devices/${tv.deviceId}/revoke`);
    expect(again.body.screen).toMatchObject({ state: 'active', deviceId: next.deviceId });
    expect((await next.send('GET', 'config')).status).toBe(200);
  });

  it('200 again on a suspended device, and nothing changes', async () => {
    const tv = await service.tv();
    const first = await admin.post(`/v1/devices/${tv.deviceId}/revoke`, { reason: 'stolen' });
    service.clock.advance(minuteMs);
    const second = await admin.post(`/v1/devices/${tv.deviceId}/revoke`, { reason: 'found again' });
    expect(second).toMatchObject({ status: 200, body: first.body });
    const { items } = (await admin.get(`/v1/audit?action=device.revoke&subjectId=${tv.deviceId}`))
      .body;
    expect(items).toHaveLength(1);
  });

  it.each([
    ['null', 'null', null],
    ['an empty reason', { reason: '' }, ''],
    ['a reason of 500 characters', { reason: 'r'.repeat(500) }, 'r'.repeat(500)],
  ])('200 with %s as the body', async (_, body, suspendReason) => {
    const tv = await service.tv();
    const answer = await admin.post(`/v1/devices/${tv.deviceId}/revoke`, body);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.device).toMatchObject({ state: 'suspended', suspendReason });
  });

  it('400 for an invalid reason, and the device goes on playing', async () => {
    const tv = await service.tv();
    expectInvalid(await admin.post(`/v1/devices/${tv.deviceId}/revoke`, { reason: 5 }), '/reason');
    expect((await tv.send('GET', 'config')).status).toBe(200);
    expect(await device(tv.deviceId)).toMatchObject({ state: 'bound' });
  });
});
