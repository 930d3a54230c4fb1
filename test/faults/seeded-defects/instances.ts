import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { inDatabase } from '../../support/postgres/in-database.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { startService } from '../../support/service/service.ts';
import { raceForCodes } from '../instances/races.ts';
import { seeded } from './seeded-defect.ts';

/** Disables version checks and unique indexes of devices in the database. */
async function plantBlindness(database: string): Promise<void> {
  await inDatabase(database, async (sql) => {
    const [{ text }] = (await sql(
      `SELECT pg_get_functiondef('signage.make_changes'::regproc) AS text`,
    )) as [{ text: string }];
    const blind = text.replaceAll('IF those IS DISTINCT FROM step.seen', 'IF false');
    if (blind === text) throw new Error('There is nothing left to seededDefect this in.');
    await sql(blind);
    await sql('ALTER TABLE signage.devices DROP CONSTRAINT devices_key_bound_key');
  });
}

/** Races two instances for codes. Returns the violations. */
async function race(seededDefect?: (database: string) => Promise<void>): Promise<string[]> {
  const store = await freshDatabase();
  const services = await Promise.all(
    [1, 2].map(() => startService<Clock>({ store, clock: systemClock })),
  );
  try {
    // The defect is added after the instances have opened their stores.
    await seededDefect?.(store);
    const { winners, doubles, wrong } = await raceForCodes(services, store, {
      screens: 1,
      racers: 8,
    });
    const several = winners
      .filter((count) => count !== 1)
      .map((count) => `${count} of 8 that raced for a code have it`);
    return [
      ...several,
      ...doubles.map((screen) => `the screen ${screen} had two devices`),
      ...wrong,
    ];
  } finally {
    await Promise.all(services.map((service) => service.close()));
  }
}

export const instances = seeded('instances/races', race, {
  'a change is made though what it had read is not so any more': plantBlindness,
});
