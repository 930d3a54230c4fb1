// Booked against delivered in GET /v1/reports/impressions.
import { beforeAll, describe, expect, it } from 'vitest';
import { campaignIdOf } from '../../../src/domain/playlists/campaign.ts';
import type { ReportRow } from '../../../src/domain/records/report.ts';
import { impression, type Manager, manager } from '../../support/service/management.ts';
import { startService, type TestService } from '../../support/service/service.ts';

const path = '/v1/reports/impressions';
/** The first and the last minute of December in São Paulo, by UTC: seconds of the epoch. */
const begin = Date.UTC(2026, 11, 1, 3, 0) / 1000;
const end = Date.UTC(2027, 0, 1, 2, 59) / 1000;

let service: TestService;
let admin: Manager;
let tenantId: string;
let hall: string;

const idOf = (name: string) => campaignIdOf(tenantId, name);
const book = (name: string, body: object) => admin.put(`/v1/campaigns/${name}`, body);
async function row(name: string, query = ''): Promise<ReportRow | undefined> {
  const answer = await admin.get(`${path}?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.items.find(({ key }: ReportRow) => key === idOf(name));
}

beforeAll(async () => {
  service = await startService();
  admin = manager(service);
  ({ tenantId } = (await admin.get('/v1/me')).body);
  const venue = await admin.post('/v1/venues', { name: 'Hall', timezone: 'America/Sao_Paulo' });
  hall = venue.body.id;
  const tv = await service.tv((await admin.screen(hall, 'One')).id);
  const ad = (timestamp: number, duration: number) =>
    impression({ campaignId: idOf('summer'), timestamp, duration });
  const body = [ad(begin - 1, 1), ad(begin, 10), ad(end, 20.5), ad(end + 60, 2)];
  expect((await tv.send('POST', 'events', { body })).status).toBe(202);
  const simulated = await admin.post('/v1/devices/provisioning-codes', {
    screenId: (await admin.screen(hall, 'Two')).id,
    simulated: true,
  });
  const { deviceId, apiKey } = (await service.register(simulated.body.code)).body;
  const sent = { key: apiKey, body: [ad(begin, 100)] };
  expect((await service.send('POST', `/devices/${deviceId}/events`, sent)).status).toBe(202);
  await book('summer', {
    ...{ client: 'Ice & Co.', from: '2026-12-01', to: '2027-01-01' },
    ...{ bookedPlays: 4, bookedSeconds: 100 },
  });
  await book('unplayed', { from: '2026-12-01', to: '2027-01-01', bookedPlays: 7 });
});

const delivered = { deliveredPlays: 2, deliveredSeconds: 30.5 };

describe('GET /v1/reports/impressions', () => {
  it('has the booking of a campaign, and what was delivered on its days of the venue', async () => {
    expect(await row('summer')).toMatchObject({
      ...{ impressions: 5, client: 'Ice & Co.', bookedFrom: '2026-12-01', bookedTo: '2027-01-01' },
      ...{ bookedPlays: 4, bookedSeconds: 100, ...delivered },
    });
  });

  it.each([
    'days=venue&from=2026-12-31',
    'days=utc&to=2026-12-02',
    'simulated=exclude',
    'from=2026-11-30&to=2026-12-01&days=venue',
  ])('compares over the days of the booking, whatever the report counts: %s', async (query) => {
    const found = await row('summer', query);
    expect(found).toMatchObject(delivered);
    expect(found?.impressions).not.toBe(5);
  });

  it('compares by the time of receipt if the report does', async () => {
    expect(await row('summer', 'by=received')).toMatchObject({ deliveredPlays: 0 });
  });

  it('has a row of a booked campaign that has not played, on booked days only', async () => {
    expect(await row('unplayed')).toEqual({
      ...{ key: idOf('unplayed'), name: 'unplayed', impressions: 0, seconds: 0 },
      ...{ fullPlays: 0, partialPlays: 0, unknownPlays: 0, plays: 0, bookedPlays: 7 },
      ...{ bookedFrom: '2026-12-01', bookedTo: '2027-01-01' },
      ...{ deliveredPlays: 0, deliveredSeconds: 0 },
    });
    expect(await row('unplayed', 'from=2026-12-31&to=2027-01-05')).toBeDefined();
    expect(await row('unplayed', 'from=2027-01-01')).toBeUndefined();
    expect(await row('unplayed', 'to=2026-12-01')).toBeUndefined();
    const { items } = (await admin.get(path)).body;
    const keys = items.map(({ key }: ReportRow) => key);
    expect(keys).toEqual(keys.toSorted());
  });

  it('has no booking where it counts only a part', async () => {
    for (const query of [
      `venueId=${hall}`,
      'selector=!nothing',
      'simulated=only',
      'groupBy=campaign,day',
    ])
      expect((await admin.get(`${path}?${query}`)).text).not.toMatch(/booked|delivered|client/);
  });

  it('has no bookings in the CSV', async () => {
    const { text } = await admin.send('GET', path, { headers: { accept: 'text/csv' } });
    expect(text.split('\r\n')[0]).toBe(
      'key,impressions,seconds,fullPlays,partialPlays,unknownPlays,plays,name',
    );
  });

  it('compares with all days if a booking has none, and not at all if nothing is booked', async () => {
    await book('summer', { bookedPlays: 4 });
    const open = await row('summer');
    expect(open).toMatchObject({ deliveredPlays: 4 });
    expect(open).not.toHaveProperty('bookedFrom');
    await book('summer', { client: 'Ice & Co.', from: '2026-12-01' });
    const named = await row('summer');
    expect(named).toMatchObject({ client: 'Ice & Co.', impressions: 5 });
    expect(named).not.toHaveProperty('deliveredPlays');
    await book('summer', {});
    expect(await row('summer')).not.toHaveProperty('bookedFrom');
  });
});
