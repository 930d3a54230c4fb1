// Impressions that 0.1.0 has counted have days of UTC only, and one group each.
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { CoverageReport } from '../../../src/domain/planned/coverage.ts';
import type { ImpressionReport } from '../../../src/domain/records/report.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { startService } from '../../support/service/service.ts';
import { ask, type Exchange, publicUrl, releasedData, webhookAllow } from './exchange.ts';

const root = join(fileURLToPath(releasedData), '0.1.0');

it('the report says from which day on venue days are exact, and what two groups lack', async () => {
  const { nowMs, exchanges } = JSON.parse(await readFile(join(root, 'exchanges.json'), 'utf8'));
  const store = await temporaryFolder();
  await cp(join(root, 'data'), store, { recursive: true });
  const clock = new ManualClock(nowMs);
  const options = { publicUrl, webhookAllow, allowOpenData: true };
  const service = await startService({ store, clock, ...options });
  const { asked } = (exchanges as Exchange[]).find(({ asked: { path } }) =>
    path.startsWith('/v1/reports/impressions'),
  ) as Exchange;
  const report = async (query: string, headers = asked.headers): Promise<ImpressionReport> => {
    const path = `/v1/reports/impressions?${query}`;
    const { body } = (await ask(service, { ...asked, headers, path })) as {
      body: ImpressionReport;
    };
    return body;
  };
  const sum = ({ items }: ImpressionReport) =>
    items.reduce((total, { impressions }) => total + impressions, 0);
  const utc = await report('groupBy=day');
  expect(sum(utc)).toBeGreaterThan(0);
  expect(utc).toMatchObject({ venueDaysSince: null, ungrouped: null });
  // The last receipt was on the 17th. It was the 18th in the east.
  const venue = await report('groupBy=day&days=venue');
  expect(venue).toMatchObject({ items: utc.items, venueDaysSince: '2026-10-19', ungrouped: null });
  expect((await report('days=venue&from=2026-10-19')).venueDaysSince).toBeNull();
  expect(await report('groupBy=screen,creative')).toMatchObject({ items: [], ungrouped: sum(utc) });
  const byScreen = await report('groupBy=screen');
  const byBoth = await report('groupBy=screen,day');
  expect([sum(byScreen), sum(byBoth)]).toEqual([sum(utc), sum(utc)]);
  expect(byBoth.ungrouped).toBeNull();
  const one = `screenId=${byScreen.items[0]?.key}`;
  const own = byScreen.items[0]?.impressions;
  expect(sum(await report(`groupBy=screen&${one}`))).toBe(own);
  expect(sum(await report(`groupBy=day,screen&${one}`))).toBe(own);
  expect(await report(`groupBy=campaign&${one}`)).toMatchObject({ items: [], ungrouped: own });
  const booked = { name: 'Old', from: '2026-10-16', to: '2026-10-17', bookedPlays: 9 };
  const [{ key = '' } = {}] = (await report('')).items;
  await ask(service, { ...asked, method: 'PUT', path: `/v1/campaigns/${key}`, body: booked });
  const days = `from=${booked.from}&to=${booked.to}&simulated=exclude`;
  const [ofDays] = (await report(days)).items;
  expect(ofDays?.impressions).toBeGreaterThan(0);
  const ofBooking = { deliveredPlays: ofDays?.impressions, deliveredSeconds: ofDays?.seconds };
  expect((await report('')).items).toMatchObject([{ key, name: 'Old', ...ofBooking }]);
  const byVenue = await report('groupBy=venue');
  const ofVenue = `groupBy=venue&venueId=${byVenue.items[0]?.key}`;
  expect((await report(ofVenue)).items).toEqual(byVenue.items.slice(0, 1));
  const other = exchanges.find(
    ({ asked: { headers } }: Exchange) =>
      headers?.['x-tenant-id'] && headers['x-tenant-id'] !== asked.headers?.['x-tenant-id'],
  ).asked.headers;
  const nothing = { items: [], misdated: null, venueDaysSince: null, ungrouped: null };
  const foreign = [byVenue.items[0]?.key, asked.headers?.['x-tenant-id']];
  for (const venueId of foreign)
    for (const groups of ['day', 'venue', 'screen', 'screen,creative', 'day,creative'])
      expect(
        await report(`groupBy=${groups}&days=venue&venueId=${venueId}`, other),
        groups,
      ).toEqual(nothing);
  const { body } = (await ask(service, { ...asked, path: '/v1/reports/coverage' })) as {
    body: CoverageReport;
  };
  expect(new Set(body.items.map(({ incomplete }) => incomplete))).toEqual(new Set([true]));
  await service.close();
});
