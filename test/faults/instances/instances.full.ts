import { expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { startService } from '../../support/service/service.ts';
import { guessEverywhere, raceForCodes, racePublications, raceSwitches } from './races.ts';

const screens = 1000;

it('keeps its promises when three instances race on one database', async () => {
  const store = await freshDatabase();
  const options = { store, clock: systemClock, trustProxy: ['127.0.0.1'] };
  const services = await Promise.all([1, 2, 3].map(() => startService<Clock>(options)));

  const races = await raceForCodes(services, store, { screens, racers: 30 });
  console.log(`${races.winners.length} races of 30, looked at ${races.looks} times`);
  expect(races).toMatchObject({
    winners: Array.from({ length: screens }, () => 1),
    doubles: [],
    wrong: [],
  });

  const publications = await racePublications(services.slice(0, 2), { screens: 500, calls: 12 });
  console.log(`${publications.published} versions published by two instances at once`);
  expect(publications.wrong).toEqual([]);

  const switches = await raceSwitches(services.slice(0, 2), { screens: 100, switches: 10 });
  console.log(`${switches.switched} switches met by two instances at once`);
  expect(switches.wrong).toEqual([]);

  expect(await guessEverywhere(services, 300)).toEqual({ 404: 10, 429: 290 });
});
