import { beforeAll, describe, expect, it } from 'vitest';
import { dayMs } from '../../../src/domain/clock.ts';
import type { PlayRow } from '../../../src/domain/records/report.ts';
import { type Running, serve } from '../../../src/serve.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import {
  expectInvalid,
  impression,
  type Manager,
  manager,
} from '../../support/service/management.ts';
import {
  adminToken,
  type BoundTv,
  startService,
  type TestService,
} from '../../support/service/service.ts';
import { serveBelieving } from '../../support/stores/believed-clock.ts';

const path = '/v1/reports/plays';
const guid = (digit: number) => `${digit}0000000-0000-4000-8000-000000000000`;
const at = (date: number, hour: number) => Date.UTC(2026, 10, date, hour) / 1000;

let service: TestService;
let admin: Manager;
let tv: BoundTv;

/** Returns the plays of a query. */
async function plays(query = '', as = admin): Promise<PlayRow[]> {
  const { status, text } = await as.send('GET', `${path}?${query}`);
  expect(status, text).toBe(200);
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

const starts = async (query: string) => (await plays(query)).map(({ localStart }) => localStart);

beforeAll(async () => {
  service = await startService();
  admin = manager(service);
  const venue = await admin.send('POST', '/v1/venues', {
    body: { name: 'Hall', timezone: 'America/St_Johns' },
  });
  tv = await service.tv((await admin.screen(venue.body.id, 'One')).id);
  await admin.send('PUT', `/v1/screens/${tv.screenId}/playlist`, {
    body: {
      items: [
        {
          creativeId: guid(5),
          creativeUrl: 'https://media.example.com/a.png',
          creativeType: 'image',
          duration: 10,
          name: 'Spring sale',
          campaign: 'Spring',
        },
      ],
    },
  });
  const [item] = (await tv.send('GET', 'playlist')).body.items;
  const body = [
    impression({
      campaignId: item.campaignId.toUpperCase(),
      creativeId: guid(5),
      timestamp: at(20, 2),
      duration: 9.5,
      plannedDuration: 10,
      seq: 7,
    }),
    { type: 'play', creativeId: guid(6), timestamp: at(20, 10), duration: 3, plannedDuration: 10 },
    { type: 'heartbeat', timestamp: at(20, 10) },
    impression({ campaignId: guid(9), creativeId: guid(5), timestamp: at(19, 1) }),
  ];
  expect((await tv.send('POST', 'events', { body })).status).toBe(202);
});

describe('GET /v1/reports/plays', () => {
  it('200 with each play in the order of receipt, by the clock of its venue', async () => {
    const [first, second, third, ...more] = await plays();
    expect(first).toEqual({
      venue: 'Hall',
      screen: 'One',
      item: 'Spring sale',
      creativeId: guid(5),
      campaign: 'Spring',
      campaignId: expect.any(String),
      localStart: '2026-11-19T22:29:50-03:30',
      start: '2026-11-20T01:59:50.500Z',
      seconds: 9.5,
      planned: 10,
      full: true,
      receivedAt: '2026-11-20T12:00:00.000Z',
      seq: 7,
      screenId: tv.screenId,
      venueId: tv.venueId,
    });
    expect(second).toMatchObject({ item: null, campaign: null, campaignId: null, full: false });
    expect(third).toMatchObject({ campaign: null, planned: null, full: null, seq: null });
    expect(more).toEqual([]);
  });

  it('200 of a campaign by its name or id', async () => {
    const [{ campaignId } = { campaignId: null }] = await plays('campaign=SPRING');
    expect(await starts('campaign=SPRING')).toEqual(['2026-11-19T22:29:50-03:30']);
    expect(await starts(`campaign=${campaignId?.toUpperCase()}`)).toHaveLength(1);
    expect(await starts('campaign=winter')).toEqual([]);
  });

  it('200 on days of venues or of UTC, and of selected screens', async () => {
    expect(await starts('days=venue&from=2026-11-19&to=2026-11-20')).toEqual([
      '2026-11-19T22:29:50-03:30',
    ]);
    expect(await starts('from=2026-11-20')).toHaveLength(2);
    expect(await starts(`screenId=${guid(1)}`)).toEqual([]);
    expect(await starts('simulated=only')).toEqual([]);
  });

  it('200 as CSV', async () => {
    const { text, headers } = await admin.send('GET', `${path}?campaign=spring`, {
      headers: { Accept: 'text/csv' },
    });
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    const [header, line, end] = text.split('\r\n');
    expect(header).toBe(
      'venue,screen,item,creativeId,campaign,campaignId,localStart,start,seconds,planned,full,receivedAt,seq',
    );
    expect(line).toContain('Hall,One,Spring sale,');
    expect(end).toBe('');
  });

  it('200 without what is received later than a minute after the start of the list', async () => {
    const clock = new ManualClock();
    let inProcess: Running | undefined;
    const own = await startService({ clock }, async (options) => {
      inProcess = await serve(options);
      return inProcess;
    });
    const busy = await own.tv();
    const send = async (seq: number) => {
      const body = Array.from({ length: 100 }, () => impression({ timestamp: at(20, 2), seq }));
      expect((await busy.send('POST', 'events', { body })).status).toBe(202);
    };
    for (let batch = 0; batch < 15; batch++) await send(1);
    const request = new Request(`${own.url}${path}`, {
      headers: { Authorization: `Bearer ${adminToken}` },
    });
    const list = await inProcess?.fetch(request);
    clock.advance(61_000);
    await send(2);
    const text = (await list?.text()) ?? '';
    expect(text.match(/"seq":1/g)).toHaveLength(1500);
    expect(text).not.toContain('"seq":2');
    await own.close();
  });

  it('200 with null for numbers that no event can have', async () => {
    const own = await startService();
    const hostile = await own.tv();
    const played = JSON.stringify(impression({ timestamp: at(20, 2), duration: 1, seq: -3 }));
    const body = `[${played.replace('}', ',"plannedDuration":1e400}')}]`;
    expect((await hostile.send('POST', 'events', { body })).status).toBe(202);
    expect(await plays('', manager(own))).toMatchObject([{ planned: null, full: null, seq: null }]);
    const headers = { Accept: 'text/csv' };
    const { text } = await manager(own).send('GET', path, { headers });
    expect(text.split('\r\n')[1]).toMatch(/Z,1,,,2026-11-20T12:00:00.000Z,$/);
    await own.close();
  });

  it.each(['from=2026-11-20T00:00:00Z', 'to=now', 'days=local', 'campaign=', 'limit=5'])(
    '400 for %s',
    async (query) =>
      expectInvalid(await admin.get(`${path}?${query}`), `query.${query.split('=')[0]}`),
  );

  it('lists no day of a venue into which retention has cut, and no purged play', async () => {
    const own = await startService(
      { retentionDays: 2, store: await temporaryFolder() },
      serveBelieving,
    );
    const place = await manager(own).send('POST', '/v1/venues', {
      body: { name: 'East', timezone: 'Asia/Tokyo' },
    });
    const east = await own.tv((await manager(own).screen(place.body.id, 'One')).id);
    const played = async () => {
      const timestamp = own.clock.now() / 1000;
      await east.send('POST', 'events', { body: [impression({ timestamp, duration: 0 })] });
    };
    // 21:00 in Tokyo, and 01:00 of the next day there.
    await played();
    own.clock.advance(4 * 3_600_000);
    await played();
    own.clock.advance(dayMs);
    await played();
    const days = async (query: string) =>
      (await plays(query, manager(own))).map(({ localStart }) => localStart.slice(0, 10));
    expect(await days('days=venue')).toEqual(['2026-11-20', '2026-11-21', '2026-11-22']);
    // Midnight in UTC: what was received on the 20th is past its retention.
    own.clock.advance(32 * 3_600_000);
    const left = async () => {
      own.clock.advance(60_000);
      return (await manager(own).get('/v1/events')).body.items.length;
    };
    await expect.poll(left).toBe(1);
    await expect
      .poll(async () => (await manager(own).get('/v1/audit?action=retention.purge')).body.items)
      .toHaveLength(1);
    expect(await days('days=venue')).toEqual(['2026-11-22']);
    expect(await days('days=utc')).toEqual(['2026-11-22']);
    await own.close();
  });
});
