import { Hono } from 'hono';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ReportRow } from '../../../src/domain/records/report.ts';
import { reportCsv } from '../../../src/http/handlers/reports.ts';
import {
  expectInvalid,
  impression,
  type Manager,
  manager,
} from '../../support/service/management.ts';
import { type BoundTv, startService, type TestService } from '../../support/service/service.ts';

let service: TestService;
let admin: Manager;
let tvs: BoundTv[];

const path = '/v1/reports/impressions';
const guid = (digit: number) => `${digit}0000000-0000-4000-8000-000000000000`;
const rows = async (query = '') => {
  const answer = await admin.get(`${path}${query}`);
  expect(answer.status, answer.text).toBe(200);
  return (answer.body.items as ReportRow[]).map(({ key, impressions, seconds }) => ({
    key,
    impressions,
    seconds,
  }));
};
const csv = (Accept: string, query = '') =>
  admin.send('GET', `${path}${query}`, { headers: { Accept } });
/** Returns a time in the first hour of a day in November 2026, in seconds. */
const day = (date: number) => Date.UTC(2026, 10, date, 1) / 1000;

beforeAll(async () => {
  service = await startService();
  admin = manager(service);
  const hall = await admin.venue('Hall');
  tvs = [
    await service.tv((await admin.screen(hall.id, 'One')).id),
    await service.tv((await admin.screen(hall.id, 'Two')).id),
    await service.tv(),
  ];
  const post = async (tv: number, ...events: object[]) =>
    expect((await tvs[tv]!.send('POST', 'events', { body: events })).status).toBe(202);
  // Received on the 20th.
  await post(
    0,
    impression({ campaignId: guid(2), creativeId: guid(5), timestamp: day(18), duration: 10 }),
    impression({ campaignId: guid(1), creativeId: guid(5), timestamp: day(19), duration: 2.5 }),
    { type: 'heartbeat', timestamp: day(19), campaignId: guid(1), duration: 99 },
  );
  await post(
    1,
    impression({ campaignId: guid(1), creativeId: guid(6), timestamp: day(19) * 1000 }),
  );
  service.clock.advance(24 * 3_600_000);
  // Received on the 21st.
  await post(
    2,
    impression({
      campaignId: guid(1).toUpperCase(),
      creativeId: guid(6),
      timestamp: day(21),
      duration: 0.25,
    }),
  );
  await post(
    2,
    impression({ campaignId: guid(3), creativeId: guid(7), timestamp: day(21), duration: null }),
  );
});

describe('GET /v1/reports/impressions', () => {
  it('200 by campaign, sorted by key; seconds add up valid durations', async () => {
    const expected = [
      { key: guid(1), impressions: 3, seconds: 2.75 },
      { key: guid(2), impressions: 1, seconds: 10 },
      { key: guid(3), impressions: 1, seconds: 0 },
    ];
    expect(await rows()).toEqual(expected);
    expect(await rows('?groupBy=campaign&by=timestamp')).toEqual(expected);
  });

  it('200 by creative', async () => {
    expect(await rows('?groupBy=creative')).toEqual([
      { key: guid(5), impressions: 2, seconds: 12.5 },
      { key: guid(6), impressions: 2, seconds: 0.25 },
      { key: guid(7), impressions: 1, seconds: 0 },
    ]);
  });

  it('200 by screen and by venue', async () => {
    const sorted = (...all: { key: string; impressions: number; seconds: number }[]) =>
      all.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    const [one, two, three] = tvs as [BoundTv, BoundTv, BoundTv];
    expect(await rows('?groupBy=screen')).toEqual(
      sorted(
        { key: one.screenId, impressions: 2, seconds: 12.5 },
        { key: two.screenId, impressions: 1, seconds: 0 },
        { key: three.screenId, impressions: 2, seconds: 0.25 },
      ),
    );
    expect(await rows('?groupBy=venue')).toEqual(
      sorted(
        { key: one.venueId, impressions: 3, seconds: 12.5 },
        { key: three.venueId, impressions: 2, seconds: 0.25 },
      ),
    );
  });

  it('200 by day of the event’s timestamp, or of its receipt', async () => {
    expect(await rows('?groupBy=day')).toEqual([
      { key: '2026-11-18', impressions: 1, seconds: 10 },
      { key: '2026-11-19', impressions: 2, seconds: 2.5 },
      { key: '2026-11-21', impressions: 2, seconds: 0.25 },
    ]);
    expect(await rows('?groupBy=day&by=received')).toEqual([
      { key: '2026-11-20', impressions: 3, seconds: 12.5 },
      { key: '2026-11-21', impressions: 2, seconds: 0.25 },
    ]);
  });

  it('200 between days, from inclusive and to exclusive, by either clock', async () => {
    expect(await rows('?groupBy=day&from=2026-11-19&to=2026-11-21')).toEqual([
      { key: '2026-11-19', impressions: 2, seconds: 2.5 },
    ]);
    expect(await rows('?from=2026-11-21')).toHaveLength(2);
    expect(await rows('?to=2026-11-19')).toEqual([{ key: guid(2), impressions: 1, seconds: 10 }]);
    expect(await rows('?by=received&to=2026-11-21&groupBy=creative')).toMatchObject([
      { impressions: 2 },
      { impressions: 1 },
    ]);
    expect(await rows('?from=2026-11-21&to=2026-11-21')).toEqual([]);
    expect(await rows('?from=2027-01-01')).toEqual([]);
  });

  it.each([
    'groupBy=device',
    'groupBy=screen,screen',
    'groupBy=screen,creative,day',
    'groupBy=screen,',
    'days=Europe/Berlin',
    'screenId=7',
    'venueId=hall',
    'selector=(',
    'by=clock',
    'from=2026-11-20T00:00:00Z',
    'from=1790000000',
    'to=2026-11-31',
    'to=2026-2-1',
    'limit=5',
    'cursor=x',
  ])('400 for %s', async (query) =>
    expectInvalid(await admin.get(`${path}?${query}`), `query.${query.split('=')[0]}`),
  );

  it('400 for days that end before they begin', async () =>
    expectInvalid(await admin.get(`${path}?from=2026-11-21&to=2026-11-20`), 'query.to'));

  it('200 keeps counting events of deleted screens', async () => {
    const tv = await service.tv();
    await tv.send('POST', 'events', { body: [impression({ campaignId: guid(9), duration: 1 })] });
    await admin.delete(`/v1/screens/${tv.screenId}?force=true`);
    await admin.delete(`/v1/venues/${tv.venueId}`);
    const row = { impressions: 1, seconds: 1 };
    expect(await rows()).toContainEqual({ key: guid(9), ...row });
    expect(await rows('?groupBy=venue')).toContainEqual({ key: tv.venueId, ...row });
  });
});

describe('GET /v1/reports/impressions as CSV', () => {
  it('200 with a header, the same rows, and CR LF after each', async () => {
    const { status, headers, text } = await csv('text/csv', '?from=2026-11-01');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(headers.get('vary')).toBe('Accept, Accept-Encoding');
    expect(text).toBe(
      [
        'key,impressions,seconds,fullPlays,partialPlays,unknownPlays,plays,name',
        `${guid(1)},3,2.75,0,0,3,0,`,
        `${guid(2)},1,10,0,0,1,0,`,
        `${guid(3)},1,0,0,0,1,0,`,
        '',
      ].join('\r\n'),
    );
  });

  it.each([
    ['text/csv', 'text/csv'],
    ['TEXT/CSV', 'text/csv'],
    ['text/csv; header=present', 'text/csv'],
    ['text/csv, application/json;q=0.5', 'text/csv'],
    ['text/*', 'text/csv'],
    ['application/json, text/csv;q=0.5', 'application/json'],
    ['text/csv;q=0', 'application/json'],
    ['*/*', 'application/json'],
    ['text/html,*/*;q=0.8', 'application/json'],
    ['image/png', 'application/json'],
  ])('%s gets %s', async (accept, type) => {
    const { headers } = await csv(accept);
    expect(headers.get('content-type')?.split(';')[0]).toBe(type);
    expect(headers.get('vary')).toBe('Accept, Accept-Encoding');
  });

  it('200 with keys quoted where necessary, and none that a spreadsheet would evaluate', async () => {
    const rowsOf = ['plain', 'a,b', 'say "hi"', 'two\nlines', 'cr\rhere', '=1+1'].map((key) => ({
      key,
      name: null,
      impressions: 1,
      seconds: 0.5,
      fullPlays: 1,
      partialPlays: 0,
      unknownPlays: 0,
      plays: 0,
    }));
    const report = { items: rowsOf, misdated: null, venueDaysSince: null, ungrouped: null };
    const app = new Hono().get('/', (context) =>
      context.text(String(reportCsv(report, false, context).body)),
    );
    const text = await (await app.request('/', { headers: { Accept: 'text/csv' } })).text();
    const keys = ['plain', '"a,b"', '"say ""hi"""', '"two\nlines"', '"cr\rhere"', "'=1+1"];
    expect(text).toBe(
      [
        'key,impressions,seconds,fullPlays,partialPlays,unknownPlays,plays,name',
        ...keys.map((key) => `${key},1,0.5,1,0,0,0,`),
        '',
      ].join('\r\n'),
    );
  });
});

describe('misdated in GET /v1/reports/impressions', () => {
  it('counts the impressions of wrong clocks that the days leave out', async () => {
    const own = await startService();
    const tv = await own.tv();
    const other = await own.tv();
    const misdated = async (query: string) =>
      (await own.manage('GET', `${path}?${query}`)).body.misdated;
    const month = 'from=2026-11-01&to=2026-12-01';
    const now = own.clock.now() / 1000;
    const dayS = 86_400;
    await tv.send('POST', 'events', {
      body: [now, now - 40 * dayS, now + dayS].map((timestamp) => impression({ timestamp })),
    });
    expect(await misdated('to=2026-11-02')).toBeNull();
    await tv.send('POST', 'events', { body: [1, 2].map((timestamp) => impression({ timestamp })) });
    const epoch = { impressions: 2, screens: 1, firstDay: '1970-01-01', lastDay: '1970-01-01' };
    expect(await misdated(month)).toEqual(epoch);
    expect(await misdated('from=2026-11-01')).toEqual(epoch);
    await other.send('POST', 'events', { body: [impression({ timestamp: now + 40 * dayS })] });
    await tv.send('POST', 'events', { body: [impression({ timestamp: now + 41 * dayS })] });
    expect(await misdated(month)).toEqual({
      impressions: 4,
      screens: 2,
      firstDay: '1970-01-01',
      lastDay: '2026-12-31',
    });
    for (const query of ['groupBy=day', `${month}&by=received`, `${month}&simulated=only`])
      expect([query, await misdated(query)]).toEqual([query, null]);
    await own.close();
  });
});

it('a play counts at most the seconds of the longest item, whatever TVs report', async () => {
  const own = await startService();
  const tv = await own.tv();
  const body = [1e308, 86_401].map((duration) => impression({ duration }));
  expect((await tv.send('POST', 'events', { body })).status).toBe(202);
  const { body: report } = await manager(own).get(path);
  expect(report.items).toMatchObject([{ impressions: 2, seconds: 172_800 }]);
});

it('seconds have no digits beyond those of the events', async () => {
  const own = await startService();
  const tv = await own.tv();
  const body = [0.1, 0.2].map((duration) => impression({ duration }));
  expect((await tv.send('POST', 'events', { body })).status).toBe(202);
  expect((await manager(own).get(path)).body.items).toMatchObject([
    { impressions: 2, seconds: 0.3 },
  ]);
});
