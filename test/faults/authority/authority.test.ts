// Credentials taken away while a request is under way, a few tries of each. The full suite is
// authority.full.ts.
import { expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { startService } from '../../support/service.ts';
import { runAttacks } from './run-attacks.ts';

const tries = 20;

it('401 for each of 20 tries with a credential that was taken away, on the embedded store', async () => {
  const service = await startService<Clock>({ clock: systemClock });
  for (const [attack, { refused, successes }] of Object.entries(await runAttacks([service], tries)))
    expect.soft({ attack, refused, successes }).toEqual({ attack, refused: tries, successes: [] });
}, 30_000);

it('401 for each of 20 tries, also when another instance took the credential away', async () => {
  const options = { store: await freshDatabase(), clock: systemClock };
  const services = await Promise.all([1, 2].map(() => startService<Clock>(options)));
  for (const [attack, { refused, successes }] of Object.entries(await runAttacks(services, tries)))
    expect.soft({ attack, refused, successes }).toEqual({ attack, refused: tries, successes: [] });
}, 30_000);
