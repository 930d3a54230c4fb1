// Revokes credentials during requests. The full suite is authority.full.ts.
import { expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { startService } from '../../support/service.ts';
import { revokeHeld } from './revoke-held.ts';
import { runAttacks } from './run-attacks.ts';

const tries = 20;

it('401 for 20 of 20 requests with a credential revoked meanwhile, on the embedded store', async () => {
  const service = await startService<Clock>({ clock: systemClock });
  for (const [attack, { refused, successes }] of Object.entries(await runAttacks([service], tries)))
    expect.soft({ attack, refused, successes }).toEqual({ attack, refused: tries, successes: [] });
}, 30_000);

it('401 for 20 of 20 requests with a credential revoked by another instance', async () => {
  const options = { store: await freshDatabase(), clock: systemClock };
  const services = await Promise.all([1, 2].map(() => startService<Clock>(options)));
  for (const [attack, { refused, successes }] of Object.entries(await runAttacks(services, tries)))
    expect.soft({ attack, refused, successes }).toEqual({ attack, refused: tries, successes: [] });
}, 30_000);

it('401 for 20 of 20 held TVs that are revoked, and no playlist', async () => {
  const holding = await startService<Clock>({ clock: systemClock });
  expect(await revokeHeld({ holding, revoking: holding }, tries)).toEqual({
    '401, then 401': tries,
  });
}, 30_000);

it('401 for 20 of 20 held TVs that are revoked by another instance, and no playlist', async () => {
  const options = { store: await freshDatabase(), clock: systemClock };
  const holding = await startService<Clock>(options);
  const revoking = await startService<Clock>(options);
  expect(await revokeHeld({ holding, revoking }, tries)).toEqual({ '401, then 401': tries });
}, 30_000);
