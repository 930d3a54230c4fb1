// Revokes credentials during requests. The full suite is authority.full.ts.
import { expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { startService } from '../../support/service/service.ts';
import { runAttacks } from './run-attacks.ts';

it.each<[string, number, number, () => Promise<string>]>([
  ['on the embedded store', 1, 10, async () => 'memory:'],
  ['by another instance', 3, 12, () => freshDatabase()],
])(
  '401 for each request with a credential revoked meanwhile %s',
  async (_, instances, tries, newStore) => {
    const options = { store: await newStore(), clock: systemClock };
    const services = await Promise.all(
      Array.from({ length: instances }, () => startService<Clock>(options)),
    );
    for (const [attack, { refused, successes }] of Object.entries(
      await runAttacks(services, tries),
    ))
      expect
        .soft({ attack, refused, successes })
        .toEqual({ attack, refused: tries, successes: [] });
  },
);
