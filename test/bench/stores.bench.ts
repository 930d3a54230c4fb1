// Both stores side by side, over HTTP, each instance in a process of its own; PostgreSQL syncs as it does in earnest. All share this machine's cores.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Pool as Connections } from 'pg';
import { expect, it } from 'vitest';
import { ManagementClient } from '../../src/client/management-client.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { keptCounts } from '../../src/store/postgres/batch-counts.ts';
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
    const screen = await management.call('createScreen', { body: { venueId: venue.id, name: `Screen ${n}` } });
    await management.call('publishPlaylist', {
      params: { id: screen.id },
      body: { items: Array.from({ length: 10 }, () => item()) },
    } as never);
    codes[n] = (await management.call('createCode', { body: { screenId: screen.id } })).code;
  });
  const tvs: { screenId: string; client: RuntimeClient }[] = [];
  const registrations = await rate(sizes.tvs, async (n) => {
    const client = anyone[n % anyone.length]!;
    const { screenId, apiKey } = await client.register({ pairingCode: codes[n]!, deviceInfo: { model: 'Benchmark' } });
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

/** The same rows into a table of the same shape, one statement a batch, by a client that does nothing else. */
async function bareEvents(database: string): Promise<number> {
  const pool = new Connections({ connectionString: database, max: bareConnections });
  pool.on('error', () => {});
  await pool.query('CREATE TABLE bare (LIKE signage.batches INCLUDING ALL)');
  const events = Array.from({ length: batchSize }, () => impression({ duration: 15 }));
  const place = { venueId: randomUUID(), screenId: randomUUID() };
  const text = 'INSERT INTO bare VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)';
  const batches = await rate(sizes.batches, (n) => {
    const ids = [randomUUID(), place.venueId, place.screenId, randomUUID()];
    const counts = keptCounts(events as never, place);
    return pool.query({ name: 'bare', text, values: [Date.now(), n, ...ids, ['impression'], counts, JSON.stringify(events)] });
  });
  await pool.end();
  return batches * batchSize;
}

function say(name: string, { registrations, events, playlists }: Rates): void {
  const whole = (value: number) => Math.round(value).toLocaleString('en');
  console.log(`${name}: ${whole(events)} events/s, ${whole(registrations)} registrations/s, ${whole(playlists)} playlists/s`);
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
  const bare = await bareEvents(server.url('one'));
  await server.end();
  const ratio = one.events / bare;
  console.log(
    `a bare client of PostgreSQL inserts ${Math.round(bare).toLocaleString('en')} events/s: one instance ${ratio.toFixed(2)} of that (bar: ${bar})`,
  );
  expect(ratio).toBeGreaterThan(bar);
});
