// Both stores side by side, over HTTP, each instance in a process of its own; PostgreSQL syncs as
// it does in earnest. All share this machine's cores.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Pool as Connections } from 'pg';
import { expect, it } from 'vitest';
import { ManagementClient } from '../../src/client/management-client.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { batchSums } from '../../src/domain/events/batch-counts.ts';
import { openStore } from '../../src/store/open.ts';
import { keptCounts } from '../../src/store/postgres/events/batch-counts.ts';
import { impression, item } from '../support/content.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Served, startServed } from './served.ts';

const token = `mak_${'TwoStores'.repeat(4)}`;
const sizes = { tvs: 500, batches: 3000, playlists: 10_000 };
const batchSize = 100;
const atOnce = 64;
/** Of what a bare client inserts, a second. */
const bar = 0.7;
/** As many as an instance holds. */
const bareConnections = 10;
const rounds = 5;

/** `count` calls, so many at a time; how many a second. */
async function rate(count: number, call: (index: number) => Promise<unknown>): Promise<number> {
  const start = performance.now();
  let next = 0;
  const worker = async () => {
    while (next < count) await call(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return (count / (performance.now() - start)) * 1000;
}

interface Rates {
  registrations: number;
  events: number;
  playlists: number;
}

/** What TVs that are spread evenly over the instances get done. */
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
  // Each first call notes that the key is in use.
  await rate(sizes.tvs, fetch);
  const playlists = await rate(sizes.playlists, fetch);
  return { registrations, playlists, events: (await rate(sizes.batches, post)) * batchSize };
}

const events = Array.from({ length: batchSize }, () => impression({ duration: 15 })) as never[];
const body = Buffer.from(JSON.stringify(events));

/** What a part of the benchmark took of the cores, in milliseconds a batch. */
interface Cost {
  eventsPerSecond: number;
  clientMs: number;
  databaseMs: number;
}

/** CPU time that the server's processes have taken so far. Linux only. */
async function databaseCpuMs({ pid }: PostgresServer): Promise<number> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ');
  const stats = await Promise.all(
    children.map((child) => readFile(`/proc/${child}/stat`, 'utf8').catch(() => '')),
  );
  return stats.reduce((sum, stat) => {
    const [, user = 0, system = 0] = /\) (?:\S+ ){11}(\d+) (\d+) /.exec(stat) ?? [];
    return sum + (Number(user) + Number(system)) * 10;
  }, 0);
}

/** `append` from this process, which does nothing else. */
async function cost(
  server: PostgresServer,
  append: (index: number) => Promise<unknown>,
): Promise<Cost> {
  const [before, mine] = [await databaseCpuMs(server), process.cpuUsage()];
  const batches = await rate(sizes.batches, append);
  const { user, system } = process.cpuUsage(mine);
  const databaseMs = ((await databaseCpuMs(server)) - before) / sizes.batches;
  return {
    eventsPerSecond: batches * batchSize,
    clientMs: (user + system) / 1000 / sizes.batches,
    databaseMs,
  };
}

/**
 * Rounds of the same batches by the store and by a client that does nothing else, in turn; the
 * median of each by its rate.
 */
async function sideBySide(
  server: PostgresServer,
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
      ...{ name: 'bare', text },
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
  const [bare, kept]: [Cost[], Cost[]] = [[], []];
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

function say(name: string, { registrations, events, playlists }: Rates): void {
  const whole = (value: number) => Math.round(value).toLocaleString('en');
  console.log(
    `${name}: ${whole(events)} events/s, ${whole(registrations)} registrations/s, ${whole(playlists)} playlists/s`,
  );
}

/** Some instances on a database of their own. */
async function onPostgres(server: PostgresServer, database: string, count: number): Promise<Rates> {
  const admin = new Connections({ connectionString: server.url('postgres'), max: 1 });
  await admin.query(`CREATE DATABASE ${database}`);
  await admin.end();
  const store = server.url(database);
  const folder = await temporaryFolder();
  const instances: Served[] = [];
  for (let n = 0; n < count; n++) instances.push(await startServed(folder, token, { store }));
  const rates = await measure(instances);
  for (const instance of instances) await instance.stop();
  return rates;
}

it('what the embedded store, and PostgreSQL with one and two instances, get done a second', async () => {
  const embedded = await startServed(join(await temporaryFolder(), 'data'), token);
  say('embedded store', await measure([embedded]));
  await embedded.stop();

  const server = await startPostgres({ settings: ['fsync=on', 'full_page_writes=on'] });
  const one = await onPostgres(server, 'one', 1);
  say('PostgreSQL, one instance', one);
  say('PostgreSQL, two instances', await onPostgres(server, 'two', 2));
  const { bare, store } = await sideBySide(server, 'one');
  await server.end();
  for (const [name, { eventsPerSecond, clientMs, databaseMs }] of Object.entries({
    'a bare client': bare,
    'the store by itself': store,
  })) {
    const times = `${clientMs.toFixed(2)} ms of its CPU a batch, ${databaseMs.toFixed(2)} ms of the database's`;
    console.log(`${name}: ${Math.round(eventsPerSecond).toLocaleString('en')} events/s, ${times}`);
  }
  const ratio = store.eventsPerSecond / bare.eventsPerSecond;
  const whole = one.events / bare.eventsPerSecond;
  console.log(
    `the store inserts ${ratio.toFixed(2)} of what a bare client does (bar: ${bar}), an instance with all else ${whole.toFixed(2)}`,
  );
  expect(ratio).toBeGreaterThan(bar);
});
