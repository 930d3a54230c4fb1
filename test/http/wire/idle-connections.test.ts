// Idle connections outlive those of load balancers, unless strangers take all connections.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openListener } from '../../../src/http/listener/listener.ts';
import type { ServedRequest } from '../../../src/http/request/request-context.ts';
import { startService } from '../../support/service/service.ts';

let close: () => Promise<void>;
let port: number;
const sockets: Socket[] = [];

async function start(options: { maxConnections?: number; keepAliveTimeoutMs?: number }) {
  const listener = await openListener({
    host: '127.0.0.1',
    port: 0,
    fetch: () => new Response('done'),
    isKnown: (incoming: ServedRequest) => {
      incoming.isKnown = incoming.headers.authorization !== undefined;
      return incoming.isKnown;
    },
    onError: () => {},
    limits: { strangersKeepAlive: 50, pressureCheckInterval: 20 },
    ...options,
  });
  close = listener.close;
  port = Number(new URL(listener.url).port);
}

beforeEach(() => {
  close = async () => {};
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await close();
});

/** Opens a connection, and sends one request on it. */
async function request(authorization = '') {
  const socket = connect(port, '127.0.0.1');
  const closed = once(socket, 'close');
  sockets.push(socket);
  socket.write(`GET / HTTP/1.1\r\nHost: x\r\n${authorization}\r\n`);
  await once(socket, 'data');
  return { socket, closed };
}

it('75 s is announced, or the time of the option', async () => {
  const usual = await startService();
  expect((await usual.send('GET', '/healthz')).headers.get('keep-alive')).toBe('timeout=75');
  const long = await startService({ keepAliveSeconds: 620 });
  expect((await long.send('GET', '/healthz')).headers.get('keep-alive')).toBe('timeout=620');
});

it('an idle connection is closed after the keep-alive time', async () => {
  await start({ keepAliveTimeoutMs: 50 });
  await (await request()).closed;
});

it('under pressure, strangers are closed early, and callers with a valid credential stay', async () => {
  await start({ maxConnections: 10 });
  const known = await request('Authorization: Bearer x\r\n');
  const strangers = await Promise.all(Array.from({ length: 8 }, () => request()));
  await Promise.race(strangers.map(({ closed }) => closed));
  known.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(known.socket, 'data');
});

it('without pressure, an idle stranger stays', async () => {
  await start({ maxConnections: 11 });
  const strangers = await Promise.all(Array.from({ length: 8 }, () => request()));
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(strangers.map(({ socket }) => socket.closed)).not.toContain(true);
});
