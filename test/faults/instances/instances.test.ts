import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { impression } from '../../support/service/content.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { guessEverywhere, raceForCodes, racePublications, raceSwitches } from './races.ts';

// `npm run faults` runs the full suite.
describe('three instances on one database', () => {
  let services: TestService<Clock>[];
  let store: string;
  beforeAll(async () => {
    store = await freshDatabase();
    const options = { store, clock: systemClock, trustProxy: ['127.0.0.1'] };
    services = await Promise.all([1, 2, 3].map(() => startService<Clock>(options)));
  });

  it('201 for one of 30 concurrent registrations with a code, 8 times, and never two devices on a screen', async () => {
    const report = await raceForCodes(services, store, { screens: 8, racers: 30 });
    expect(report).toMatchObject({
      winners: Array.from({ length: 8 }, () => 1),
      doubles: [],
      wrong: [],
    });
    expect(report.looks).toBeGreaterThan(3);
  });

  it('201 for one of 30 concurrent registrations with three codes of a screen', async () => {
    const report = await raceForCodes(services, store, { screens: 2, racers: 30, codesEach: 3 });
    expect(report).toMatchObject({ winners: [1, 1], doubles: [], wrong: [] });
  });

  it('publish whole calls on the same screens: no version is lost or given twice', async () => {
    const report = await racePublications(services, { screens: 40, calls: 9 });
    expect(report).toEqual({ wrong: [], published: 360 });
  });

  it('make one version of each switch, with the same bytes from all', async () => {
    const report = await raceSwitches(services, { screens: 10, switches: 3 });
    expect(report).toEqual({ wrong: [], switched: 30 });
  });

  it('404 for ten unknown codes from one address at any instance, then 429 from all', async () => {
    expect(await guessEverywhere(services, 30)).toEqual({ 404: 10, 429: 20 });
  });

  it('wake long polls at any instance', async () => {
    const [one, other, third] = services as [
      TestService<Clock>,
      TestService<Clock>,
      TestService<Clock>,
    ];
    const { code } = await one.code(
      (await one.screen({ venueId: (await one.venue({ name: randomUUID() })).id })).id,
    );
    const { items } = (await one.manage('GET', '/v1/events?limit=1')).body;
    const after = items.length === 0 ? '' : `&after=${items[0].id}`;
    const waiting = [one, other].map((service) =>
      service.manage('GET', `/v1/devices/provisioning-codes/${code}/status?waitSeconds=30`),
    );
    const following = [one, other].map((service) =>
      service.manage('GET', `/v1/events?order=asc&waitSeconds=30${after}`),
    );
    const { body: tv } = await third.register(code);
    for (const answer of await Promise.all(waiting))
      expect(answer.body).toMatchObject({ status: 'used', deviceId: tv.deviceId });
    await third.send('POST', `/devices/${tv.screenId}/events`, {
      key: tv.apiKey,
      body: [impression()],
    });
    for (const answer of await Promise.all(following))
      expect(answer.body.items).toMatchObject([{ deviceId: tv.deviceId }]);
  });
});
