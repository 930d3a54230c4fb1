import { randomUUID } from 'node:crypto';
import { item } from '../../support/content.ts';
import type { Served } from './served.ts';
import { SpareClient, spareRequest } from './spare-client.ts';

export interface Soaked {
  requests: number;
  /** Number of answers by request and status. */
  counts: Record<string, number>;
}

interface Kind {
  name: string;
  /** Share in thousandths. */
  share: number;
  make(host: string, tv: Tv): Buffer;
}

interface Tv {
  screenId: string;
  apiKey: string;
  etag: string;
}

const impressions = (count: number) => {
  const [playlistId, creativeId, campaignId] = Array.from(
    { length: 3 },
    (_, n) => `${n}1111111-1111-4111-8111-111111111111`,
  );
  return JSON.stringify(
    Array.from({ length: count }, () => ({
      type: 'impression',
      timestamp: 1_760_000_000,
      playlistId,
      creativeId,
      campaignId,
    })),
  );
};
const batch = impressions(5);

/** Typical requests of TVs, including errors. */
const kinds: Kind[] = [
  {
    name: 'playlist, unchanged',
    share: 480,
    make: (host, { screenId, apiKey, etag }) =>
      spareRequest('GET', `/devices/${screenId}/playlist`, {
        host,
        key: apiKey,
        headers: [`If-None-Match: ${etag}`],
      }),
  },
  {
    name: 'playlist',
    share: 120,
    make: (host, { screenId, apiKey }) =>
      spareRequest('GET', `/devices/${screenId}/playlist`, { host, key: apiKey }),
  },
  {
    name: 'config',
    share: 120,
    make: (host, { screenId, apiKey }) =>
      spareRequest('GET', `/devices/${screenId}/config`, { host, key: apiKey }),
  },
  {
    name: 'events',
    share: 200,
    make: (host, { screenId, apiKey }) =>
      spareRequest('POST', `/devices/${screenId}/events`, {
        host,
        key: apiKey,
        body: batch,
        headers: [`Idempotency-Key: ${randomUUID()}`],
      }),
  },
  {
    name: 'a bad key',
    share: 30,
    make: (host, { screenId }) =>
      spareRequest('GET', `/devices/${screenId}/playlist`, { host, key: 'dak_none' }),
  },
  {
    name: 'bad events',
    share: 20,
    make: (host, { screenId, apiKey }) =>
      spareRequest('POST', `/devices/${screenId}/events`, { host, key: apiKey, body: '[{}]' }),
  },
  {
    name: 'no JSON',
    share: 20,
    make: (host, { screenId, apiKey }) =>
      spareRequest('POST', `/devices/${screenId}/events`, { host, key: apiKey, body: '[' }),
  },
  {
    name: 'no path',
    share: 10,
    make: (host, { apiKey }) =>
      spareRequest('GET', `/nothing/${randomUUID()}`, { host, key: apiKey }),
  },
];

/** Pairs and revokes a TV and deletes its screen. Only the log keeps a trace. */
async function comeAndGo({ manage, tv }: Served): Promise<void> {
  const { screenId, deviceId } = await tv();
  await manage('POST', `/v1/devices/${deviceId}/revoke`, { reason: 'soak' });
  await manage('DELETE', `/v1/screens/${screenId}`);
}

/** Creates TVs with a playlist each. */
export async function soakTvs(served: Served, count: number): Promise<Tv[]> {
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
export async function soak(
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
export function checkSoak({ counts, requests }: Soaked): string[] {
  const good = [
    'playlist, unchanged 304',
    'playlist 200',
    'config 200',
    'events 202',
    'a bad key 401',
    'bad events 400',
    'no JSON 400',
    'no path 404',
  ];
  const odd = Object.entries(counts).filter(([place]) => !good.includes(place));
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return [
    ...odd.map(([place, count]) => `${count} × ${place}`),
    ...(total === requests ? [] : [`${total} answers to ${requests} requests`]),
  ];
}
