// Three instances on PostgreSQL with 100,000 screens: what an instance does for the changes of the
// others, and TVs of all instances that switch at one instant. All share the cores of this machine.
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ManagementClient } from '../../src/client/management-client.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { startProgram } from '../support/process/program.ts';
import { startProcess } from '../support/process/signage-process.ts';
import { item } from '../support/service/content.ts';
import { startDurablePostgres } from './durable-postgres.ts';
import { type BoundTv, fillWithFleet } from './fleet/fleet.ts';
import { share, timeCalls } from './measure.ts';
import { type Served, startServed } from './served.ts';

const token = `mak_${'Instances'.repeat(4)}`;
const size = 100_000;
const sizes = { held: 10_000, publications: 1_000, registrations: 10_000 };
const concurrency = 16;

/** Fills a database with a fleet, by a backup of a folder. Returns its URL. */
async function fillDatabase(): Promise<{ url: string; tvs: BoundTv[] }> {
  const folder = await temporaryFolder();
  const data = join(folder, 'data');
  const tvs = await fillWithFleet(data, size);
  const served = await startServed(data, token);
  const dump = join(folder, 'fleet.dump');
  const env = { SIGNAGE_URL: served.url, SIGNAGE_TOKEN: token };
  const backup = ['bin/signage.js', 'data', 'backup', '--out', dump];
  expect(await startProcess(backup, { env }).ended).toBe(0);
  await served.stop();
  const url = await (await startDurablePostgres()).create('fleet');
  await writeFile(join(folder, 'url'), url);
  const restore = ['bin/signage.js', 'data', 'restore', dump];
  const options = ['--store-file', join(folder, 'url')];
  expect(await startProcess([...restore, ...options], {}).ended).toBe(0);
  return { url, tvs };
}

/** Prints the time of some work, and the share of a core that each instance took. */
async function measure(
  title: string,
  instances: readonly Served[],
  work: () => Promise<unknown>,
): Promise<void> {
  const cpu = () => Promise.all(instances.map(async (one) => (await one.usage()).cpuMs));
  const [before, startMs] = [await cpu(), performance.now()];
  await work();
  const forMs = performance.now() - startMs;
  const shares = (await cpu()).map((ms, n) => ((ms - (before[n] ?? 0)) / forMs) * 100);
  console.log(
    `${title}: ${(forMs / 1000).toFixed(1)} s; each instance ${shares.map((one) => one.toFixed(0)).join(', ')} % of a core`,
  );
}

it(`three instances with ${size} screens`, async () => {
  const { url, tvs } = await fillDatabase();
  const instances: Served[] = [];
  for (let n = 0; n < 3; n++) instances.push(await startServed(url, token));
  const [first] = instances as [Served];
  await Promise.all(instances.map((one) => one.stopWatchingHolds()));
  const management = new ManagementClient({ url: first.url, token });
  const anyone = new RuntimeClient({ url: first.url });
  await measure('without requests', instances, () => sleep(60_000));

  await measure(`${sizes.publications} publications on the first`, instances, () =>
    timeCalls(sizes.publications, concurrency, (n) => {
      const { screenId: id } = tvs[n * 7] as BoundTv;
      const body = { items: Array.from({ length: 10 }, () => item()) };
      return management.call('publishPlaylist', { params: { id }, body } as never);
    }),
  );

  const { id: venueId } = await management.call('createVenue', { body: { name: randomUUID() } });
  const codes: string[] = [];
  await measure(`${sizes.registrations} screens and codes on the first`, instances, () =>
    timeCalls(sizes.registrations, concurrency, async (n) => {
      const { id } = await management.call('createScreen', { body: { venueId, name: `${n}` } });
      codes[n] = (await management.call('createCode', { body: { screenId: id } })).code;
    }),
  );
  await measure(`${sizes.registrations} registrations on the first`, instances, () =>
    timeCalls(sizes.registrations, concurrency, (n) =>
      anyone.register({ pairingCode: codes[n] as string, deviceInfo: { model: 'Benchmark' } }),
    ),
  );

  const loads = await Promise.all(
    instances.map(async (one, n) => {
      const load = await startProgram(new URL('holds/changes-load.js', import.meta.url));
      await load.ask({
        url: one.url,
        tvs: tvs.slice(0, sizes.held).filter((_, at) => at % 3 === n),
        waitSeconds: 120,
      });
      return load;
    }),
  );
  await sleep(20_000);
  const atMs = (Math.floor(Date.now() / 1000) + 40) * 1000;
  const times = { at: atMs / 1000, until: atMs / 1000 + 3600 };
  const body = { entries: [{ name: 'Entry', ...times, items: [item()] }] } as never;
  for (const id of new Set(tvs.slice(0, sizes.held).map((tv) => tv.venueId)))
    await management.call('putVenueSchedule', { params: { id }, body });
  await sleep(atMs - Date.now() - 5_000);
  for (const load of loads) await load.ask({});
  await measure(`the switch of ${sizes.held} screens`, instances, () => sleep(35_000));
  const told = await Promise.all(loads.map((load) => load.ask<{ toldAtMs: number[] }>({})));
  const late = told.flatMap(({ toldAtMs }) => toldAtMs.map((one) => one - atMs));
  console.log(
    `${late.length} TVs of three instances told: half after ${share(late, 0.5)} ms, 99 % after ${share(late, 0.99)} ms, all after ${share(late, 1)} ms`,
  );
  expect(late).toHaveLength(sizes.held);
  for (const load of loads) await load.stop();
  for (const one of instances) await one.stop();
});
