import { expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { startService } from '../../support/service/service.ts';
import { runAttacks } from './run-attacks.ts';

const tries = 1_000;

it.each<[string, number, () => Promise<string>]>([
  ['one instance on the embedded store', 1, () => temporaryFolder()],
  ['three instances on PostgreSQL', 3, () => freshDatabase()],
])('%s: a revoked credential has no effect', async (where, instances, newStore) => {
  const options = { store: await newStore(), clock: systemClock };
  const services = await Promise.all(
    Array.from({ length: instances }, () => startService<Clock>(options)),
  );
  const attacked = await runAttacks(services, tries);
  for (const [attack, { refused, successes }] of Object.entries(attacked)) {
    console.log(
      `${where}: ${attack}: ${tries} tries, ${refused} refused, ${successes.length} succeeded`,
    );
    expect.soft({ attack, refused, successes }).toEqual({ attack, refused: tries, successes: [] });
  }
});
