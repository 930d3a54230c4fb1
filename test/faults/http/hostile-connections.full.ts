import { afterEach, describe, expect, it } from 'vitest';
import { endProcesses } from '../../support/process/signage-process.ts';
import {
  floods,
  runFlood,
  secondsToStop,
  secondsToStopWithoutDescriptors,
  startAttacked,
  startWithLargeLists,
} from './hostile-connections.ts';

const seconds = 10;
const transports = [{ tls: false }, { tls: true }];

afterEach(endProcesses);

it.each([
  ['pipelined on one connection', 1, true],
  ['on 40 connections', 40, true],
  ['on 40 connections, unread', 40, false],
] as const)(
  '40 lists of 20 versions of 1 MB, %s: less than 158 MB more',
  async (how, connections, reads) => {
    const { service, path, head } = await startWithLargeLists();
    const requests = 40 / connections;
    const flood = { name: how, connections, requests, path, head, reads, seconds };
    const { growthMb, healthzMaxMs } = await runFlood(service, flood);
    console.log(
      `40 lists ${how}: ${growthMb.toFixed(0)} MB more, /healthz at most ${healthzMaxMs.toFixed(0)} ms`,
    );
    expect(healthzMaxMs).toBeLessThan(200);
    expect(growthMb).toBeLessThan(158);
  },
);

describe.each(transports)('a service under attack (TLS: $tls)', ({ tls }) => {
  it.each([
    { flood: floods.oneConnection, mostMb: 60, mostMs: 100 },
    { flood: floods.manyConnections, mostMb: 150, mostMs: 100 },
    // Node parses everything from one read of each connection before anything else: 2,500 requests.
    { flood: floods.tinyRequests, mostMb: 600, mostMs: Number.POSITIVE_INFINITY },
  ])('$flood.name: less than $mostMb MB more', async ({ flood, mostMb, mostMs }) => {
    const { growthMb, healthzP99Ms } = await runFlood(await startAttacked({ tls }), {
      ...flood,
      seconds,
    });
    console.log(
      `${flood.name} (TLS: ${tls}): ${growthMb.toFixed(0)} MB more, /healthz p99 ${healthzP99Ms.toFixed(1)} ms`,
    );
    expect(growthMb).toBeLessThan(mostMb);
    expect(healthzP99Ms).toBeLessThan(mostMs);
  });

  it('ends within 12 s of SIGTERM with hostile connections open', async () => {
    const stopped = await secondsToStop(await startAttacked({ tls }), 20);
    console.log(
      `SIGTERM (TLS: ${tls}): exit code ${stopped.code} after ${stopped.seconds.toFixed(1)} s`,
    );
    expect(stopped.code).toBe(0);
    expect(stopped.seconds).toBeLessThan(12);
  });

  it('ends within 12 s of SIGTERM when it has no file descriptor left', async () => {
    const stopped = await secondsToStopWithoutDescriptors(await startAttacked({ tls }), 60);
    console.log(
      `SIGTERM at the descriptor limit (TLS: ${tls}): exit code ${stopped.code} after ${stopped.seconds.toFixed(1)} s`,
    );
    expect(stopped.code).toBe(0);
    expect(stopped.seconds).toBeLessThan(12);
  });
});
