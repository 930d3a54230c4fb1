// Measures PostgreSQL over HTTP. Each instance has a process of its own, and PostgreSQL runs with
// fsync. All share the cores of this machine.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Pool as Connections } from 'pg';
import { expect, it } from 'vitest';
import { ManagementClient } from '../../src/client/management-client.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { batchSums } from '../../src/domain/events/batch-counts.ts';
import { openStore } from '../../src/store/location/open.ts';
import { keptCounts } from '../../src/store/postgres/events/batch-counts.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { impression, item } from '../support/service/content.ts';
import { type DurablePostgres, startDurablePostgres } from './durable-postgres.ts';
import { timeCalls } from './measure.ts';
import { type Served, startServed } from './served.ts';

const token = `mak_${'TwoStores'.repeat(4)}`;
const sizes = { tvs: 500, batches: 3000 };
const batchSize = 100;
const concurrency = 64;
/** The least acceptable ratio of the store's events/s to those of a bare client. */
const bar = 0.7;
/** The same number as an instance. */
const bareConnections = 10;
const rounds = 5;

/** Returns the number of calls in a second. */
async function rate(count: number, call: (index: number) => Promise<unknown>): Promise<number> {
  return (count / (await timeCalls(count, concurrency, call))) * 1000;
}

interface Rates {
  registrations: number;
  events: number;
}

/** Measures TVs that are spread evenly over the instances. */
async function measure(instances: readonly Served[]): Promise<Rates> {
  const [first] = instances as [Served];
  const management = new ManagementClient({ url: first.url, token });
  const anyone = instances.map(({ url }) => new RuntimeClient({ url }));
  const venue = await management.call('createVenue', { body: { name: 'Benchmark' } });
  const codes: string[] = [];
  await rate(sizes.tvs, async (n) => {
    const screen = await management.call('createScreen', {
      body: { venueId: venue.id, name: `Screen ${n}` },
    });
    await management.call('publishPlaylist', {
      params: { id: screen.id },
      body: { items: Array.from({ length: 10 }, () => item()) },
    } as never);
    codes[n] = (await management.call('createCode', { body: { screenId: screen.id } })).code;
  });
  const tvs: { screenId: string; client: RuntimeClient }[] = [];
  const registrations = await rate(sizes.tvs, async (n) => {
    const client = anyone[n % anyone.length]!;
    const { screenId, apiKey } = await client.register({
      pairingCode: codes[n]!,
      deviceInfo: { model: 'Benchmark' },
    });
    tvs[n] = { screenId, client: client.withKey(apiKey) };
  });
  const batch = Array.from({ length: batchSize }, () => impression({ duration: 15 })) as never;
  const post = (n: number) => {
    const { client, screenId } = tvs[n % tvs.length]!;
    return client.postEvents(screenId, batch);
  };
  const fetch = (n: number) => {
    const { client, screenId } = tvs[n % tvs.length]!;
    return client.fetchPlaylist(screenId);
  };
  // The first use of each key is written.
  await rate(sizes.tvs, fetch);
  return { registrations, events: (await rate(sizes.batches, post)) * batchSize };
}

const events = Array.from({ length: batchSize }, () => impression({ duration: 15 })) as never[];
const body = Buffer.from(JSON.stringify(events));

/** CPU time of a batch in the client and in the database. */
interface Cost {
  eventsPerSecond: number;
  clientMs: number;
  databaseMs: number;
}

/** Returns the CPU time of all processes of the server. Linux only. */
async function databaseCpuMs({ pid }: DurablePostgres): Promise<number> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ');
  const stats = await Promise.all(
    children.map((child) => readFile(`/proc/${child}/stat`, 'utf8').catch(() => '')),
  );
  return stats.reduce((sum, stat) => {
    const [, user = 0, system = 0] = /\) (?:\S+ ){11}(\d+) (\d+) /.exec(stat) ?? [];
    return sum + (Number(user) + Number(system)) * 10;
  }, 0);
}

/** Measures `append` in this process, which does nothing else. */
async function cost(
  server: DurablePostgres,
  append: (index: number) => Promise<unknown>,
): Promise<Cost> {
  const before = await databaseCpuMs(server);
  const clientBefore = process.cpuUsage();
  const batches = await rate(sizes.batches, append);
  const { user, system } = process.cpuUsage(clientBefore);
  const databaseMs = ((await databaseCpuMs(server)) - before) / sizes.batches;
  return {
    eventsPerSecond: batches * batchSize,
    clientMs: (user + system) / 1000 / sizes.batches,
    databaseMs,
  };
}

/** Inserts the same batches with the store and with a bare client, in alternate rounds. */
async function compareWithBareClient(
  server: DurablePostgres,
  database: string,
): Promise<{ bare: Cost; store: Cost }> {
  const url = server.url(database);
  const pool = new Connections({ connectionString: url, max: bareConnections });
  pool.on('error', () => {});
  await pool.query('CREATE TABLE bare (LIKE signage.batches INCLUDING ALL)');
  const store = await openStore(url);
  const place = { tenantId: randomUUID(), venueId: randomUUID(), screenId: randomUUID() };
  const devices = Array.from({ length: sizes.tvs }, () => randomUUID());
  const text = 'INSERT INTO bare VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)';
  let seq = 0;
  const insert = (n: number) => {
    const ids = [place.tenantId, place.venueId, place.screenId, devices[n % devices.length]];
    return pool.query({
      name: 'bare',
      text,
      values: [
        Date.now(),
        ++seq,
        ...ids,
        ['impression'],
        keptCounts(batchSums(events)),
        JSON.stringify(events),
      ],
    });
  };
  const append = (n: number) =>
    store.appendBatch({
      ...place,
      deviceId: devices[n % devices.length] as string,
      body,
      sums: batchSums(events),
    });
  const bare: Cost[] = [];
  const kept: Cost[] = [];
  for (let round = 0; round < rounds; round++) {
    bare.push(await cost(server, insert));
    kept.push(await cost(server, append));
  }
  await pool.end();
  await store.close();
  const median = (costs: Cost[]) =>
    costs.sort((a, b) => a.eventsPerSecond - b.eventsPerSecond)[Math.floor(rounds / 2)] as Cost;
  return { bare: median(bare), store: median(kept) };
}

function print(name: string, { registrations, events }: Rates): void {
  const whole = (value: number) => Math.round(value).toLocaleString('en');
  console.log(`${name}: ${whole(events)} events/s, ${whole(registrations)} registrations/s`);
}

/** Measures instances on a new database. */
async function onPostgres(
  server: DurablePostgres,
  database: string,
  count: number,
): Promise<Rates> {
  const store = await server.create(database);
  const folder = await temporaryFolder();
  const instances: Served[] = [];
  for (let n = 0; n < count; n++) instances.push(await startServed(folder, token, { store }));
  const rates = await measure(instances);
  for (const instance of instances) await instance.stop();
  return rates;
}

it('PostgreSQL with one and two instances', async () => {
  const server = await startDurablePostgres();
  const one = await onPostgres(server, 'one', 1);
  print('PostgreSQL, one instance', one);
  print('PostgreSQL, two instances', await onPostgres(server, 'two', 2));
  const { bare, store } = await compareWithBareClient(server, 'one');
  await server.end();
  for (const [name, { eventsPerSecond, clientMs, databaseMs }] of Object.entries({
    'a bare client': bare,
    'the store alone': store,
  })) {
    const times = `${clientMs.toFixed(2)} ms of CPU per batch, the database ${databaseMs.toFixed(2)} ms`;
    console.log(`${name}: ${Math.round(eventsPerSecond).toLocaleString('en')} events/s, ${times}`);
  }
  const ratio = store.eventsPerSecond / bare.eventsPerSecond;
  const whole = one.events / bare.eventsPerSecond;
  console.log(
    `events/s of a bare client: the store alone ${ratio.toFixed(2)} (bar: ${bar}), an instance with HTTP ${whole.toFixed(2)}`,
  );
  expect(ratio).toBeGreaterThan(bar);
});
