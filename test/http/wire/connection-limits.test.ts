// Time limits of connections without progress.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get } from 'node:https';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import type { ListenerOptions } from '../../../src/http/listener/listener.ts';
import { startListener } from '../../support/tv/raw-client.ts';

const pem = (kind: 'cert' | 'key') =>
  readFileSync(new URL(`../../fixtures/tls/first.${kind}.pem`, import.meta.url), 'utf8');
const tls = { cert: pem('cert'), key: pem('key') };
const halfClientHello = Buffer.from('16030102000100', 'hex');
const largeBytes = 16 * 1024 * 1024;
/** A body streamed like a file, without end, because nobody reads it. */
const inPieces = () =>
  new ReadableStream(
    { pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024)) },
    { highWaterMark: 0 },
  );
const request = (...more: string[]) => ['GET / HTTP/1.1', 'Host: x', ...more, '', ''].join('\r\n');

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

async function start(options: Pick<ListenerOptions, 'fetch' | 'tls' | 'limits'>) {
  const listener = await startListener(options);
  return { ...listener, port: Number(new URL(listener.url).port) };
}

async function open(port: number, { secure = false } = {}): Promise<Socket> {
  const to = { host: '127.0.0.1', port, rejectUnauthorized: false };
  const socket = secure ? connectTls(to) : connect(to);
  sockets.push(socket.on('error', () => {}));
  await once(socket, secure ? 'secureConnect' : 'connect');
  return socket;
}

describe('a connection whose TLS handshake never ends', () => {
  const limits = { handshakeTimeout: 300, closeTimeout: 300 };
  const fetch = () => new Response('done');

  it.each([
    ['sends nothing', []],
    ['sends half a ClientHello', [halfClientHello]],
    ['sends a byte at a time', Array.from({ length: 100 }, () => Buffer.from([0x16]))],
    ['speaks no TLS', [Buffer.from(request())]],
  ])('is closed in time, also when its client %s', async (_, pieces) => {
    const { port, url } = await start({ fetch, tls, limits });
    const socket = (await open(port)).resume();
    const closed = once(socket, 'close');
    for (const piece of pieces) {
      if (socket.closed) break;
      socket.write(piece);
      await sleep(20);
    }
    await Promise.race([closed, sleep(2_000).then(() => expect.unreachable('left open'))]);
    const [response] = await once(
      get(url, { rejectUnauthorized: false, agent: false }),
      'response',
    );
    expect(response.resume().statusCode).toBe(200);
  });

  it('does not delay closing the service', async () => {
    const { port, close } = await start({
      fetch,
      tls,
      limits: { ...limits, handshakeTimeout: 60_000 },
    });
    const silent = (await open(port)).resume();
    (await open(port)).write(halfClientHello);
    const closed = once(silent, 'close');
    await close();
    await closed;
  });
});

describe.each([false, true])('a client that reads nothing of a response (TLS: %s)', (secure) => {
  const limits = { stalledWriteTimeout: 400, closeTimeout: 100 };
  const options = { limits, ...(secure && { tls }) };

  /** Counts of begun and closed responses on the side of the service. */
  async function responding(fetch: ListenerOptions['fetch']) {
    const ends: Promise<number>[] = [];
    const { port } = await start({
      ...options,
      fetch(sent, bindings) {
        const startedMs = performance.now();
        ends.push(once(bindings.outgoing, 'close').then(() => performance.now() - startedMs));
        return fetch(sent, bindings);
      },
    });
    const socket = await open(port, { secure });
    socket.pause().write(request());
    await expect.poll(() => ends).toHaveLength(1);
    return { socket, ended: ends[0] as Promise<number> };
  }

  it('is disconnected after the limit', async () => {
    const { ended } = await responding(() => new Response(inPieces()));
    // Without the limit, this response never ends. A busy machine may take longer than the limit.
    expect(await ended).toBeGreaterThan(300);
  });

  it('gets all of it when it resumes in time, however often it stops', async () => {
    const { socket, ended } = await responding(() => new Response(new Uint8Array(largeBytes)));
    let bytes = 0;
    let sinceStop = 0;
    const all = new Promise<void>((resolve) => {
      socket.on('data', (chunk) => {
        bytes += chunk.length;
        sinceStop += chunk.length;
        if (bytes >= largeBytes) return resolve();
        // More than the system buffers hold, so that the service notices.
        if (sinceStop < largeBytes / 4) return;
        sinceStop = 0;
        socket.pause();
        setTimeout(() => socket.resume(), 200);
      });
    });
    socket.resume();
    await Promise.race([all, once(socket, 'close')]);
    expect(bytes).toBeGreaterThanOrEqual(largeBytes);
    expect(await ended).toBeGreaterThan(limits.stalledWriteTimeout);
  });

  it('is not disconnected while the service has nothing to send', async () => {
    const { socket } = await responding(async () => {
      await sleep(1_500);
      return new Response('late');
    });
    const [chunk] = await once(socket.resume().setEncoding('latin1'), 'data');
    expect(chunk).toMatch(/^HTTP\/1\.1 200/);
  });
});

describe('a connection without a request', () => {
  it('gets 408 at the time-out, and is not closed before', async () => {
    const limits = {
      headersTimeout: 300,
      requestTimeout: 300,
      connectionsCheckingInterval: 20,
      stalledWriteTimeout: 60,
    };
    const { port } = await start({ fetch: () => new Response('done'), limits });
    const socket = await open(port);
    const [chunk] = await once(socket.setEncoding('latin1'), 'data');
    expect(chunk).toMatch(/^HTTP\/1\.1 408/);
  });
});

describe('close', () => {
  it('destroys silent connections, incomplete requests and unread responses after its limit', async () => {
    const { port, close } = await start({
      fetch: () => new Response(new Uint8Array(largeBytes)),
      limits: { closeTimeout: 200 },
    });
    await open(port);
    const half = await open(port);
    const unread = await open(port);
    half.write(request().slice(0, 20));
    unread.pause().write(request().repeat(5));
    await sleep(50);
    const startedMs = performance.now();
    await close();
    expect(performance.now() - startedMs).toBeLessThan(3_000);
  });
});
