import { expect, it } from 'vitest';
import { startServed } from './served.ts';
import { SpareClient, spareRequest } from './spare-client.ts';

const tvs = 10_000;
const body = JSON.stringify(
  Array.from({ length: 10 }, () => ({
    type: 'heartbeat',
    timestamp: 1_760_000_000,
    text: 'x'.repeat(100),
  })),
);

it('rejects none of 10,000 TVs that reconnect at once with queued events', async () => {
  const served = await startServed();
  const path = `/devices/${served.aim.screenId}`;
  const asks = [
    spareRequest('GET', `${path}/config`, served.aim),
    spareRequest('POST', `${path}/events`, { ...served.aim, body }),
  ];
  for (let round = 0; round < 3; round++) {
    const client = new SpareClient(served.url);
    const counts: Record<string, number> = {};
    const startedMs = performance.now();
    const tv = async () => {
      for (const ask of asks) {
        const { status } = await client.send(ask).catch(() => ({ status: 'no answer' }));
        counts[status] = (counts[status] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: tvs }, tv));
    const tookSeconds = (performance.now() - startedMs) / 1000;
    client.close();
    console.log(
      `${tvs} TVs at once, a config and a batch each: all served after ${tookSeconds.toFixed(1)} s; ${JSON.stringify(counts)}`,
    );
    expect(counts).toEqual({ 200: tvs, 202: tvs });
  }
  await served.stop();
});
