import { expect, it } from 'vitest';
import { dayMs } from '../../../src/domain/clock.ts';
import type { ReportRow } from '../../../src/domain/records/report.ts';
import { SeededRandom } from '../../../src/simulator/seeded-random.ts';
import { impression, manager } from '../../support/service/management.ts';
import { startService } from '../../support/service/service.ts';

/** Zones with clock changes of an hour and of half an hour, at midnight, and with odd offsets. */
const zones = [
  'Europe/Berlin',
  'America/New_York',
  'America/Sao_Paulo',
  'Australia/Lord_Howe',
  'America/Havana',
  'Asia/Beirut',
  'Africa/Casablanca',
  'America/St_Johns',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'Pacific/Chatham',
  'Asia/Tokyo',
];
const plays = 100_000;
const perBatch = 100;

/** Returns the local day by Node's own data of time zones. */
function intlDays(timeZone: string): (timeMs: number) => string {
  const form = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  return (timeMs) => form.format(timeMs);
}

it('counts 100,000 plays in 12 zones, over their clock changes, on the local days that Intl tells', async () => {
  const service = await startService();
  const admin = manager(service);
  const random = new SeededRandom('venue days');
  const begin = Date.UTC(2025, 9, 1);
  const spanMs = 400 * dayMs;
  const expected = new Map<string, number>();
  const venues = await Promise.all(
    zones.map(async (timezone) => {
      const venue = await admin.send('POST', '/v1/venues', {
        body: { name: timezone.replace('/', ' '), timezone },
      });
      const screen = await admin.screen(venue.body.id, 'Screen');
      return { id: venue.body.id, tv: await service.tv(screen.id), dayOf: intlDays(timezone) };
    }),
  );
  for (let batch = 0; batch < plays / perBatch; batch++) {
    const { id, tv, dayOf } = venues[batch % venues.length]!;
    const body = Array.from({ length: perBatch }, () => {
      const timeMs = Math.floor((begin + random.fraction() * spanMs) / 1000) * 1000;
      const day = `${id} ${dayOf(timeMs)}`;
      expected.set(day, (expected.get(day) ?? 0) + 1);
      return impression({ timestamp: timeMs / 1000 });
    });
    expect((await tv.send('POST', 'events', { body })).status).toBe(202);
  }
  const report = async (query: string) =>
    (await admin.get(`/v1/reports/impressions?${query}`)).body.items as ReportRow[];
  const found = await report('groupBy=venue,day&days=venue');
  expect(
    new Map(found.map(({ key, key2, impressions }) => [`${key} ${key2}`, impressions])),
  ).toEqual(expected);
  const utc = await report('groupBy=day');
  expect(utc.reduce((sum, { impressions }) => sum + impressions, 0)).toBe(plays);
});
