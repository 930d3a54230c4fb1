import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { item } from '../../support/service/content.ts';
import { type Served, startServed } from './served.ts';
import { SpareClient, spareRequest } from './spare-client.ts';

interface Soaked {
  requests: number;
  /** Number of answers by request and status. */
  counts: Record<string, number>;
}

interface Tv {
  screenId: string;
  apiKey: string;
  etag: string;
}

interface Kind {
  name: string;
  /** Share in thousandths. */
  share: number;
  /** The status of each answer. */
  due: number;
  make(host: string, tv: Tv): Buffer;
}

const ids = {
  playlistId: '01111111-1111-4111-8111-111111111111',
  creativeId: '11111111-1111-4111-8111-111111111111',
  campaignId: '21111111-1111-4111-8111-111111111111',
};
const impression = { type: 'impression', timestamp: 1_760_000_000, ...ids };
const batch = JSON.stringify(Array(5).fill(impression));

/** Returns requests for what a TV has, with other parts for some. */
const ofTv =
  (what: string, parts: (tv: Tv) => { key?: string; headers?: string[] } = () => ({})) =>
  (host: string, tv: Tv) =>
    spareRequest('GET', `/devices/${tv.screenId}/${what}`, { host, key: tv.apiKey, ...parts(tv) });
const events =
  (body: string, headers: () => string[] = () => []) =>
  (host: string, { screenId, apiKey: key }: Tv) =>
    spareRequest('POST', `/devices/${screenId}/events`, { host, key, body, headers: headers() });
const ifChanged = ofTv('playlist', ({ etag }) => ({ headers: [`If-None-Match: ${etag}`] }));
const keyed = () => [`Idempotency-Key: ${randomUUID()}`];

/** Typical requests of TVs, including errors. */
const kinds: Kind[] = [
  { name: 'playlist, unchanged', share: 480, due: 304, make: ifChanged },
  { name: 'playlist', share: 120, due: 200, make: ofTv('playlist') },
  { name: 'config', share: 120, due: 200, make: ofTv('config') },
  { name: 'events', share: 200, due: 202, make: events(batch, keyed) },
  { name: 'a bad key', share: 30, due: 401, make: ofTv('playlist', () => ({ key: 'dak_none' })) },
  { name: 'bad events', share: 20, due: 400, make: events('[{}]') },
  { name: 'no JSON', share: 20, due: 400, make: events('[') },
  {
    name: 'no path',
    share: 10,
    due: 404,
    make: (host, { apiKey: key }) => spareRequest('GET', `/nothing/${randomUUID()}`, { host, key }),
  },
];

/** Pairs and revokes a TV and deletes its screen. Only the log keeps a trace. */
async function comeAndGo({ manage, tv }: Served): Promise<void> {
  const { screenId, deviceId } = await tv();
  await manage('POST', `/v1/devices/${deviceId}/revoke`, { reason: 'soak' });
  await manage('DELETE', `/v1/screens/${screenId}`);
}

/** Creates TVs with a playlist each. */
async function soakTvs(served: Served, count: number): Promise<Tv[]> {
  const tvs: Tv[] = [];
  for (let n = 0; n < count; n++) {
    const { screenId, apiKey } = await served.tv();
    await served.manage('PUT', `/v1/screens/${screenId}/playlist`, {
      items: Array.from({ length: 10 }, () => item()),
    });
    const answer = await fetch(`${served.url}/devices/${screenId}/playlist`, {
      headers: { Authorization: `Bearer ${apiKey}` },
    });
    tvs.push({ screenId, apiKey, etag: answer.headers.get('etag') ?? '' });
  }
  return tvs;
}

const deck = kinds.flatMap((kind) => Array.from({ length: kind.share }, () => kind));

/** Sends requests of the mix on several connections, and closes them. */
async function soak(
  served: Served,
  tvs: readonly Tv[],
  requests: number,
  atOnce = 48,
): Promise<Soaked> {
  const client = new SpareClient(served.url);
  const soaked: Soaked = { requests, counts: {} };
  let sent = 0;
  const work = async () => {
    for (let n = sent++; n < requests; n = sent++) {
      // 7,919 is prime, so the mix is evenly spread and reproducible.
      const { name, make } = deck[(n * 7_919) % deck.length] as Kind;
      const { status } = await client.send(make(served.aim.host, tvs[n % tvs.length] as Tv));
      const place = `${name} ${status}`;
      soaked.counts[place] = (soaked.counts[place] ?? 0) + 1;
      if (n % 5_000 === 0) await comeAndGo(served);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  client.close();
  return soaked;
}

/** Returns unexpected answers. */
function checkSoak({ counts, requests }: Soaked): string[] {
  const good = kinds.map(({ name, due }) => `${name} ${due}`);
  const odd = Object.entries(counts).filter(([place]) => !good.includes(place));
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return [
    ...odd.map(([place, count]) => `${count} × ${place}`),
    ...(total === requests ? [] : [`${total} answers to ${requests} requests`]),
  ];
}

const allRequests = 1_000_000;
// V8 compiles code for half a minute. After 100,000 requests, another megabyte was still to come.
const warmUp = 300_000;
const tvCount = 200;
// The journal, and the day files of events and audit, which stay open after the first write.
const storeFiles = 3;
// Until idle connections are closed.
const leftMs = 8_000;

/** Splits descriptors into files of the store and others. */
function parted(open: readonly string[]): [files: string[], others: string[]] {
  return [
    open.filter((path) => path.startsWith(tmpdir())),
    open.filter((path) => !path.startsWith(tmpdir())),
  ];
}

it('memory and descriptors do not grow over a million requests', async () => {
  const served = await startServed();
  const atFirst = await served.usage();
  const tvs = await soakTvs(served, tvCount);
  await soak(served, tvs, warmUp);
  await sleep(leftMs);
  const before = await served.usage();
  const startedMs = performance.now();
  const soaked = await soak(served, tvs, allRequests);
  const tookSeconds = (performance.now() - startedMs) / 1000;
  await sleep(leftMs);
  const after = await served.usage();
  await served.stop();
  const growth = after.heapBytes / before.heapBytes - 1;
  const mb = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MB`;
  console.log(
    `${allRequests} requests in ${tookSeconds.toFixed(0)} s (${(allRequests / tookSeconds).toFixed(0)}/s, ${(((after.cpuMs - before.cpuMs) * 1000) / allRequests).toFixed(0)} µs CPU each): ` +
      `heap ${mb(before.heapBytes)} -> ${mb(after.heapBytes)} (${(growth * 100).toFixed(1)} %), resident ${mb(before.residentBytes)} -> ${mb(after.residentBytes)}, ` +
      `descriptors ${atFirst.open.length}, ${before.open.length} -> ${after.open.length}; ${JSON.stringify(soaked.counts)}`,
  );
  expect(checkSoak(soaked)).toEqual([]);
  expect(growth).toBeLessThan(0.05);
  const [files, others] = parted(after.open);
  expect(others.length, others.join('\n')).toBeLessThanOrEqual(parted(before.open)[1].length);
  expect(files.length, files.join('\n')).toBeLessThanOrEqual(storeFiles);
});
