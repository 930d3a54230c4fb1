import { beforeAll, describe, expect, it } from 'vitest';
import {
  expectProblem,
  impression,
  item,
  type Manager,
  manager,
  unknownId,
  walk,
} from '../../support/service/management.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { serveBelieving } from '../../support/stores/believed-clock.ts';

let service: TestService;
let admin: Manager;
let venueId: string;
let count = 0;
const fresh = () => `Screen ${++count}`;
const iso = (ms = service.clock.now()) => new Date(ms).toISOString();
const minuteMs = 60_000;

beforeAll(async () => {
  service = await startService({}, serveBelieving);
  admin = manager(service);
  venueId = (await admin.venue('Hall')).id;
});

describe('POST /v1/screens', () => {
  it('leaves no screen without a venue when the venue is deleted simultaneously', async () => {
    const venue = await admin.venue('Short-lived');
    const [made, gone] = await Promise.all([
      admin.post('/v1/screens', { venueId: venue.id, name: fresh() }),
      admin.delete(`/v1/venues/${venue.id}`),
    ]);
    expect([
      [201, 409],
      [404, 204],
    ]).toContainEqual([made.status, gone.status]);
  });
});

describe('PATCH /v1/screens/:id', () => {
  it('200 keeps state and device of an active screen', async () => {
    const screen = await admin.screen(venueId, fresh());
    const { deviceId } = await service.tv(screen.id);
    expect(
      (await admin.patch(`/v1/screens/${screen.id}`, { labels: { a: '1' } })).body,
    ).toMatchObject({ state: 'active', deviceId });
  });
});

describe('GET /v1/screens/:id', () => {
  const codeOf = async (id: string) => (await admin.get(`/v1/screens/${id}`)).body.provisioningCode;

  it('200 with the newest code’s state, never the code itself', async () => {
    const screen = await admin.screen(venueId, fresh());
    const first = await admin.code(screen.id);
    service.clock.advance(minuteMs);
    const second = await admin.code(screen.id);
    const answer = await admin.get(`/v1/screens/${screen.id}`);
    expect(answer.body.provisioningCode).toEqual({
      status: 'pending',
      createdAt: iso(),
      expiresAt: iso(service.clock.now() + 15 * minuteMs),
    });
    for (const { code } of [first, second]) expect(answer.text).not.toContain(code);
    expect(answer.text).not.toContain('hash');
  });

  it('200 with a code that is cancelled, expired, used, and null once it is purged', async () => {
    const screen = await admin.screen(venueId, fresh());
    const cancelled = await admin.code(screen.id);
    await admin.delete(`/v1/devices/provisioning-codes/${cancelled.code}`);
    expect(await codeOf(screen.id)).toMatchObject({ status: 'cancelled' });
    service.clock.advance(1);
    await admin.code(screen.id);
    service.clock.advance(15 * minuteMs);
    expect(await codeOf(screen.id)).toMatchObject({ status: 'expired' });
    const { code } = await admin.code(screen.id);
    await service.register(code);
    expect(await codeOf(screen.id)).toMatchObject({ status: 'used' });
    service.clock.advance(25 * 60 * minuteMs);
    // A deleted record is purged within a minute.
    const aMinuteLater = () => {
      service.clock.advance(minuteMs);
      return codeOf(screen.id);
    };
    await expect.poll(aMinuteLater).toBeNull();
  });
});

describe('GET /v1/screens', () => {
  let lister: Manager;
  let venues: { id: string }[];
  let made: { id: string; name: string }[];
  const names = async (query: string) =>
    (await lister.get(`/v1/screens${query}`)).body.items.map(
      (screen: { name: string }) => screen.name,
    );

  beforeAll(async () => {
    const other = await startService();
    lister = manager(other);
    venues = [await lister.venue('One'), await lister.venue('Two')];
    made = [];
    for (let number = 0; number < 6; number++) {
      const labels = { floor: String(number % 3), side: number < 3 ? 'left' : 'right', url: 'a:b' };
      made.push(
        await lister.screen(venues[number % 2]!.id, `TV ${number}`, number === 5 ? {} : { labels }),
      );
    }
    await other.tv(made[2]!.id);
  });

  it('200 filtered by venue id in any case; empty for an unknown one', async () => {
    for (const id of [venues[1]!.id, venues[1]!.id.toUpperCase()])
      expect(await names(`?venueId=${id}`)).toEqual(['TV 1', 'TV 3', 'TV 5']);
    expect(await names(`?venueId=${unknownId}`)).toEqual([]);
  });

  it('200 filtered by state, with the members of each', async () => {
    expect(await names('?state=active')).toEqual(['TV 2']);
    expect(await names('?state=provisioning&limit=200')).toHaveLength(5);
    const [active] = (await lister.get('/v1/screens?state=active')).body.items;
    expect(active).toEqual((await lister.get(`/v1/screens/${made[2]!.id}`)).body);
    expect(active).toMatchObject({
      provisioningCode: { status: 'used' },
      deviceId: expect.any(String),
    });
  });

  it('200 filtered by labels, which must all match', async () => {
    expect(await names('?label=floor:1')).toEqual(['TV 1', 'TV 4']);
    expect(await names('?label=url:a:b&label=floor:0')).toEqual(['TV 0', 'TV 3']);
    expect(await names('?label=floor:1&label=floor:2')).toEqual([]);
  });

  it('200 with filters together, over several pages', async () => {
    expect(
      await names(`?venueId=${venues[0]!.id}&label=side:left&state=provisioning&search=tv`),
    ).toEqual(['TV 0']);
    expect(
      (await walk(lister, '/v1/screens?label=side:left', 1)).items.map(({ name }) => name),
    ).toEqual(['TV 0', 'TV 1', 'TV 2']);
    expect(await names('?name=tv%203')).toEqual(['TV 3']);
  });
});

describe('DELETE /v1/screens/:id', () => {
  it('409 screen_active, without changes', async () => {
    const screen = await admin.screen(venueId, fresh());
    await admin.put(`/v1/screens/${screen.id}/playlist`, { items: [item()] });
    const tv = await service.tv(screen.id);
    expectProblem(await admin.delete(`/v1/screens/${screen.id}`), 'screen_active');
    expect((await admin.get(`/v1/screens/${screen.id}`)).body).toMatchObject({
      state: 'active',
      deviceId: tv.deviceId,
    });
    expect((await tv.send('GET', 'playlist')).status).toBe(200);
  });

  it('204 with force=true: deletes device, playlist and config, orphans the key, keeps events', async () => {
    const screen = await admin.screen(venueId, fresh());
    await admin.put(`/v1/screens/${screen.id}/playlist`, { items: [item()] });
    await admin.put(`/v1/screens/${screen.id}/playlist`, { items: [item({ duration: 5 })] });
    await admin.put(`/v1/screens/${screen.id}/config`, { syncIntervalMinutes: 9 });
    const spare = await admin.code(screen.id);
    const tv = await service.tv(screen.id);
    expect((await tv.send('POST', 'events', { body: [impression()] })).status).toBe(202);
    expect((await admin.delete(`/v1/screens/${screen.id}?force=true`)).status).toBe(204);
    for (const what of ['playlist', 'config'] as const)
      expectProblem(await tv.send('GET', what), 'device_key_orphaned');
    expectProblem(await tv.send('POST', 'events', { body: [impression()] }), 'device_key_orphaned');
    expectProblem(await admin.get(`/v1/devices/${tv.deviceId}`), 'device_not_found');
    expectProblem(await admin.post(`/v1/devices/${tv.deviceId}/revoke`), 'device_not_found');
    for (const rest of ['', '/playlist', '/playlists', '/config'])
      expectProblem(await admin.get(`/v1/screens/${screen.id}${rest}`), 'screen_not_found');
    expectProblem(await service.register(spare.code), 'pairing_code_cancelled');
    expectProblem(await service.register(tv.code), 'pairing_code_used');
    const { items } = (await admin.get(`/v1/events?screenId=${screen.id}`)).body;
    expect(items).toEqual([
      expect.objectContaining({ deviceId: tv.deviceId, event: impression() }),
    ]);
    const { items: rows } = (await admin.get('/v1/reports/impressions?groupBy=screen')).body;
    expect(rows).toContainEqual(
      expect.objectContaining({ key: screen.id, impressions: 1, seconds: 0 }),
    );
  });

  it('204 with force=true for one that is not active', async () => {
    const screen = await admin.screen(venueId, fresh());
    expect((await admin.delete(`/v1/screens/${screen.id}?force=true`)).status).toBe(204);
  });

  it('204 deletes suspended devices too; a revoked key stays revoked', async () => {
    const screen = await admin.screen(venueId, fresh());
    const tv = await service.tv(screen.id);
    await admin.post(`/v1/devices/${tv.deviceId}/revoke`);
    expect((await admin.delete(`/v1/screens/${screen.id}`)).status).toBe(204);
    expectProblem(await admin.get(`/v1/devices/${tv.deviceId}`), 'device_not_found');
    expectProblem(await tv.send('GET', 'config'), 'device_key_revoked');
  });
});
