import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { startServed } from './served.ts';
import { p99, type SlowRound, slowRound } from './slow-sockets.ts';

const sockets = 10_000;
const load = { perSecond: 200, seconds: 10 };

it('the latency of honest TVs grows at most 5 times beside 10,000 slow clients', async () => {
  const served = await startServed();
  await slowRound(served, 10, { ...load, seconds: 2 });
  const before = await served.usage();
  const rounds: SlowRound[] = [];
  for (let n = 0; n < 3; n++) {
    const round = await slowRound(served, sockets, load);
    rounds.push(round);
    console.log(
      `p99 alone ${p99(round.without).toFixed(1)} ms, beside ${round.connected} slow clients at least ${p99(round.beside).toFixed(1)} ms, ` +
        `${round.cutOff} cut off; ${JSON.stringify(round.failures)}; ${round.wrong} wrong`,
    );
  }
  const [alone, beside] = [
    p99(rounds.flatMap(({ without }) => without)),
    p99(rounds.flatMap((round) => round.beside)),
  ];
  await sleep(8_000);
  const after = await served.usage();
  console.log(
    `all rounds: ${alone.toFixed(1)} ms and ${beside.toFixed(1)} ms, ${(beside / alone).toFixed(2)} times; descriptors ${before.open.length} -> ${after.open.length}`,
  );
  await served.stop();
  expect(rounds.map(({ wrong }) => wrong)).toEqual([0, 0, 0]);
  expect(Math.min(...rounds.map(({ connected }) => connected))).toBeGreaterThan(0.95 * sockets);
  expect(beside / alone).toBeLessThan(5);
  expect(after.open.length).toBeLessThanOrEqual(before.open.length + 2);
});
