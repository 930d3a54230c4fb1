// Durable registrations in fleets of three sizes.
import { randomUUID } from 'node:crypto';
import { it } from 'vitest';
import { ManagementClient } from '../../src/client/management-client.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { fillWithFleet } from './fleet/fleet.ts';
import { median, summary, timeCalls } from './measure.ts';
import { startServed } from './served.ts';

const token = `mak_${'Registered'.repeat(4)}`;
const sizes = [1_000, 10_000, 100_000];
const rounds = 5;
/** They take about a second. */
const perRound = 400;
const concurrency = 32;

async function startFleet(size: number) {
  const data = await temporaryFolder();
  await fillWithFleet(data, size);
  const { url, stop } = await startServed(data, token);
  const management = new ManagementClient({ url, token });
  const anyone = new RuntimeClient({ url });
  const { id: venueId } = await management.call('createVenue', { body: { name: 'Benchmark' } });
  const registrationsPerSecond: number[] = [];

  /** Returns the number of calls in a second. */
  async function rate(call: (index: number) => Promise<unknown>): Promise<number> {
    return (perRound / (await timeCalls(perRound, concurrency, call))) * 1000;
  }

  async function measureRound(isCounted: boolean): Promise<void> {
    const screens: string[] = [];
    const codes: string[] = [];
    await rate(async (n) => {
      const body = { venueId, name: randomUUID() };
      screens[n] = (await management.call('createScreen', { body })).id;
    });
    await rate(async (n) => {
      const body = { screenId: screens[n] as string };
      codes[n] = (await management.call('createCode', { body })).code;
    });
    const registrationRate = await rate((n) =>
      anyone.register({ pairingCode: codes[n] as string, deviceInfo: { model: 'Frame' } }),
    );
    if (isCounted) registrationsPerSecond.push(registrationRate);
  }
  return { size, stop, measureRound, registrationsPerSecond };
}

it('registrations per second', async () => {
  const fleets: Awaited<ReturnType<typeof startFleet>>[] = [];
  for (const size of sizes) fleets.push(await startFleet(size));
  // They alternate, so that other programs disturb all alike. The first round warms up.
  for (let round = 0; round <= rounds; round++)
    for (const fleet of fleets) await fleet.measureRound(round > 0);
  for (const { size, registrationsPerSecond } of fleets)
    console.log(`${size} screens: registrations/s ${summary(registrationsPerSecond, 1)}`);
  const rates = fleets.map(({ registrationsPerSecond }) => median(registrationsPerSecond));
  console.log(
    `registrations at 100,000 screens: ${((rates.at(-1) ?? 0) / (rates[0] ?? 1)).toFixed(2)} of those at 1,000 (bar: 0.67)`,
  );
  for (const { stop } of fleets) await stop();
});
