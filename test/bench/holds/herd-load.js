// Simulates TVs that all come back at once. Each fetches its playlist and config and posts events,
// on a connection of its own. It retries after `Retry-After`, or 1 s after a broken connection.
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';

const reconnectMs = 1000;

function callsOf({ screenId, apiKey }, batch) {
  const authorization = `Bearer ${apiKey}`;
  const path = `/devices/${screenId}`;
  const posted = {
    authorization,
    'content-type': 'application/json',
    'idempotency-key': `back ${screenId}`,
  };
  return [
    { method: 'GET', path: `${path}/playlist`, headers: { authorization } },
    { method: 'GET', path: `${path}/config`, headers: { authorization } },
    { method: 'POST', path: `${path}/events`, headers: posted, body: batch },
  ];
}

const clientOptions = { pipelining: 1, headersTimeout: 60_000, connectTimeout: 60_000 };

async function comeBack(url, tv, batch, tally) {
  let client = new Client(url, clientOptions);
  for (const call of callsOf(tv, batch)) {
    for (let isServed = false; !isServed; ) {
      try {
        const { statusCode, headers, body } = await client.request(call);
        await body.dump();
        isServed = statusCode < 300;
        if (isServed) continue;
        const wait = headers['retry-after'];
        tally.refusals[statusCode] = (tally.refusals[statusCode] ?? 0) + 1;
        if (wait === undefined) tally.withoutRetryAfter++;
        await sleep(Number(wait ?? 1) * 1000);
      } catch (error) {
        tally.lost[error.code] = (tally.lost[error.code] ?? 0) + 1;
        await client.destroy();
        client = new Client(url, clientOptions);
        await sleep(reconnectMs);
      }
    }
  }
  await client.close();
}

process.on('message', async ({ url, tvs, batch }) => {
  const tally = { refusals: {}, withoutRetryAfter: 0, lost: {}, servedMs: [] };
  const start = performance.now();
  await Promise.all(
    tvs.map((tv) =>
      comeBack(url, tv, batch, tally).then(() => tally.servedMs.push(performance.now() - start)),
    ),
  );
  process.send?.(tally);
});
process.send?.({ ready: true });
