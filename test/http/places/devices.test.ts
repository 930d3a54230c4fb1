import { beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../../src/store/location/open.ts';
import { checkStore } from '../../../src/store/maintenance/check.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { type Manager, manager, unknownId, walk } from '../../support/service/management.ts';
import { type BoundTv, startService, type TestService } from '../../support/service/service.ts';

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
  it('200 with a reason with control characters, which 0.1.0 stored', async () => {
    const store = await temporaryFolder();
    const old = await startService({ store });
    const { deviceId } = await old.tv();
    await old.manage('POST', `/v1/devices/${deviceId}/revoke`, { reason: 'plain' });
    await old.close();
    const suspendReason = 'NUL \0, ESC \u001b[2J and\nlines';
    const opened = await openStore(store);
    await opened.write(async (tx) => {
      const row = await tx.get('devices', deviceId);
      if (row) await tx.put('devices', { ...row, suspendReason });
    });
    await opened.close();
    const service = await startService({ store });
    const path = `/v1/devices/${deviceId}`;
    expect((await service.manage('GET', path)).body).toMatchObject({ suspendReason });
    const again = await service.manage('POST', `${path}/revoke`, { reason: 'again' });
    expect(again.body.device).toMatchObject({ suspendReason });
    await service.close();
    expect(await checkStore(store)).toEqual([]);
  });

  it('200, and a rejected batch counts as seen, but not as an event', async () => {
    const tv = await service.tv();
    service.clock.advance(1000);
    expect((await tv.send('POST', 'events', { body: [{}] })).status).toBe(400);
    expect(await device(tv.deviceId)).toMatchObject({ lastEventAt: null, lastSeenAt: iso() });
  });

  it('200 with the times of the latest config and events', async () => {
    const tv = await service.tv();
    service.clock.advance(1000);
    await tv.send('GET', 'config');
    expect(await device(tv.deviceId)).toMatchObject({
      lastConfigAt: iso(),
      lastSeenAt: iso(),
      lastPlaylistAt: null,
      lastEventAt: null,
    });
    const lastConfigAt = iso();
    service.clock.advance(1000);
    await tv.send('POST', 'events', { body: [{ type: 'heartbeat', timestamp: 1 }] });
    expect(await device(tv.deviceId)).toMatchObject({
      lastConfigAt,
      lastEventAt: iso(),
      lastSeenAt: iso(),
    });
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
  it('200 with device and screen as they are read afterwards', async () => {
    const tv = await service.tv();
    service.clock.advance(1000);
    const { status, body } = await admin.post(`/v1/devices/${tv.deviceId}/revoke`, {
      reason: 'stolen',
    });
    expect(status).toBe(200);
    expect(body.device).toMatchObject({ id: tv.deviceId, suspendedAt: iso(), online: false });
    expect(body.screen).toMatchObject({ id: tv.screenId, deviceId: null, updatedAt: iso() });
    expect(body.device).toEqual(await device(tv.deviceId));
    expect(body.screen).toEqual((await admin.get(`/v1/screens/${tv.screenId}`)).body);
  });

  it('200 for the former device of a screen again, and its next device is unchanged', async () => {
    const tv = await service.tv();
    await admin.post(`/v1/devices/${tv.deviceId}/revoke`);
    const next = await service.tv(tv.screenId);
    const again = await admin.post(`/v1/devices/${tv.deviceId}/revoke`);
    expect(again.body.screen).toMatchObject({ state: 'active', deviceId: next.deviceId });
    expect((await next.send('GET', 'config')).status).toBe(200);
    const { items } = (await admin.get(`/v1/devices?screenId=${tv.screenId}`)).body;
    expect(items.map(({ state }: { state: string }) => state)).toEqual(['suspended', 'bound']);
  });
});
