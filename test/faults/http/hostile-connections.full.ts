import { afterEach, describe, expect, it } from 'vitest';
import { endProcesses } from '../../support/signage-process.ts';
import {
  floods,
  hostileConnections,
  openConnection,
  openSockets,
  runFlood,
  secondsToStop,
  secondsToStopWithoutDescriptors,
  secondsUntilClosed,
  startAttacked,
} from './hostile-connections.ts';

const seconds = 10;
const transports = [{ tls: false }, { tls: true }];

afterEach(endProcesses);

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

  it('closes a connection whose client reads no response after 60 to 66 s', async () => {
    const service = await startAttacked({ tls });
    const before = openSockets(service);
    const opening = openConnection(
      service,
      hostileConnections['responses that nobody reads']?.bytes,
    );
    const took = await secondsUntilClosed(service, 1, before);
    const socket = await opening;
    socket.destroy();
    console.log(`a response that nobody reads (TLS: ${tls}): closed after ${took.toFixed(1)} s`);
    expect(took).toBeGreaterThan(59);
    expect(took).toBeLessThan(66);
  });
});

it.each(['silent ones', 'half a ClientHello'])(
  'closes 60 connections whose TLS handshake does not end within 12 s: %s',
  async (kind) => {
    const service = await startAttacked({ tls: true });
    const before = openSockets(service);
    const open = () =>
      openConnection(service, hostileConnections[kind]?.bytes, { handshake: false });
    const sockets = await Promise.all(Array.from({ length: 60 }, open));
    const took = await secondsUntilClosed(service, 60, before);
    for (const socket of sockets) socket.destroy();
    console.log(`${kind}: closed after ${took.toFixed(1)} s`);
    expect(took).toBeLessThan(12);
  },
);
