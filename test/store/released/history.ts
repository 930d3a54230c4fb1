import { expect } from 'vitest';
import { dayMs, hourMs, iso, minuteMs } from '../../../src/domain/clock.ts';
import { reportClocks, reportGroups } from '../../../src/domain/records/report.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Receiver } from '../../support/network/webhook-receiver.ts';
import { impression, item, manager } from '../../support/service/management.ts';
import { someFile, upload } from '../../support/service/media.ts';
import { type Answer, adminToken, type TestService } from '../../support/service/service.ts';
import { type Asked, send } from './exchange.ts';

/** Returns a caller of a tenant, which keeps what it sends with an `Idempotency-Key`. */
function makeCaller(service: TestService, tenantId: string) {
  const { clock } = service;
  const admin = manager(service).in(tenantId);
  const asAdmin = { key: adminToken, headers: { 'x-tenant-id': tenantId } };
  /** Requests that later versions repeat. */
  const repeats: Asked[] = [];

  async function done(asked: Asked): Promise<Answer['body']> {
    const { status, text, body } = await send(service, asked);
    if (status >= 300) throw new Error(`${asked.method} ${asked.path}: ${status} ${text}`);
    return body;
  }

  function once(asked: Asked): Promise<Answer['body']> {
    const headers = { ...asked.headers, 'idempotency-key': crypto.randomUUID() };
    repeats.push({ ...asked, headers });
    return done({ ...asked, headers });
  }

  async function pair(screenId: string, more: object = {}) {
    const made = await admin.post('/v1/devices/provisioning-codes', { screenId, ...more });
    const code: string = made.body.code;
    const deviceInfo = { manufacturer: 'Samsung', model: 'QB55C', ipAddress: '192.0.2.11' };
    const body = { pairingCode: code, deviceInfo };
    const registered = await once({ method: 'POST', path: '/devices/register', body });
    const { deviceId, apiKey: key } = registered;
    const asked = (method: string, what: string): Asked => {
      return { method, path: `/devices/${screenId}/${what}`, key };
    };
    return {
      deviceId,
      code,
      asked,
      async fetch() {
        for (const what of ['playlist', 'config']) await done(asked('GET', what));
      },
      async play(...numbers: number[]) {
        const timestamp = Math.floor(clock.now() / 1000);
        const more = { duration: 12.5, entryId: 'Lunch', title: 'Zürich 🎬 "quoted" \\ back' };
        const impressions = numbers.map((seq) => impression({ timestamp, ...more, seq }));
        await once({
          ...asked('POST', 'events'),
          body: [...impressions, { type: 'heartbeat', timestamp: 5 }],
          headers: { 'x-device-time': String(clock.now() - 90_000) },
        });
      },
    };
  }

  return {
    admin,
    repeats,
    once,
    pair,
    get: (path: string): Asked => ({ method: 'GET', path, ...asAdmin }),
    patch: (path: string, body: object): Asked => ({ method: 'PATCH', path, body, ...asAdmin }),
    create: (path: string, body?: object) => once({ method: 'POST', path, body, ...asAdmin }),
    put: (path: string, body: object) => done({ method: 'PUT', path, body, ...asAdmin }),
    delete: (path: string) => done({ method: 'DELETE', path, ...asAdmin }),
    async file(number: number): Promise<{ id: string; url: string }> {
      return (await upload(admin, someFile(number), `?name=File ${number}.svg`)).body;
    },
  };
}

/**
 * Makes a service do everything that leaves data, over three days. Returns requests whose answers
 * show the data. Their order matters.
 */
export async function makeHistory(
  service: TestService,
  { store, receiver }: { store: Store; receiver: Receiver },
): Promise<Asked[]> {
  const { clock } = service;
  const [{ id: tenantId }] = (await manager(service).get('/v1/tenants')).body.items;
  const second = makeCaller(service, (await manager(service).tenant('Second')).id);
  const caller = makeCaller(service, tenantId);
  const { admin, get } = caller;
  const in30Days = iso(clock.now() + 30 * dayMs);

  // The first day. Retention will delete its events, so only reports still count them.
  const venue = await admin.venue('Lobby', {
    address: 'Main Street 1',
    timezone: 'Europe/Berlin',
    hours: [{ days: ['mon', 'sat'], from: '06:00', to: '23:00' }],
    labels: { region: 'north' },
  });
  const left = await admin.screen(venue.id, 'Left', { labels: { side: 'left' } });
  const leftTv = await caller.pair(left.id);
  await leftTv.play(1, 2);

  // The second day.
  clock.set(clock.now() + 3 * dayMs);
  await caller.put(`/v1/tenants/${tenantId}/config`, { syncIntervalMinutes: 4 });
  await caller.put(`/v1/venues/${venue.id}/config`, { heartbeatIntervalMinutes: 2, volume: 0.5 });
  const cachePolicy = { maxSizeGB: 2, retentionDays: 3 };
  await caller.put(`/v1/screens/${left.id}/config`, { cachePolicy });
  const right = await admin.screen(venue.id, 'Right', { hours: [] });
  const bar = await admin.screen(venue.id, 'Bar');
  const removed = await admin.screen(venue.id, 'Removed');
  const rightTv = await caller.pair(right.id, { simulated: true });
  const barTv = await caller.pair(bar.id);
  const removedTv = await caller.pair(removed.id);
  const files = [await caller.file(1), await caller.file(2)];
  const items = files.map(({ url }) => item({ creativeUrl: url, creativeType: 'image' }));
  await caller.put(`/v1/screens/${right.id}/playlist`, { items });
  for (const title of ['First', 'Second', 'Third'])
    await caller.put(`/v1/screens/${left.id}/playlist`, { items: [item({ title })] });
  const schedule = (name: string) => ({
    entries: [
      { name, days: ['sat'], from: '06:00', to: '16:00', items },
      { name: 'Party', at: in30Days, until: iso(Date.parse(in30Days) + hourMs), items },
    ],
  });
  await caller.put(`/v1/venues/${venue.id}/schedule`, schedule('Lunch'));
  for (const name of ['Early', 'Late'])
    await caller.put(`/v1/screens/${left.id}/schedule`, schedule(name));
  for (const tv of [leftTv, rightTv, barTv]) await tv.play(1, 2, 5);

  // The third day, a Saturday. In its first hour, the service deletes what is past its retention.
  clock.set(clock.now() + dayMs);
  clock.advance(hourMs);
  await admin.post(`/v1/devices/${barTv.deviceId}/revoke`, { reason: 'Panel is broken' });
  await caller.delete(`/v1/screens/${removed.id}?force=true`);
  const statuses = { well: 204, refusing: 400, failing: 500 };
  receiver.answer = (response, { path }) => {
    const name = path.slice('/hook/'.length) as keyof typeof statuses;
    response.writeHead(statuses[name]).end();
  };
  const hooks: { id: string }[] = [];
  for (const name of Object.keys(statuses)) {
    const url = `${receiver.url}/${name}`;
    const which = { types: ['playlist.*'], venueIds: [venue.id] };
    hooks.push(await caller.create('/v1/webhooks', { name, url, ...which }));
  }
  await admin.post(`/v1/webhooks/${hooks[0]!.id}/secret`);
  for (const duration of [7, 8])
    await caller.put(`/v1/screens/${bar.id}/playlist`, { items: [item({ duration })] });
  await caller.delete(`/v1/screens/${bar.id}/playlist`);
  for (const tv of [leftTv, rightTv]) {
    await tv.play(6, 7);
    await tv.fetch();
  }
  // The left TV goes dark.
  for (let minutes = 0; !(await store.read.get('alarms', left.id)); minutes += 2) {
    expect(minutes).toBeLessThan(60);
    await rightTv.fetch();
    await clock.advanceAsync(2 * minuteMs, 5);
  }
  const untilMs = clock.now() + hourMs;
  const sale = { items: [item({ title: 'Sale', campaign: 'Summer' })], until: iso(untilMs) };
  await caller.put(`/v1/screens/${right.id}/takeover`, sale);
  await rightTv.fetch();
  const fourth = { items: [item({ title: 'Fourth' })], validUntil: Math.floor(untilMs / 1000) };
  await caller.put(`/v1/screens/${left.id}/playlist`, fourth);
  await caller.delete(`/v1/media/${(await caller.file(3)).id}`);
  await caller.create('/v1/venues', { name: 'Café “Süd”' });

  // Secrets and codes that are unused, used, or about to be replaced.
  const { apiKey: nextKey } = await caller.once(leftTv.asked('POST', 'keys/rotate'));
  const freshTv = await caller.pair((await admin.screen(venue.id, 'Fresh')).id);
  await caller.create('/v1/tokens', { name: 'Unused', role: 'viewer' });
  const limits = { venueIds: [venue.id], expiresAt: in30Days };
  const installer = { name: 'Fitter', role: 'installer', ...limits };
  const fitter = await caller.create('/v1/tokens', installer);
  const asFitter = { method: 'GET', path: '/v1/me', key: fitter.token };
  await send(service, asFitter);
  await caller.create(`/v1/tokens/${fitter.id}/rotate`);
  const pending = await caller.create('/v1/devices/provisioning-codes', { screenId: bar.id });
  const cancelled = await admin.code(bar.id);
  await caller.delete(`/v1/devices/provisioning-codes/${cancelled.code}`);
  await admin.post('/v1/identify', { venueIds: [venue.id], seconds: 600 });
  const makeClaim = () =>
    caller.once({ method: 'POST', path: '/devices/claims', body: { deviceInfo: {} } });
  const claims = [await makeClaim(), await makeClaim()];
  await caller.create(`/v1/devices/claims/${claims[0].claim}/offer`, { screenId: bar.id });

  for (const { id } of hooks.slice(0, 2))
    await expect
      .poll(async () => (await admin.get(`/v1/webhooks/${id}/deliveries?state=pending`)).body.items)
      .toEqual([]);

  const of = (noun: string, { id }: { id: string }, ...parts: string[]) =>
    parts.map((part) => get(`/v1/${noun}/${id}/${part}`));
  const past = `explain?at=${iso(clock.now() - dayMs)}`;
  return [
    ...['tenants', 'tokens', 'venues', 'screens', 'devices', 'status', 'media', 'webhooks'].map(
      (list) => get(`/v1/${list}`),
    ),
    ...['events?', 'notices?', `audit?to=${iso(clock.now() + 1)}&`].map((list) =>
      get(`/v1/${list}limit=200`),
    ),
    // The service takes this notice out of the outbox after its start.
    second.get('/v1/notices?order=asc&waitSeconds=30'),
    ...reportClocks.flatMap((by) =>
      reportGroups.map((group) => get(`/v1/reports/impressions?by=${by}&groupBy=${group}`)),
    ),
    get('/v1/reports/impressions?simulated=exclude'),
    ...[left, right, bar].flatMap((screen) => [
      ...of('screens', screen, 'playlist', 'playlists', 'schedule', 'takeover', 'config'),
      ...of('screens', screen, 'explain', past),
    ]),
    ...of('venues', venue, 'schedule', 'config'),
    get(`/v1/tenants/${tenantId}/config`),
    ...hooks.flatMap((hook) => of('webhooks', hook, 'deliveries')),
    ...[pending, freshTv, cancelled, leftTv].map(({ code }) =>
      get(`/v1/devices/provisioning-codes/${code}/status`),
    ),
    ...claims.flatMap(({ claim, token }) => [
      get(`/v1/devices/claims/${claim}`),
      { method: 'GET', path: `/devices/claims/${claim}`, key: token },
    ]),
    ...files.map(({ url }) => ({ method: 'GET', path: url })),
    ...[leftTv, rightTv, barTv, removedTv].flatMap(({ asked }) => [
      asked('GET', 'playlist'),
      asked('GET', 'config'),
    ]),
    ...caller.repeats,
    get('/v1/events?type=heartbeat'),
    asFitter,
    { ...leftTv.asked('GET', 'playlist'), key: nextKey },
    leftTv.asked('GET', 'playlist'),
    caller.patch(`/v1/venues/${venue.id}`, { name: 'Foyer' }),
  ];
}
