import { Pool } from 'undici';
import { it } from 'vitest';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { json, stubService } from '../support/network/stub-service.ts';
import { item } from '../support/service/content.ts';
import { share } from './measure.ts';
import { type Registered, registerTvs } from './registered.ts';
import { startServed } from './served.ts';

const token = `mak_${'Origins'.repeat(5)}`;
const tvs = 200;
const perSecond = 200;
const timeoutMs = 2000;

const playlist = json(200, { items: Array.from({ length: 10 }, () => item()) });

interface Answered {
  sentMs: number;
  tookMs: number;
  status: number;
  source: string | undefined;
}

/** Sends requests at a fixed rate, however long the answers take. TVs take turns. */
async function load(
  pool: Pool,
  bound: readonly Registered[],
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
  const times = answers.map(({ tookMs }) => tookMs);
  const at = (part: number) => share(times, part).toFixed(1);
  const sources = new Map<string, number>();
  for (const { source, status } of answers)
    sources.set(source ?? String(status), (sources.get(source ?? String(status)) ?? 0) + 1);
  const shares = [...sources].map(([source, count]) => `${count} ${source}`).join(', ');
  console.log(
    `${name}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms of ${answers.length} (${shares})`,
  );
}

it(`GET playlist at ${perSecond}/s while the on-demand source hangs, and afterwards`, async () => {
  let hangs = false;
  // It answers after 3 ms.
  const source = await stubService((response, request) => {
    if (!hangs) setTimeout(() => playlist(response, request), 3);
  });
  const served = await startServed(await temporaryFolder(), token, {
    onDemand: `${source.url}/{screenId}`,
    onDemandTtlSeconds: 0,
    onDemandTimeoutMs: timeoutMs,
  });
  const bound = await registerTvs(served.url, token, tvs);
  const pool = new Pool(served.url, { connections: 500 });
  await load(pool, bound, 3);
  report('the source answers', await load(pool, bound, 10));

  hangs = true;
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

  hangs = false;
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
});
