import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { item } from '../../support/content.ts';
import { type Served, startServed } from './served.ts';

const versions = 20;
const requests = 40;
const mostProbeMs = 200;
const mostGrowthBytes = 150 * 1024 * 1024;
const seconds = 10;

async function publishLarge({ manage, aim }: Served): Promise<void> {
  for (let n = 0; n < versions; n++) {
    const items = [item({ n, text: 'x'.repeat(1_000_000) })];
    expect((await manage('PUT', `/v1/screens/${aim.screenId}/playlist`, { items })).status).toBe(
      200,
    );
  }
}

/**
 * Sends requests on many connections, with or without reading the responses. Returns the usage of
 * the service.
 */
async function attack({ url, aim, usage }: Served, connections: number, reads: boolean) {
  const before = await usage();
  const { hostname, port, host } = new URL(url);
  const request = `GET /v1/screens/${aim.screenId}/playlists?limit=200 HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${aim.token}\r\n\r\n`;
  const sockets: Socket[] = [];
  for (let n = 0; n < connections; n++) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    await once(socket, 'connect');
    sockets.push(reads ? socket.resume() : socket.pause());
  }
  for (const socket of sockets) socket.write(request.repeat(requests / connections));
  let slowestMs = 0;
  let residentBytes = 0;
  for (
    const endMs = performance.now() + seconds * 1000;
    performance.now() < endMs;
    await sleep(50)
  ) {
    const startedMs = performance.now();
    await (await fetch(`${url}/healthz`)).text();
    slowestMs = Math.max(slowestMs, performance.now() - startedMs);
    residentBytes = Math.max(residentBytes, (await usage()).residentBytes);
  }
  for (const socket of sockets) socket.destroy();
  return { slowestMs, grownBytes: residentBytes - before.residentBytes };
}

it.each([
  ['pipelined on one connection', 1, true],
  ['on 40 connections', requests, true],
  ['on 40 connections, unread', requests, false],
] as const)(
  '40 lists of 20 versions of 1 MB, %s, leave the service quick and small',
  async (how, connections, reads) => {
    const served = await startServed();
    await publishLarge(served);
    const { slowestMs, grownBytes } = await attack(served, connections, reads);
    console.log(
      `40 lists ${how}: /healthz at most ${slowestMs.toFixed(0)} ms, memory ${(grownBytes / 1024 / 1024).toFixed(0)} MB more`,
    );
    await served.stop();
    expect(slowestMs).toBeLessThan(mostProbeMs);
    expect(grownBytes).toBeLessThan(mostGrowthBytes);
  },
);
