import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, it } from 'vitest';
import { z } from 'zod';
import { ManagementClient } from '../../../src/client/management-client.ts';
import { RuntimeClient } from '../../../src/client/runtime-client.ts';
import { eventBatch } from '../../../src/domain/events/event.ts';
import { nodeOptions } from '../../support/node-options.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type Contestant, compare, compete, type Discipline, report, spread } from './contest.ts';
import { canPin, type Program, startProgram } from './program.ts';

const token = `mak_${'HotRequests'.repeat(3)}`;
const tvs = 64;
const [serverCore, loadCore] = [0, 1];
const warmUp = { count: 5000, ms: 8000 };
/** Many short rounds: a machine that others use has moments in which all takes twice as long. */
const times = { rounds: 25, ms: 250, warmUp };
/** For the choice of the baseline. */
const heats = { rounds: 9, ms: 150, warmUp };

interface Tv {
  apiKey: string;
  screenId: string;
  deviceId: string;
  playlist: { etag: string };
  config: { etag: string };
}

let folder: string;
let load: Program;
const all: Contestant[] = [];
const tvList: Tv[] = [];

async function start(name: string, file: string, args: readonly string[]): Promise<Contestant> {
  const { first, ...program } = await startProgram<{ port: number }>(
    file,
    serverCore,
    args,
    nodeOptions,
  );
  const contestant = { ...program, name, port: first.port };
  all.push(contestant);
  return contestant;
}

const startOurs = (name: string, home: string, synced: string) =>
  start(name, 'ours.js', [home, token, synced]);

/** What a server must answer, as ours does. */
async function answered(url: string, path: string, apiKey: string) {
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${apiKey}` } });
  const names = [
    'Content-Type',
    'X-Playlist-Version',
    'X-Source',
    'X-Config-Source',
    'ETag',
    'Cache-Control',
  ];
  const headers = Object.fromEntries(
    names
      .filter((name) => response.headers.has(name))
      .map((name) => [name, response.headers.get(name)]),
  );
  return {
    text: await response.text(),
    etag: response.headers.get('etag') as string,
    headers,
    names: Object.entries(headers).flat(),
  };
}

/**
 * Fills our service with bound TVs that have a playlist each, and writes down what they get, for
 * the others.
 */
async function fill(port: number): Promise<void> {
  const url = `http://127.0.0.1:${port}`;
  const management = new ManagementClient({ url, token });
  const anyone = new RuntimeClient({ url });
  const items = JSON.parse(
    await readFile(new URL('../../../fixtures/playlists/retail.json', import.meta.url), 'utf8'),
  ).items.slice(0, 10);
  const venue = await management.call('createVenue', { body: { name: 'Benchmark' } });
  for (let n = 0; n < tvs; n++) {
    const { id } = await management.call('createScreen', {
      body: { venueId: venue.id, name: `Screen ${n}` },
    });
    await management.call('publishPlaylist', { params: { id }, body: { items } });
    const { code } = await management.call('createCode', { body: { screenId: id } });
    const { apiKey, screenId, deviceId } = await anyone.register({
      pairingCode: code,
      deviceInfo: { model: 'Frame' },
    });
    const [playlist, config] = [
      await answered(url, `/devices/${id}/playlist`, apiKey),
      await answered(url, `/devices/${id}/config`, apiKey),
    ];
    tvList.push({ apiKey, screenId, deviceId, playlist, config });
  }
}

/** For Fastify: zod's own JSON Schema of a batch, and what zod checks beside it. */
function batchSchema(): object {
  const schema = z.toJSONSchema(eventBatch, { io: 'input', target: 'draft-7' }) as {
    items?: object;
    definitions?: Record<string, object>;
  };
  const ids = ['playlistId', 'creativeId', 'campaignId'];
  const impression = {
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so
    then: {
      required: ids,
      properties: {
        ...Object.fromEntries(ids.map((id) => [id, { type: 'string' }])),
        duration: { anyOf: [{ type: 'number', minimum: 0 }, { type: 'null' }] },
      },
    },
    if: { properties: { type: { const: 'impression' } }, required: ['type'] },
  };
  const event = schema.definitions?.TelemetryEvent ?? (schema.items as object);
  Object.assign(event, impression);
  return schema;
}

function impressions(count: number): string {
  return JSON.stringify(
    Array.from({ length: count }, (_, n) => ({
      type: 'impression',
      timestamp: Math.floor(Date.now() / 1000) - 10 * (count - n),
      playlistId: '0192f0a4-7c10-7d3e-8b21-5f6a7b8c9d01',
      creativeId: `c1a0e5d2-47b3-4c68-9f2a-0000000001${String(n % 10).padStart(2, '0')}`,
      campaignId: `3d2f6c1a-8b47-4e0d-9a55-0c6e1f7b2a${String(n % 5).padStart(2, '0')}`,
      duration: 10,
    })),
  );
}

function head({ screenId, apiKey }: Tv, method: string, what: string): string {
  return `${method} /devices/${screenId}/${what} HTTP/1.1\r\nHost: signage.example\r\nUser-Agent: bench\r\nAccept: */*\r\nAuthorization: Bearer ${apiKey}\r\n`;
}

const gets = (what: 'playlist' | 'config'): Discipline => ({
  name: `GET ${what}, 200`,
  requests: tvList.map((tv) => `${head(tv, 'GET', what)}\r\n`),
  status: 200,
  connections: tvs,
});

const notModified = (what: 'playlist' | 'config'): Discipline => ({
  name: `GET ${what}, 304`,
  requests: tvList.map((tv) => `${head(tv, 'GET', what)}If-None-Match: ${tv[what].etag}\r\n\r\n`),
  status: 304,
  connections: tvs,
});

function posts(count: number): Discipline {
  const body = impressions(count);
  const more = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  return {
    name: `POST ${count} events`,
    requests: tvList.map((tv) => `${head(tv, 'POST', 'events')}${more}`),
    status: 202,
    connections: tvs,
  };
}

beforeAll(async () => {
  folder = await temporaryFolder();
  load = await startProgram<never>('load.js', loadCore).then(({ first: _, ...program }) => program);
  const filled = await startOurs('to be filled', folder, 'synced');
  await fill(filled.port);
  await filled.stop();
  all.length = 0;
  await mkdir(`${folder}/unsynced`);
  await cp(`${folder}/data`, `${folder}/unsynced/data`, { recursive: true });
  await writeFile(`${folder}/devices.json`, JSON.stringify(tvList));
  await writeFile(`${folder}/schema.json`, JSON.stringify(batchSchema()));
  console.log(
    `server on core ${serverCore}, load on core ${loadCore}: ${canPin ? 'pinned' : 'NOT PINNED'}; Node.js ${process.version} ${nodeOptions.join(' ')}`,
  );
}, 120_000);

afterAll(async () => {
  for (const program of [...all, load]) await program.stop();
});

/** The fastest of three tries at a bare server, by its CPU. */
async function fastestBare(discipline: Discipline, synced = 'synced'): Promise<Contestant> {
  const tries: Contestant[] = [];
  for (const variant of ['flat', 'object', 'latin']) {
    const name = `bare (${variant}${synced === 'synced' ? '' : ', unsynced'})`;
    tries.push(
      all.find((server) => server.name === name) ??
        (await start(name, 'bare.js', [folder, variant, synced])),
    );
  }
  const results = await compete(load, tries, discipline, heats);
  const cpuOf = (server: Contestant) =>
    spread((results.get(server) ?? []).map(({ cpuUs }) => cpuUs)).median;
  const [fastest] = tries.toSorted((a, b) => cpuOf(a) - cpuOf(b));
  console.log(
    `${discipline.name} | tries: ${tries.map((server) => `${server.name} ${cpuOf(server).toFixed(1)} µs CPU`).join(', ')}`,
  );
  return fastest as Contestant;
}

async function peers(synced = 'synced'): Promise<Contestant[]> {
  const named = async (name: string, begin: (name: string) => Promise<Contestant>) => {
    const full = synced === 'synced' ? name : `${name}, unsynced`;
    return all.find((server) => server.name === full) ?? begin(full);
  };
  return [
    await named('ours', (name) =>
      startOurs(name, synced === 'synced' ? folder : `${folder}/unsynced`, synced),
    ),
    await named('fastify', (name) => start(name, 'fastify.js', [folder, '', synced])),
    await named('hono', (name) => start(name, 'hono.js', [folder, '', synced])),
  ];
}

async function measure(discipline: Discipline, synced = 'synced'): Promise<void> {
  const bare = await fastestBare(discipline, synced);
  const [ours, ...others] = await peers(synced);
  const shown = {
    ...discipline,
    name: synced === 'synced' ? discipline.name : `${discipline.name}, unsynced`,
  };
  const results = await compete(load, [bare, ours as Contestant, ...others], shown, times);
  report(shown, results, bare);
  for (const other of others) compare(shown, results, ours as Contestant, other);
}

it('GET playlist, 200 and 304', async () => {
  await measure(gets('playlist'));
  await measure(notModified('playlist'));
});

it('GET config, 200 and 304', async () => {
  await measure(gets('config'));
  await measure(notModified('config'));
});

it('POST events, durable: batches of 100, 10 and 1', async () => {
  for (const count of [100, 10, 1]) await measure(posts(count));
});

it('POST events, unsynced: batches of 100, 10 and 1', async () => {
  for (const count of [100, 10, 1]) await measure(posts(count), 'unsynced');
});
