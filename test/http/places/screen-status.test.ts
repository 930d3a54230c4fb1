import { beforeAll, describe, expect, it } from 'vitest';
import { conditions } from '../../../src/domain/conditions/condition.ts';
import { serveOn } from '../../../src/serve.ts';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import { openStore } from '../../../src/store/location/open.ts';
import type { Reader } from '../../../src/store/store.ts';
import { item, type Manager, manager, unknownId, walk } from '../../support/service/management.ts';
import { type BoundTv, startService, type TestService } from '../../support/service/service.ts';

const minuteMs = 60_000;

describe('GET /v1/status', () => {
  let service: TestService;
  let admin: Manager;
  let tv: BoundTv;
  let empty: { id: string; venueId: string };
  beforeAll(async () => {
    service = await startService();
    admin = manager(service);
    tv = await service.tv();
    empty = await service.screen({ labels: { floor: '2' } });
  });
  const status = async (query = '') => (await admin.get(`/v1/status${query}`)).body.items;

  it('200 with each screen, its device and the summary of its playlist', async () => {
    const publication = { items: [item()], validUntil: 4_102_444_800 };
    const published = new Date(service.clock.now()).toISOString();
    await admin.put(`/v1/screens/${tv.screenId}/playlist`, publication);
    service.clock.advance(minuteMs);
    expect((await tv.send('GET', 'playlist', { key: tv.apiKey })).status).toBe(200);
    const [first, second] = await status();
    expect(first).toEqual({
      at: new Date(service.clock.now()).toISOString(),
      venueName: (await admin.get(`/v1/venues/${tv.venueId}`)).body.name,
      condition: 'unconfirmed',
      since: published,
      reason: { code: 'never_played', text: 'The TV has not reported a play yet.' },
      playing: null,
      layer: { name: 'base', entryId: null, state: 'given', since: null },
      clock: null,
      muted: null,
      errors: [],
      screen: (await admin.get(`/v1/screens/${tv.screenId}`)).body,
      device: (await admin.get(`/v1/devices/${tv.deviceId}`)).body,
      playlist: { version: 1, status: 'active', publishedAt: published, validUntil: 4_102_444_800 },
    });
    expect(first.device).toMatchObject({ online: true, lastPlaylistVersion: 1 });
    expect(second).toMatchObject({ screen: { id: empty.id }, device: null, playlist: null });
  });

  it('reads no items of playlists for screens whose TV has reported nothing', async () => {
    const read: string[] = [];
    const open: typeof openStore = async (...options) => {
      const inner = await openStore(...options);
      const get: Reader['get'] = (table, id) => {
        read.push(table);
        return inner.read.get(table, id);
      };
      return decorateStore(inner, { read: decorateStore(inner.read, { get }) });
    };
    const watched = await startService({}, (options = {}) => serveOn(open, options));
    const { id } = await watched.screen();
    await watched.manage('PUT', `/v1/screens/${id}/playlist`, { items: [item()] });
    read.length = 0;
    const { body } = await watched.manage('GET', '/v1/status');
    expect(body.items[0].playlist.version).toBe(1);
    expect(read).toContain('venues');
    expect(read).not.toContain('playlists');
    await watched.close();
  });

  it('a dark screen is asleep outside its hours, or else those of its venue', async () => {
    const service = await startService();
    const tv = await service.tv();
    const conditionNow = async () => {
      const { body } = await service.manage('GET', `/v1/status?screenId=${tv.screenId}`);
      return body.items[0];
    };
    service.clock.advance(3_600_000);
    expect(await conditionNow()).toMatchObject({ condition: 'dark' });
    // The clock is at a Friday noon in UTC.
    const closed = [{ days: ['fri'], from: '08:00', to: '12:00' }];
    const venue = { timezone: 'Europe/Berlin', hours: closed };
    await service.manage('PATCH', `/v1/venues/${tv.venueId}`, venue);
    expect(await conditionNow()).toMatchObject({
      condition: 'asleep',
      reason: { code: 'closed', text: expect.stringContaining('The TV does not call') },
    });
    await service.manage('PATCH', `/v1/screens/${tv.screenId}`, { hours: [] });
    expect(await conditionNow()).toMatchObject({ condition: 'dark' });
    const open = [{ days: ['fri'], from: '08:00', to: '23:00' }];
    await service.manage('PATCH', `/v1/screens/${tv.screenId}`, { hours: open });
    expect(await conditionNow()).toMatchObject({ condition: 'dark' });
  });

  it('a dark screen is asleep on a holiday of its venue, unless it is always on', async () => {
    const service = await startService();
    const tv = await service.tv();
    const conditionAfter = async (level: 'venues' | 'screens', body: object) => {
      await service.manage(
        'PATCH',
        `/v1/${level}/${level === 'venues' ? tv.venueId : tv.screenId}`,
        body,
      );
      const { body: status } = await service.manage('GET', `/v1/status?screenId=${tv.screenId}`);
      return status.items[0].condition;
    };
    service.clock.advance(3_600_000);
    const date = new Date(service.clock.now()).toISOString().slice(0, 10);
    const dates = { from: date, until: date };
    const open = { days: 'mon-sun', from: '08:00', to: '23:00' };
    const hoursExceptions = [{ dates }];
    expect(await conditionAfter('venues', { timezone: 'UTC', hours: [open] })).toBe('dark');
    expect(await conditionAfter('venues', { hoursExceptions })).toBe('asleep');
    expect(await conditionAfter('screens', { hours: [open] })).toBe('asleep');
    expect(await conditionAfter('screens', { hours: [] })).toBe('dark');
    expect(await conditionAfter('screens', { hoursExceptions })).toBe('asleep');
    const own = [{ dates, from: '08:00', to: '23:00' }];
    expect(await conditionAfter('screens', { hours: null, hoursExceptions: own })).toBe('dark');
  });

  it('200 with a withdrawn playlist as such', async () => {
    await admin.put(`/v1/screens/${empty.id}/playlist`, { items: [item()] });
    await admin.delete(`/v1/screens/${empty.id}/playlist`);
    const [, second] = await status();
    expect(second.playlist).toMatchObject({ version: 1, status: 'withdrawn', validUntil: null });
  });

  it('200 with one venue, and with the screens of a selector, page by page', async () => {
    expect(await status(`?venueId=${empty.venueId}`)).toHaveLength(1);
    expect(await status('?selector=floor%3D2')).toMatchObject([{ screen: { id: empty.id } }]);
    expect(await status(`?venueId=${unknownId}`)).toEqual([]);
    expect(await status(`?screenId=${empty.id}`)).toMatchObject([{ screen: { id: empty.id } }]);
    expect(await status(`?screenId=${unknownId}`)).toEqual([]);
    const { items } = await walk(admin, '/v1/status?', 1);
    expect(items).toHaveLength(2);
  });
});

describe('the condition in GET /v1/status', () => {
  const creative = item({ creativeUrl: 'https://cdn.example.com/spring%20sale.png' });
  let service: TestService;
  let admin: Manager;
  let tv: BoundTv;
  beforeAll(async () => {
    service = await startService();
    admin = manager(service);
  });

  /** Pairs a TV that has fetched a playlist. */
  async function playingTv(): Promise<BoundTv> {
    const bound = await service.tv();
    await admin.put(`/v1/screens/${bound.screenId}/playlist`, { items: [creative] });
    await bound.send('GET', 'playlist', { key: bound.apiKey });
    return bound;
  }
  const post = (bound: BoundTv, ...events: object[]) =>
    bound.send('POST', 'events', {
      key: bound.apiKey,
      body: events.map((event) => ({ timestamp: service.clock.now() / 1000, ...event })),
    });
  const play = { type: 'play', playlistId: unknownId, creativeId: creative.creativeId };
  const statusOf = async (bound: BoundTv) =>
    (await admin.get(`/v1/status?screenId=${bound.screenId}`)).body.items[0];

  it('names what plays', async () => {
    tv = await playingTv();
    await post(tv, play);
    const at = new Date(service.clock.now()).toISOString();
    expect(await statusOf(tv)).toMatchObject({
      condition: 'playing',
      since: at,
      reason: null,
      playing: {
        creativeId: creative.creativeId,
        name: 'spring sale.png',
        creativeUrl: creative.creativeUrl,
        creativeType: creative.creativeType,
        since: at,
      },
    });
  });

  it('is never playing for a black screen: it names the item that fails, its host and why', async () => {
    tv = await playingTv();
    const error = { type: 'playback_error', creativeId: creative.creativeId, reason: 'http_404' };
    await post(tv, error);
    const since = new Date(service.clock.now()).toISOString();
    for (let minute = 0; minute < 2; minute++) {
      service.clock.advance(minuteMs);
      expect((await statusOf(tv)).condition).toBe(minute < 1 ? 'unconfirmed' : 'failing');
    }
    expect(await statusOf(tv)).toMatchObject({
      since,
      reason: {
        code: 'http_404',
        text: '"spring sale.png" from cdn.example.com fails: HTTP 404.',
      },
      errors: [{ name: 'spring sale.png', host: 'cdn.example.com', reason: 'http_404', since }],
    });
    const { body } = await admin.get('/v1/status?condition=failing');
    expect(body.items).toMatchObject([{ screen: { id: tv.screenId } }]);
    await post(tv, play);
    expect((await statusOf(tv)).condition).toBe('playing');
  });

  it('tells how far the clock of the TV is off', async () => {
    tv = await playingTv();
    const deviceTime = service.clock.now() - 10 * minuteMs;
    await tv.send('POST', 'events', {
      key: tv.apiKey,
      headers: { 'X-Device-Time': String(deviceTime) },
      body: [{ ...play, timestamp: deviceTime / 1000 }],
    });
    expect(await statusOf(tv)).toMatchObject({
      condition: 'playing',
      clock: { offsetSeconds: -600 },
    });
  });

  it('is hidden while the heartbeats of the TV say so, and nothing plays', async () => {
    tv = await playingTv();
    await post(tv, play, { type: 'heartbeat', hidden: true });
    const since = new Date(service.clock.now()).toISOString();
    service.clock.advance(minuteMs);
    await post(tv, { type: 'heartbeat', hidden: true });
    expect(await statusOf(tv)).toMatchObject({
      condition: 'hidden',
      since,
      reason: { code: 'hidden' },
      playing: null,
      layer: null,
    });
    service.clock.advance(11 * minuteMs);
    expect(await statusOf(tv)).toMatchObject({
      condition: 'dark',
      reason: { text: expect.stringContaining('may be frozen') },
    });
    await post(tv, { type: 'heartbeat' });
    expect((await statusOf(tv)).condition).toBe('unconfirmed');
    await post(tv, play);
    expect((await statusOf(tv)).condition).toBe('playing');
  });

  it('comes with the latest report of the player', async () => {
    const reporter = await service.tv();
    const report = { engine: 'Chromium 80', plays: ['h264'], lacks: ['hevc'], sound: false };
    await post(reporter, { type: 'player_report', engine: 'Chromium 79', turnsVideos: true });
    const checkedAt = service.clock.now() / 1000 - 60;
    await post(reporter, { type: 'player_report', ...report, checkedAt, width: 'wide', more: {} });
    await post(reporter, { type: 'heartbeat' });
    expect((await statusOf(reporter)).device.report).toEqual({
      ...report,
      checkedAt: new Date(service.clock.now() - minuteMs).toISOString(),
      at: new Date(service.clock.now()).toISOString(),
    });
  });

  it('comes from a TV that reports impossible times', async () => {
    const reporter = await service.tv();
    const timestamp = Number.MAX_SAFE_INTEGER;
    await post(reporter, { type: 'player_report', timestamp, checkedAt: timestamp, sound: true });
    expect((await statusOf(reporter)).device.report).toMatchObject({ sound: true });
    const devices = await admin.get('/v1/devices');
    expect(devices.status, devices.text).toBe(200);
  });

  it('comes from a TV whose clock is beyond all dates', async () => {
    const reporter = await service.tv();
    const events = ['player_report', 'app_started', 'muted', 'shown', 'playback_error', 'play'].map(
      (type) => ({ type, timestamp: 0, hidden: true, version: 1, layer: 'base' }),
    );
    const headers = { 'X-Device-Time': String(Number.MAX_SAFE_INTEGER) };
    for (const body of events.map((event) => [event]))
      expect((await reporter.send('POST', 'events', { headers, body })).status).toBe(202);
    const { device } = await statusOf(reporter);
    expect(device.report.at).toBe('1970-01-01T00:00:00.000Z');
  });

  it('is dark after another time of silence, on request', async () => {
    tv = await playingTv();
    service.clock.advance(2 * minuteMs);
    const path = `/v1/status?screenId=${tv.screenId}&darkAfterSeconds=`;
    expect((await admin.get(`${path}119`)).body.items[0].condition).toBe('dark');
    expect((await admin.get(`${path}121`)).body.items[0].condition).toBe('unconfirmed');
  });

  it('is found behind pages without it, and nothing is found if no screen has it', async () => {
    const { body } = await admin.get('/v1/status?limit=1&condition=unconfirmed');
    expect(body.items).toMatchObject([{ screen: { id: tv.screenId }, condition: 'unconfirmed' }]);
    const none = await admin.get('/v1/status?limit=1&condition=stopped');
    expect(none.body).toEqual({ items: [], nextCursor: null, restoredWebhooks: 0 });
  });

  it.each(['condition=black', 'darkAfterSeconds=0', 'darkAfterSeconds=1e3', 'screenId=x'])(
    '400 with %s',
    async (query) => expect((await admin.get(`/v1/status?${query}`)).status).toBe(400),
  );
});

describe('signage_screens in GET /metrics', () => {
  it('counts each screen of all tenants once, by the condition of 15 seconds ago at most', async () => {
    const service = await startService();
    const counts = async () => {
      const { text } = await service.send('GET', '/metrics');
      const samples = text.matchAll(/^signage_screens\{condition="(\w+)"\} (\d+)$/gm);
      return Object.fromEntries([...samples].map(([, name, count]) => [name, Number(count)]));
    };
    const none = Object.fromEntries(conditions.map((condition) => [condition, 0]));
    const tv = await service.tv();
    await tv.send('GET', 'config', { key: tv.apiKey });
    const { body: other } = await service.manage('POST', '/v1/tenants', { name: 'Other' });
    service.tenantId = other.id;
    for (let count = 0; count < 60; count++) await service.screen();
    expect(await counts()).toEqual({ ...none, idle: 1, unpaired: 60 });
    service.clock.advance(11 * minuteMs);
    await service.screen();
    const dark = { ...none, dark: 1, unpaired: 61 };
    expect(await counts()).toEqual(dark);
    await service.screen();
    service.clock.advance(14_999);
    expect(await counts()).toEqual(dark);
    service.clock.advance(1);
    expect(await counts()).toEqual({ ...dark, unpaired: 62 });
    await service.close();
  });
});
