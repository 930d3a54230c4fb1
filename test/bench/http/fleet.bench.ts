import { writeFile } from 'node:fs/promises';
import { it } from 'vitest';
import { SeededRandom } from '../../../src/simulator/seeded-random.ts';
import { guid } from '../../store/sample-batch.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { canPin, startProgram } from '../../support/process/program.ts';
import { nodeOptions } from '../../support/runtime/node-options.ts';
import { type BoundTv, fillWithFleet } from '../fleet/fleet.ts';
import { type Comparison, compare, type RequestKind, type Server } from './contest.ts';

const isQuick = process.env.BENCH_QUICK === '1';
const token = `mak_${'HttpFleet'.repeat(4)}`;
const serverCore = 0;
/** Many TVs share few connections, as behind a proxy. */
const tvCount = 1_000;
const largeFleet = 100_000;
const warmTvs = 64;
const creatives = 200;
/** Not a divisor of the number of TVs, so that a TV sends another batch each time. */
const batchCount = 199;

const random = new SeededRandom('http fleet');
const upTo = (count: number) => Math.floor(random.fraction() * count);

function shuffle(tvs: readonly BoundTv[]): BoundTv[] {
  return tvs
    .map((tv) => ({ tv, order: random.fraction() }))
    .toSorted((one, other) => one.order - other.order)
    .map(({ tv }) => tv);
}

/** 100 events of a TV, like those of `fixtures/events`. */
function batch(): string {
  const endSeconds = Math.floor(Date.now() / 1000);
  const playlistId = guid('play', upTo(tvCount));
  const events = Array.from({ length: 100 }, (_, n) => {
    const timestamp = endSeconds - 10 * (100 - n);
    if (n % 10 === 0) {
      const uptimeSeconds = 86_400 + upTo(86_400);
      const freeStorageMB = 4_000 + upTo(4_000);
      const temperatureCelsius = 40 + upTo(30) / 2;
      const state = { uptimeSeconds, freeStorageMB, temperatureCelsius, playlistId };
      return { type: 'heartbeat', timestamp, ...state };
    }
    const creative = upTo(creatives);
    const creativeId = guid('crea', creative);
    const played = { timestamp, playlistId, creativeId, campaignId: guid('camp', creative % 20) };
    if (n % 33 === 0) {
      const message = 'Decoder gave up after 3 tries';
      return { type: 'playback_error', ...played, message, attempts: 3 };
    }
    if (n % 2 === 0) return { type: 'playback_started', ...played };
    return { type: 'impression', ...played, duration: 10 + upTo(20) };
  });
  return JSON.stringify(events);
}

/** Makes a data folder with a fleet, and the files of the load. The TVs are in random order. */
async function makeFleet(screens: number) {
  const folder = await temporaryFolder();
  const tvs = shuffle(await fillWithFleet(`${folder}/data`, screens));
  const loadFiles = [`${folder}/devices.json`, `${folder}/batches.json`] as const;
  await writeFile(loadFiles[0], JSON.stringify(tvs));
  await writeFile(loadFiles[1], JSON.stringify(Array.from({ length: batchCount }, batch)));
  return { folder, tvs, loadFiles };
}

const start = (script: string, ...args: string[]): Promise<Server> =>
  startProgram(new URL(script, import.meta.url), args, { core: serverCore, nodeOptions });

/** Starts the built service. Its log is off, and so is the mirror, whose first fill takes CPU. */
const startOurs = (data: string) =>
  start('../served.js', data, token, JSON.stringify({ objectStore: 'none' }));

const headerNames = [
  ...['Content-Type', 'X-Playlist-Version', 'X-Source', 'X-Config-Source', 'ETag'],
  'Cache-Control',
];

/** Fetches a response of our service, for the baselines to repeat. */
async function responseOf(url: string, { screenId, apiKey }: BoundTv, resource: string) {
  const response = await fetch(`${url}/devices/${screenId}/${resource}`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  const present = headerNames.filter((name) => response.headers.has(name));
  const headers = Object.fromEntries(present.map((name) => [name, response.headers.get(name)]));
  const names = Object.entries(headers).flat();
  return { text: await response.text(), etag: response.headers.get('etag'), headers, names };
}

/** Adds the playlist and the config of each TV to the list of TVs. */
async function addResponses({ folder, tvs, loadFiles }: Awaited<ReturnType<typeof makeFleet>>) {
  const ours = await startOurs(`${folder}/data`);
  const devices: object[] = [];
  for (const tv of tvs) {
    const playlist = await responseOf(ours.first.url, tv, 'playlist');
    const config = await responseOf(ours.first.url, tv, 'config');
    devices.push({ ...tv, playlist, config });
  }
  await ours.stop();
  await writeFile(loadFiles[0], JSON.stringify(devices));
}

const playlist: RequestKind = { resource: 'playlist', status: 200, tvs: tvCount };
const events: RequestKind = { resource: 'events', status: 202, tvs: tvCount };

/** Compares our service with both baselines. */
function withBaselines(
  name: string,
  request: RequestKind,
  bars: { bare?: number; fastify?: number } = {},
): Comparison {
  const others = (['bare', 'fastify'] as const).map((server) => ({
    server,
    request,
    ...(bars[server] !== undefined && { bar: bars[server] }),
  }));
  return { name, entrant: { server: 'ours', request }, others };
}

const quickComparisons = [
  withBaselines('Playlist, 200', playlist, { bare: 0.85, fastify: 1 }),
  withBaselines('100 mixed events, durable', events, { bare: 0.7, fastify: 1.2 }),
];
const otherComparisons = [
  withBaselines('Playlist, 304', { ...playlist, status: 304, isConditional: true }, { bare: 0.8 }),
  withBaselines('Config, 200', { ...playlist, resource: 'config' }, { bare: 0.85 }),
  withBaselines('Playlist, 200, new connection each', { ...playlist, isNewConnection: true }),
];
/** A playlist that is read for the first time may cost a quarter more. */
const coldComparison = {
  name: `Playlist, 200, ${largeFleet} screens`,
  entrant: { name: 'cold', server: 'ours', request: { ...playlist, tvs: largeFleet } },
  others: [{ name: 'warm', server: 'ours', request: { ...playlist, tvs: warmTvs }, bar: 0.6 }],
};

it(`${tvCount} TVs in random order on 64 connections`, async () => {
  console.log(
    `Node.js ${process.version} ${nodeOptions.join(' ')}, ${canPin ? 'a core for each process' : 'NOT PINNED to cores'}`,
  );
  const fleet = await makeFleet(tvCount);
  const { folder, loadFiles } = fleet;
  await addResponses(fleet);
  const servers = {
    ours: () => startOurs(`${folder}/data`),
    bare: () => start('bare.js', folder),
    fastify: () => start('fastify.js', folder),
  };
  if (isQuick) return compare(quickComparisons, servers, loadFiles);
  await compare([...quickComparisons, ...otherComparisons], servers, loadFiles);
});

it.skipIf(isQuick)(`${largeFleet} TVs, each request from another one`, async () => {
  const { folder, loadFiles } = await makeFleet(largeFleet);
  await compare([coldComparison], { ours: () => startOurs(`${folder}/data`) }, loadFiles);
});
