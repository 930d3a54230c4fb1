// What was planned against what was played (docs/protocol.md §5.6).
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import type { CoverageReport, CoverageRow } from '../../../src/domain/planned/coverage.ts';
import { SeededRandom } from '../../../src/simulator/seeded-random.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { expectInvalid, impression, manager } from '../../support/service/management.ts';
import { startService } from '../../support/service/service.ts';
import { serveBelieving } from '../../support/stores/believed-clock.ts';

const midnight = Date.UTC(2026, 10, 20, -1);
const hour = 3_600_000;
const [breakfast, offer, lunch, alarm] = [1, 2, 3, 4].map(
  (n) => `c0000000-0000-4000-8000-00000000000${n}`,
) as [string, string, string, string];

const item = (creativeId: string, duration: number, campaign?: string) => ({
  creativeId,
  creativeUrl: `https://media.example.com/${creativeId}.png`,
  creativeType: 'image' as const,
  duration,
  ...(campaign !== undefined && { campaign }),
});

/** A venue in Berlin that opens from 8 to 18, and a screen with a TV, at midnight of a Friday. */
async function start(...[options, open]: Partial<Parameters<typeof startService<ManualClock>>>) {
  const clock = new ManualClock(midnight);
  const service = await startService({ clock, ...options }, open);
  const admin = manager(service);
  const hours = [{ days: 'mon-sun', from: '08:00', to: '18:00' }];
  const venue = await admin.venue('Lobby', { timezone: 'Europe/Berlin', hours });
  const screen = await admin.screen(venue.id, 'Main');
  const at = async (hours: number) => {
    clock.set(midnight + hours * hour);
  };
  const report = async (query = ''): Promise<CoverageReport> => {
    const { status, body, text } = await admin.get(`/v1/reports/coverage?days=venue&${query}`);
    expect(status, text).toBe(200);
    return body;
  };
  const planned = async (query = '') =>
    Object.fromEntries(
      (await report(query)).items.map(({ key, plannedSeconds }) => [key, plannedSeconds / 3600]),
    );
  return { service, clock, admin, venue, screen, at, report, planned };
}

it('plans what was due while the venue was open and a TV was bound', async () => {
  const { service, admin, venue, screen, at, planned } = await start();
  const publish = (items: object[], more: object = {}) =>
    admin.put(`/v1/screens/${screen.id}/playlist`, { items, ...more });
  // Base from 6:00, and a TV from 9:00.
  await at(6);
  await publish([item(offer, 10, 'summer'), item(breakfast, 30)]);
  await at(9);
  const tv = await service.tv(screen.id);
  // A schedule of the venue from 10:00: lunch from 12:00 to 13:00.
  await at(10);
  const entries = [{ name: 'Lunch', from: '12:00', to: '13:00', items: [item(lunch, 5)] }];
  expect((await admin.put(`/v1/venues/${venue.id}/schedule`, { entries })).status).toBe(200);
  // A takeover from 12:30 to 14:00, which is cleared at 13:30.
  await at(12.5);
  const takeover = { items: [item(alarm, 60)], until: (midnight + 14 * hour) / 1000 };
  expect((await admin.put(`/v1/screens/${screen.id}/takeover`, takeover)).status).toBe(200);
  await at(13.5);
  await admin.delete(`/v1/screens/${screen.id}/takeover`);
  // Withdrawn from 14:00 to 15:00, and then until 17:00.
  await at(14);
  await admin.delete(`/v1/screens/${screen.id}/playlist`);
  await at(15);
  await publish([item(offer, 10, 'summer')], { validUntil: (midnight + 17 * hour) / 1000 });
  await at(40);
  // 9:00–14:00 and 15:00–17:00. The second day has lunch only.
  expect(await planned('groupBy=day')).toEqual({ '2026-11-20': 7, '2026-11-21': 1 });
  expect(await planned('groupBy=day&to=2026-11-21')).toEqual({ '2026-11-20': 7 });
  expect(await planned('to=2026-11-21')).toEqual({ [screen.id]: 7 });
  expect(await planned('groupBy=venue')).toEqual({ [venue.id]: 8 });
  // Base 9:00–12:00 and 13:30–14:00: a quarter is the offer.
  const base = 3.5;
  expect(await planned('groupBy=creative')).toEqual({
    [breakfast]: base * 0.75,
    [offer]: base * 0.25 + 2,
    [lunch]: 1.5,
    [alarm]: 1,
  });
  expect(Object.values(await planned('groupBy=campaign'))).toEqual([base * 0.25 + 2]);
  // A revoked TV ends the plan, and a deleted screen keeps it.
  await admin.post(`/v1/devices/${tv.deviceId}/revoke`);
  await at(70);
  expect(await planned('groupBy=day')).toEqual({ '2026-11-20': 7, '2026-11-21': 1 });
  await admin.delete(`/v1/screens/${screen.id}`);
  await at(80);
  expect(await planned('')).toEqual({ [screen.id]: 8 });
});

it('counts each play once, and late and unplaced ones apart', async () => {
  const { service, clock, screen, at, report } = await start();
  await at(7);
  const tv = await service.tv(screen.id);
  const play = (hours: number, more: object = {}) =>
    impression({ timestamp: (midnight + hours * hour) / 1000, duration: 36, ...more });
  const send = async (events: object[]) =>
    expect((await tv.send('POST', 'events', { body: events })).status).toBe(202);
  await at(10);
  await send([play(9, { seq: 1 }), play(9.5, { seq: 2 }), play(9.6, { seq: 5 })]);
  // The second one again, one of before the registration, and one of the next year.
  await send([play(9.5, { seq: 2 }), play(6.9, { seq: 6 }), play(9000, { seq: 7 })]);
  const day = async (query = ''): Promise<CoverageRow | undefined> =>
    (await report(`to=2026-11-21&${query}`)).items[0];
  expect(await day()).toMatchObject({
    plays: 3,
    playedSeconds: 108,
    unplaced: 2,
    late: 0,
    lost: 2,
  });
  await at(40);
  await send([play(9.55, { seq: 4 }), play(39, { seq: 9, duration: 1e308 })]);
  expect(await day()).toMatchObject({ plays: 4, unplaced: 2, late: 1, lost: 1 });
  expect(await report('groupBy=creative&to=2026-11-21')).toMatchObject({ unattributed: 1 });
  expect((await report()).items).toMatchObject([
    { plays: 5, playedSeconds: 144 + 86_400, lost: 2 },
  ]);
  expect(clock.now()).toBe(midnight + 40 * hour);
});

it.each([1, 2, 3])(
  'finds each lost event of a fleet, and counts none twice (seed %d)',
  async (seed) => {
    const { service, venue, admin, at, report } = await start();
    const random = new SeededRandom(`lost ${seed}`);
    const chance = (share: number) => random.fraction() < share;
    await at(8);
    const expected = new Map<string, { lost: number; plays: number }>();
    const sends: { atHours: number; send: () => Promise<void> }[] = [];
    for (const name of ['A', 'B', 'C']) {
      const tv = await service.tv((await admin.screen(venue.id, name)).id);
      const came = new Set<number>();
      for (let batch = 0; batch < 60; batch++) {
        const hours = 8.1 + batch / 10;
        const body = [1, 2, 3, 4].map((place) => ({
          ...impression({ timestamp: Math.floor((midnight + hours * hour) / 1000), duration: 10 }),
          seq: batch * 4 + place,
        }));
        // The TV has lost some events, and now and then a whole batch.
        const kept = chance(0.05) ? [] : body.filter(() => !chance(0.05));
        if (kept.length === 0) continue;
        for (const { seq } of kept) came.add(seq);
        const send = async (events: object[]) =>
          expect((await tv.send('POST', 'events', { body: events })).status).toBe(202);
        // Offline for a day, or sent again with another batch.
        const atHours = chance(0.1) ? hours + 24 : hours;
        sends.push({ atHours, send: () => send(kept) });
        if (chance(0.2))
          sends.push({ atHours: atHours + 1, send: () => send(kept.slice(1).concat(kept)) });
      }
      expected.set(tv.screenId, { lost: Math.max(...came) - came.size, plays: came.size });
    }
    sends.sort((one, other) => one.atHours - other.atHours);
    for (const { atHours, send } of sends) {
      await at(atHours);
      await send();
    }
    const found = new Map(
      (await report()).items.map(({ key, lost, plays }) => [key, { lost, plays }]),
    );
    expect(found).toEqual(expected);
  },
);

it('covers planned time only by plays that were on the glass then', async () => {
  const { service, admin, screen, at, report } = await start();
  await admin.put(`/v1/screens/${screen.id}/playlist`, { items: [item(offer, 3600)] });
  const tv = await service.tv(screen.id);
  await at(19);
  // From 7:30 to 8:30, to 9:30, and from 17:30 to 18:30.
  const body = [8.5, 9.5, 18.5].map((hours) =>
    impression({ timestamp: (midnight + hours * hour) / 1000, duration: 3600 }),
  );
  await tv.send('POST', 'events', { body });
  const sums = { plannedSeconds: 36_000, playedSeconds: 10_800, coveredSeconds: 7200 };
  expect((await report()).items).toMatchObject([{ ...sums, coverage: 0.2, plays: 3 }]);
});

it('follows changes of hours, time zones and TVs', async () => {
  const { service, admin, venue, screen, at, planned } = await start();
  await admin.put(`/v1/screens/${screen.id}/playlist`, { items: [item(offer, 10)] });
  const { deviceId } = await service.tv(screen.id);
  // From 12:00 always open, from 14:00 only in the evening, and from 20:00 as the venue.
  await at(12);
  await admin.patch(`/v1/screens/${screen.id}`, { hours: [] });
  await at(14);
  const evening = [{ days: 'mon-sun', from: '19:00', to: '24:00' }];
  await admin.patch(`/v1/screens/${screen.id}`, { hours: evening });
  await at(20);
  await admin.patch(`/v1/screens/${screen.id}`, { hours: null });
  // 8–14 and 19–20.
  await at(24);
  expect(await planned('groupBy=day')).toEqual({ '2026-11-20': 7 });
  // Closed on the next day until 9:00, when the venue moves to Lisbon, where it is 8:00.
  const dates = { from: '2026-11-21', until: '2026-11-21' };
  await admin.patch(`/v1/venues/${venue.id}`, { hoursExceptions: [{ dates }] });
  await at(24 + 9);
  await admin.patch(`/v1/venues/${venue.id}`, {
    timezone: 'Europe/Lisbon',
    hoursExceptions: null,
  });
  // A simulated TV from 12:00 to 16:00 in Lisbon.
  await at(24 + 13);
  await admin.post(`/v1/devices/${deviceId}/revoke`);
  const code = await admin.post('/v1/devices/provisioning-codes', {
    screenId: screen.id,
    simulated: true,
  });
  const simulated = await service.register(code.body.code);
  await at(24 + 17);
  await admin.post(`/v1/devices/${simulated.body.deviceId}/revoke`);
  await service.tv(screen.id);
  await at(24 + 25);
  expect(await planned('groupBy=day')).toEqual({ '2026-11-20': 7, '2026-11-21': 6 });
  // In UTC, the first day of the screen in Berlin begins an hour earlier.
  const utc = await admin.get('/v1/reports/coverage?groupBy=day');
  expect(utc.body.items).toMatchObject([
    { key: '2026-11-20', plannedSeconds: 7 * 3600 },
    { key: '2026-11-21', plannedSeconds: 6 * 3600 },
  ]);
});

it('plans the night of a venue on both of its days', async () => {
  const { service, admin, venue, screen, at, planned } = await start();
  const hours = [{ days: 'fri', from: '22:00', to: '03:00' }];
  await admin.patch(`/v1/venues/${venue.id}`, { hours });
  await admin.put(`/v1/screens/${screen.id}/playlist`, { items: [item(offer, 10)] });
  await service.tv(screen.id);
  await at(48);
  expect(await planned('groupBy=day')).toEqual({ '2026-11-20': 2, '2026-11-21': 3 });
  expect(await planned('from=2026-11-21')).toEqual({ [screen.id]: 3 });
  expect(await planned('from=2026-11-22')).toEqual({});
});

it('follows changes after a clock that ran a year ahead was corrected', async () => {
  const { service, admin, venue, screen, at, report } = await start();
  await admin.put(`/v1/screens/${screen.id}/playlist`, { items: [item(offer, 10)] });
  await service.tv(screen.id);
  await at(365 * 24);
  await admin.put(`/v1/screens/${screen.id}/playlist`, { items: [item(lunch, 10)] });
  await at(11);
  await admin.delete(`/v1/screens/${screen.id}/playlist`);
  const other = await admin.screen(venue.id, 'Other');
  await admin.put(`/v1/screens/${other.id}/playlist`, { items: [item(offer, 10)] });
  const tv = await service.tv(other.id);
  await at(13);
  const body = [impression({ timestamp: (midnight + 12 * hour) / 1000, duration: 10 })];
  expect((await tv.send('POST', 'events', { body })).status).toBe(202);
  expect((await report()).items).toMatchObject([
    { key: screen.id, plannedSeconds: 3 * 3600 },
    { key: other.id, plannedSeconds: 2 * 3600, plays: 1, unplaced: 0 },
  ]);
});

it('does not guess what an on-demand source gave', async () => {
  let has = true;
  const onDemand = async () => (has ? { items: [item(offer, 10, 'summer')] } : null);
  const { service, admin, screen, at, report } = await start({
    onDemand,
    onDemandTtlSeconds: 0,
  });
  const tv = await service.tv(screen.id);
  for (const hour of [9, 10, 11]) {
    await at(hour);
    expect((await tv.send('GET', 'playlist')).status).toBe(200);
  }
  has = false;
  for (const hour of [12, 15]) {
    await at(hour);
    await tv.send('GET', 'playlist');
  }
  const byScreen = await report();
  expect(byScreen.items).toMatchObject([{ key: screen.id, incomplete: false }]);
  expect(byScreen.items[0]?.plannedSeconds).toBeGreaterThanOrEqual(3 * 3600);
  const body = [impression({ timestamp: (midnight + 15 * hour) / 1000, creativeId: offer })];
  expect((await tv.send('POST', 'events', { body })).status).toBe(202);
  expect((await report('groupBy=creative')).items).toMatchObject([
    { key: offer, plannedSeconds: 0, coverage: null, plays: 1, incomplete: true },
  ]);
  expect((await admin.get(`/v1/screens/${screen.id}/playlist`)).status).toBe(200);
});

it('follows the schedule again once the playlist of an on-demand source has ended', async () => {
  const validUntil = (midnight + 10 * hour) / 1000;
  const onDemand = async () => ({ items: [item(offer, 10)], validUntil });
  const { service, admin, screen, at, planned } = await start({ onDemand, onDemandTtlSeconds: 0 });
  const entries = [{ from: '07:00', to: '17:00', items: [item(lunch, 5)] }];
  await admin.put(`/v1/screens/${screen.id}/schedule`, { entries });
  const tv = await service.tv(screen.id);
  await at(9);
  expect((await tv.send('GET', 'playlist')).body.items).toMatchObject([{ creativeId: offer }]);
  await at(11);
  const explained = await admin.get(`/v1/screens/${screen.id}/explain`);
  expect(explained.body).toMatchObject({ layer: 'schedule', entryId: 'entry-1' });
  await at(24);
  expect(await planned('groupBy=creative')).toEqual({ [lunch]: 8 });
  expect(await planned()).toEqual({ [screen.id]: 9 });
});

it('marks as incomplete what retention has deleted', async () => {
  const options = { retentionDays: 2, store: await temporaryFolder() };
  const { service, clock, admin, screen, report } = await start(options, serveBelieving);
  await admin.put(`/v1/screens/${screen.id}/playlist`, { items: [item(offer, 10)] });
  const { deviceId } = await service.tv(screen.id);
  clock.advance(24 * hour);
  await admin.post(`/v1/devices/${deviceId}/revoke`);
  await service.tv(screen.id);
  const days = async () =>
    (await report('groupBy=day')).items.map(({ key, incomplete }) => [key, incomplete]);
  expect(await days()).toEqual([['2026-11-20', false]]);
  clock.advance(50 * hour);
  const purged = async () => {
    clock.advance(60_000);
    return (await admin.get('/v1/audit?action=retention.purge')).body.items.length;
  };
  await expect.poll(purged).toBe(1);
  // The days of UTC that are left begin at one o'clock in Berlin.
  expect(await days()).toEqual([
    ['2026-11-21', true],
    ['2026-11-22', false],
  ]);
  expect((await report('from=2026-11-22')).items).toMatchObject([{ incomplete: false }]);
  expect((await report()).items).toMatchObject([{ incomplete: true }]);
});

it('does not call lost what retention has deleted', async () => {
  const options = { retentionDays: 2, store: await temporaryFolder() };
  const { service, clock, admin, screen, report } = await start(options, serveBelieving);
  const tv = await service.tv(screen.id);
  for (const seq of [1, 2, 3, 4, 6]) {
    const body = [impression({ timestamp: clock.now() / 1000, duration: 1, seq })];
    expect((await tv.send('POST', 'events', { body })).status).toBe(202);
    clock.advance(24 * hour);
  }
  const purged = async () => {
    clock.advance(60_000);
    return (await admin.get('/v1/events?type=impression')).body.items.length;
  };
  await expect.poll(purged).toBe(2);
  expect((await report()).items).toMatchObject([{ lost: 1, incomplete: true }]);
});

it('shows a caller only its own venues, and refuses wrong queries', async () => {
  const { service, admin, venue, screen, at, report } = await start();
  await admin.put(`/v1/screens/${screen.id}/playlist`, { items: [item(offer, 10, 'summer')] });
  await service.tv(screen.id);
  const bar = await admin.venue('Bar');
  const other = await admin.screen(bar.id, 'Door', { labels: { floor: '2' } });
  await admin.put(`/v1/screens/${other.id}/playlist`, { items: [item(offer, 10, 'summer')] });
  await service.tv(other.id);
  await at(10);
  const keys = async (query: string) => (await report(query)).items.map(({ key }) => key);
  expect(await keys('')).toEqual([screen.id, other.id].sort());
  expect(await keys(`venueId=${bar.id}`)).toEqual([other.id]);
  expect(await keys('selector=floor=2')).toEqual([other.id]);
  const bound = await admin.newToken({ name: 'Bar', role: 'viewer', venueIds: [bar.id] });
  const guest = manager(service, bound.token);
  const ofGuest = await guest.get(`/v1/reports/coverage?groupBy=venue&venueId=${venue.id}`);
  expect(ofGuest.body).toEqual({ items: [], unattributed: null });
  const all = await guest.get('/v1/reports/coverage?groupBy=campaign');
  expect(all.body.items).toMatchObject([{ name: 'summer', plannedSeconds: 10 * 3600 }]);
  const tenant = await admin.tenant('Elsewhere');
  const elsewhere = await admin.in(tenant.id).get(`/v1/reports/coverage?screenId=${screen.id}`);
  expect(elsewhere.body).toEqual({ items: [], unattributed: null });
  const wrong = (query: string) => admin.in(tenant.id).get(`/v1/reports/coverage?${query}`);
  expectInvalid(await wrong('groupBy=entry'), 'query.groupBy');
  expectInvalid(await wrong('from=2026-11-20T10:00:00Z'), 'query.from');
  expectInvalid(await wrong('from=2026-11-20&to=2026-11-19'), 'query.to');
  expectInvalid(await wrong('simulated=only'), 'query.simulated');
});

it('is the same on PostgreSQL, whose clock decides', async () => {
  const service = await startService({ store: await freshDatabase(), clock: systemClock });
  const admin = manager(service);
  const { id } = await admin.screen((await admin.venue('Lobby')).id, 'Main');
  await admin.put(`/v1/screens/${id}/playlist`, { items: [item(offer, 10, 'summer')] });
  const tv = await service.tv(id);
  const secondsOf = async (groupBy: string) =>
    (await admin.get(`/v1/reports/coverage?groupBy=${groupBy}`)).body.items[0]?.plannedSeconds;
  const since = performance.now();
  await expect.poll(() => secondsOf('screen')).toBeGreaterThan(0.5);
  await admin.put(`/v1/screens/${id}/playlist`, { items: [item(lunch, 10)] });
  await admin.post(`/v1/devices/${tv.deviceId}/revoke`);
  const ended = await secondsOf('venue');
  expect(ended).toBeLessThan((performance.now() - since) / 1000 + 1);
  await admin.delete(`/v1/screens/${id}`);
  expect(await secondsOf('screen')).toBe(ended);
  expect(await secondsOf('campaign')).toBeGreaterThan(0.5);
  expect(await secondsOf('campaign')).toBeLessThanOrEqual(ended);
});
