import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { askHonestly, type Met, quantile, startAttack } from './honest-tv.ts';
import { startServed } from './served.ts';

const connections = 10_000;
const load = { kinds: ['config', 'events'], perSecond: 200, seconds: 10 } as const;
const p99 = (values: readonly number[]) => quantile(values, 0.99);

it('the latency of honest TVs grows at most 5 times beside 10,000 slow clients', async () => {
  const served = await startServed();
  const honest = { url: served.url, ...served.aim };
  await askHonestly(honest, { ...load, seconds: 2 });
  const before = await served.usage();
  const aloneMs: number[] = [];
  const besideMs: number[] = [];
  for (let round = 0; round < 3; round++) {
    const alone = await askHonestly(honest, load);
    // Spread over 10 s, like their time-outs after 10 s and 15 s: the accept queue is short.
    const attack = { attack: 'slow requests', connections, perSecond: 1000, ...honest } as const;
    const attackers = await startAttack(attack);
    for (let left = 600; left > 0; left--) {
      if ((await attackers.met()).connected >= 0.98 * connections) break;
      await sleep(100);
    }
    const met: Met[] = [await attackers.met()];
    const watching = setInterval(async () => void met.push(await attackers.met()), 200);
    const beside = await askHonestly(honest, load);
    clearInterval(watching);
    await sleep(200);
    await attackers.stop();
    const [first, last] = [met[0]!, met.at(-1)!];
    // Some are always reconnecting.
    const connected = Math.min(...met.map((one) => one.connected));
    console.log(
      `p99 alone ${p99(alone.tookMs).toFixed(1)} ms, beside ${connected} slow clients at least ${p99(beside.tookMs).toFixed(1)} ms, ` +
        `${last.cutOff - first.cutOff} cut off; ${JSON.stringify(last.failures)}`,
    );
    for (const { statuses } of [alone, beside])
      expect(Object.keys(statuses)).toEqual(['200', '202']);
    expect(connected).toBeGreaterThan(0.95 * connections);
    aloneMs.push(...alone.tookMs);
    besideMs.push(...beside.tookMs);
    for (let left = 100; left > 0 && (await served.usage()).open.length > 100; left--)
      await sleep(100);
    await sleep(1_000);
  }
  await sleep(8_000);
  const after = await served.usage();
  const times = p99(besideMs) / p99(aloneMs);
  console.log(
    `all rounds: ${p99(aloneMs).toFixed(1)} ms and ${p99(besideMs).toFixed(1)} ms, ${times.toFixed(2)} times; descriptors ${before.open.length} -> ${after.open.length}`,
  );
  await served.stop();
  expect(times).toBeLessThan(5);
  expect(after.open.length).toBeLessThanOrEqual(before.open.length + 2);
});
