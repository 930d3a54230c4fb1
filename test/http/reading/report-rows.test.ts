import { beforeAll, describe, expect, it } from 'vitest';
import type { ReportRow } from '../../../src/domain/records/report.ts';
import { impression, type Manager, manager } from '../../support/service/management.ts';
import { type BoundTv, startService } from '../../support/service/service.ts';

const path = '/v1/reports/impressions';
const guid = (digit: number) => `${digit}0000000-0000-4000-8000-000000000000`;
const at = (date: number, hour: number) => Date.UTC(2026, 10, date, hour) / 1000;

let admin: Manager;
let hall: string;
let one: BoundTv;
let two: BoundTv;
let other: BoundTv;

async function report(query: string) {
  const answer = await admin.get(`${path}?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body as { items: ReportRow[]; venueDaysSince: string | null; ungrouped: null };
}

/** Returns the rows as lists of some of their members. */
const rows = async (query: string, ...members: (keyof ReportRow)[]) =>
  (await report(query)).items.map((row) => members.map((member) => row[member]));

beforeAll(async () => {
  const service = await startService();
  admin = manager(service);
  const sent = await admin.send('POST', '/v1/venues', {
    body: { name: 'Hall', timezone: 'America/Sao_Paulo' },
  });
  hall = sent.body.id;
  const screen = async (name: string, labels: object) =>
    (await admin.send('POST', '/v1/screens', { body: { venueId: hall, name, labels } })).body.id;
  one = await service.tv(await screen('One', { role: 'menu' }));
  two = await service.tv(await screen('Two', { role: 'shelf' }));
  other = await service.tv();
  const item = (digit: number, more: object) => ({
    creativeId: guid(digit),
    creativeUrl: 'https://media.example.com/a.png',
    creativeType: 'image',
    duration: 10,
    ...more,
  });
  await admin.send('PUT', `/v1/screens/${one.screenId}/playlist`, {
    body: {
      items: [
        item(5, { name: 'Spring sale', campaign: 'spring', campaignId: guid(1) }),
        item(6, { name: 'Opening hours' }),
      ],
    },
  });
  const post = async (tv: BoundTv, ...events: object[]) =>
    expect((await tv.send('POST', 'events', { body: events })).status).toBe(202);
  const ad = (timestamp: number, duration: number, more: object = { plannedDuration: 10 }) =>
    impression({ campaignId: guid(1), creativeId: guid(5), timestamp, duration, ...more });
  const plain = (timestamp: number, duration: number) => ({
    type: 'play',
    creativeId: guid(6),
    timestamp,
    duration,
    plannedDuration: 10,
    entryId: 'Lunch',
  });
  await post(
    one,
    ad(at(20, 1), 10),
    ad(at(20, 12), 9.5),
    ad(at(20, 12), 9.4),
    plain(at(20, 2), 10),
  );
  await post(two, ad(at(20, 2), 7, { plannedDuration: 'ten' }), ad(at(20, 3), 7, {}));
  await post(other, ad(at(20, 1), 10), plain(at(20, 23), 3));
});

const plays = ['fullPlays', 'partialPlays', 'unknownPlays', 'plays'] as const;

describe('GET /v1/reports/impressions', () => {
  it('tells full, partial and unknown plays by what was planned, and plays without a campaign', async () => {
    expect(await rows('groupBy=screen', 'name', 'impressions', 'seconds', ...plays)).toEqual(
      expect.arrayContaining([
        ['Hall/One', 3, 28.9, 3, 1, 0, 1],
        ['Hall/Two', 2, 14, 0, 0, 2, 0],
        ['Venue 1/Screen 2', 1, 10, 1, 1, 0, 1],
      ]),
    );
    expect(await rows('groupBy=campaign', 'name', 'impressions', ...plays)).toEqual([
      ['spring', 6, 3, 1, 2, 0],
    ]);
  });

  it('names campaigns, creatives, entries, venues and screens, and no days', async () => {
    expect(await rows('groupBy=creative', 'key', 'name', 'impressions', 'plays')).toEqual([
      [guid(5), 'Spring sale', 6, 0],
      [guid(6), 'Opening hours', 0, 2],
    ]);
    expect(await rows('groupBy=entry', 'key', 'name', 'plays')).toEqual([['Lunch', 'Lunch', 2]]);
    expect(await rows('groupBy=day', 'name')).toEqual([[null]]);
    const venues = await rows('groupBy=venue', 'key', 'name');
    expect(venues).toContainEqual([hall, 'Hall']);
  });

  it('counts by two groups, sorted by both keys', async () => {
    const found = await report('groupBy=screen,creative');
    const names = found.items.map(({ name, name2, impressions, plays: count }) => [
      name,
      name2,
      impressions,
      count,
    ]);
    expect(names).toHaveLength(5);
    expect(names).toEqual(
      expect.arrayContaining([
        ['Hall/One', 'Spring sale', 3, 0],
        ['Hall/One', 'Opening hours', 0, 1],
        ['Hall/Two', 'Spring sale', 2, 0],
      ]),
    );
    const keys = found.items.map(({ key, key2 }) => `${key} ${key2}`);
    expect(keys).toEqual(keys.toSorted());
    expect(await rows('groupBy=creative,campaign', 'key', 'key2', 'impressions')).toEqual([
      [guid(5), guid(1), 6],
    ]);
    expect(await rows('groupBy=day,entry', 'key', 'key2', 'plays')).toEqual([
      ['2026-11-20', 'Lunch', 2],
    ]);
  });

  it('has CSV of two groups with both keys and names', async () => {
    const { text } = await admin.send('GET', `${path}?groupBy=day,creative`, {
      headers: { Accept: 'text/csv' },
    });
    expect(text.split('\r\n').slice(0, 2)).toEqual([
      'key,name,key2,name2,impressions,seconds,fullPlays,partialPlays,unknownPlays,plays',
      `2026-11-20,,${guid(5)},Spring sale,6,52.9,3,1,2,0`,
    ]);
  });

  it('counts on the days of the venues, and as much in all', async () => {
    const byDay = (query: string) =>
      rows(`groupBy=day&${query}`, 'key', 'impressions', 'plays', 'seconds');
    expect(await byDay('days=utc')).toEqual([['2026-11-20', 6, 2, 52.9]]);
    expect(await byDay('days=venue')).toEqual([
      ['2026-11-19', 2, 1, 17],
      ['2026-11-20', 4, 1, 35.9],
    ]);
    expect(await byDay('days=venue&to=2026-11-20')).toEqual([['2026-11-19', 2, 1, 17]]);
    expect(await byDay('days=venue&from=2026-11-20')).toEqual([['2026-11-20', 4, 1, 35.9]]);
    expect((await report('days=venue')).venueDaysSince).toBeNull();
  });

  it('keeps the days of impressions when the venue moves to another zone', async () => {
    const before = await rows('groupBy=day&days=venue', 'key', 'impressions');
    await admin.send('PATCH', `/v1/venues/${hall}`, { body: { timezone: 'Asia/Tokyo' } });
    expect(await rows('groupBy=day&days=venue', 'key', 'impressions')).toEqual(before);
    const late = impression({ campaignId: guid(2), timestamp: at(20, 20), duration: 1 });
    expect((await one.send('POST', 'events', { body: [late] })).status).toBe(202);
    expect(await rows(`groupBy=campaign,day&days=venue`, 'key', 'key2')).toContainEqual([
      guid(2),
      '2026-11-21',
    ]);
  });

  it('counts only selected screens and venues', async () => {
    const counted = async (query: string) =>
      (await rows(`groupBy=screen&to=2026-11-20&days=venue&${query}`, 'name')).flat().toSorted();
    expect(await counted(`venueId=${hall}`)).toEqual(['Hall/One', 'Hall/Two']);
    expect(await counted(`screenId=${one.screenId}&screenId=${other.screenId}`)).toEqual([
      'Hall/One',
    ]);
    expect(await counted('selector=role%3Dshelf')).toEqual(['Hall/Two']);
    expect(await counted(`selector=role%3Dshelf&screenId=${one.screenId}`)).toEqual([]);
    expect(await counted(`venueId=${other.venueId}`)).toEqual([]);
  });
});
