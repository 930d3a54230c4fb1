import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { it } from 'vitest';
import { ManagementClient } from '../../src/client/management-client.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { item } from '../support/content.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startServed } from './served.ts';

const token = `mak_${'Origins'.repeat(5)}`;
const tvs = 200;
const perSecond = 200;
const timeoutMs = 2000;

/** Starts a source that answers after 3 ms, or never while `hangs` is set. */
async function startSource() {
  const body = JSON.stringify({ items: Array.from({ length: 10 }, () => item()) });
  const hanging = new Set<ServerResponse>();
  const source = { hangs: false, calls: 0, url: '', close: async () => {} };
  const server = createServer((_, response) => {
    source.calls++;
    if (source.hangs) hanging.add(response);
    else
      setTimeout(
        () => response.writeHead(200, { 'content-type': 'application/json' }).end(body),
        3,
      );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  source.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/{screenId}`;
  source.close = () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return source;
}

interface Answered {
  sentMs: number;
  tookMs: number;
  status: number;
  source: string | undefined;
}

/** Sends requests at a fixed rate, however long the answers take. TVs take turns. */
async function load(
  pool: Pool,
  bound: readonly { screenId: string; apiKey: string }[],
  seconds: number,
): Promise<Answered[]> {
  const answers: Promise<Answered>[] = [];
  const startMs = performance.now();
  for (let n = 0; n < seconds * perSecond; n++) {
    const dueMs = startMs + (n * 1000) / perSecond;
    while (performance.now() < dueMs) await new Promise((resolve) => setTimeout(resolve, 1));
    const { screenId, apiKey } = bound[n % bound.length]!;
    const sentMs = performance.now();
    const request = pool.request({
      method: 'GET',
      path: `/devices/${screenId}/playlist`,
      headers: { authorization: `Bearer ${apiKey}` },
    });
    answers.push(
      request.then(async ({ statusCode: status, headers, body }) => {
        await body.dump();
        return {
          sentMs,
          tookMs: performance.now() - sentMs,
          status,
          source: headers['x-source'] as string | undefined,
        };
      }),
    );
  }
  return Promise.all(answers);
}

function report(name: string, answers: readonly Answered[]): void {
  const sorted = answers.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN).toFixed(
      1,
    );
  const sources = new Map<string, number>();
  for (const { source, status } of answers)
    sources.set(source ?? String(status), (sources.get(source ?? String(status)) ?? 0) + 1);
  const shares = [...sources].map(([source, count]) => `${count} ${source}`).join(', ');
  console.log(
    `${name}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms of ${answers.length} (${shares})`,
  );
}

it(`GET playlist at ${perSecond}/s while the on-demand source hangs, and afterwards`, async () => {
  const source = await startSource();
  const served = await startServed(await temporaryFolder(), token, {
    onDemandUrl: source.url,
    onDemandTtlSeconds: 0,
    onDemandTimeoutMs: timeoutMs,
  });
  const management = new ManagementClient({ url: served.url, token });
  const anyone = new RuntimeClient({ url: served.url });
  const venue = await management.call('createVenue', { body: { name: 'Benchmark' } });
  const bound: { screenId: string; apiKey: string }[] = [];
  for (let n = 0; n < tvs; n++) {
    const screen = await management.call('createScreen', {
      body: { venueId: venue.id, name: `Screen ${n}` },
    });
    const { code } = await management.call('createCode', { body: { screenId: screen.id } });
    bound.push(await anyone.register({ pairingCode: code, deviceInfo: {} }));
  }
  const pool = new Pool(served.url, { connections: 500 });
  await load(pool, bound, 3);
  report('the source answers', await load(pool, bound, 10));

  source.hangs = true;
  const hungMs = performance.now();
  const during = await load(pool, bound, 20);
  const openMs = hungMs + timeoutMs + 500;
  report(
    'the source hangs, first 2.5 s',
    during.filter(({ sentMs }) => sentMs < openMs),
  );
  report(
    'the source hangs, after 2.5 s',
    during.filter(({ sentMs }) => sentMs >= openMs),
  );

  source.hangs = false;
  const backMs = performance.now();
  const after = await load(pool, bound, 10);
  const first = after.find(({ source: from }) => from === 'on-demand');
  console.log(
    `the source is back: first on-demand answer after ${((first?.sentMs ?? Number.NaN) - backMs).toFixed(0)} ms`,
  );
  report(
    'the source is back, after 5 s',
    after.filter(({ sentMs }) => sentMs >= backMs + 5000),
  );
  await pool.close();
  await served.stop();
  await source.close();
});
