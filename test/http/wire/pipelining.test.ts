// HTTP pipelining: requests that a client sends before it has the earlier responses.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ListenerOptions } from '../../../src/http/listener/listener.ts';
import { rawClient, silentSocket, startListener } from '../../support/tv/raw-client.ts';

const head = (method: string, path: string, ...more: string[]) =>
  [`${method} ${path} HTTP/1.1`, 'Host: x', ...more, '', ''].join('\r\n');
const get = (path: string, ...more: string[]) => head('GET', path, ...more);
const largeBytes = 8 * 1024 * 1024;
const requestsPerRead = 2_000;

let listener: Awaited<ReturnType<typeof startListener>>;
/** In order of beginning. */
let begun: string[];
let maxInProgress: number;
let answer: (request: Request) => Promise<Response>;

async function start(limits: ListenerOptions['limits'] = {}): Promise<void> {
  let inProgress = 0;
  const admit = ({ url = '' }: IncomingMessage, outgoing: ServerResponse) => {
    begun.push(url);
    maxInProgress = Math.max(maxInProgress, ++inProgress);
    outgoing.on('close', () => inProgress--);
    return true;
  };
  listener = await startListener({
    fetch: (request) => answer(request),
    admit,
    limits: { closeTimeout: 100, ...limits },
  });
}

beforeEach(async () => {
  begun = [];
  maxInProgress = 0;
  answer = async (request) =>
    new Response(`${request.method} ${new URL(request.url).pathname} ${await request.text()};`);
  await start();
});
/** Returns everything received on a connection until the service closes it. */
async function answersTo(bytes: string): Promise<string> {
  const { socket, closed } = await rawClient(listener.url);
  socket.write(bytes);
  return closed;
}

const bodies = (text: string) =>
  [...text.matchAll(/\w+ \/\w* \w*(?=;)/g)].map(([body]) => body.trim());

describe('pipelined requests', () => {
  it('are answered in order, one at a time', async () => {
    answer = async (request) => {
      const path = new URL(request.url).pathname;
      // The first ones take longest.
      await sleep(10 - Number(path.slice(1)));
      return new Response(`GET ${path} ;`);
    };
    const paths = Array.from({ length: 10 }, (_, n) => `/${n}`);
    const text = await answersTo(
      paths.map((path) => get(path, ...(path === '/9' ? ['Connection: close'] : []))).join(''),
    );
    expect(bodies(text)).toEqual(paths.map((path) => `GET ${path}`));
    expect(begun).toEqual(paths);
    expect(maxInProgress).toBe(1);
  });

  it('are answered with their own bodies, even when these arrive in pieces', async () => {
    const { socket, closed } = await rawClient(listener.url);
    const large = 'y'.repeat(100_000);
    socket.write(
      `${head('POST', '/a', 'Content-Length: 3')}one${get('/b')}${head('POST', '/c', 'Content-Length: 5')}th`,
    );
    await sleep(20);
    socket.write(`ree${head('POST', '/d', 'Transfer-Encoding: chunked')}4\r\nfour\r\n0\r\n\r\n`);
    socket.write(
      `${head('POST', '/e', `Content-Length: ${large.length}`)}${large}${get('/f', 'Connection: close')}`,
    );
    expect(bodies(await closed)).toEqual([
      'POST /a one',
      'GET /b',
      'POST /c three',
      'POST /d four',
      `POST /e ${large}`,
      'GET /f',
    ]);
  });

  it('include HEAD, whose response has no body', async () => {
    answer = async () => new Response('body', { headers: { 'X-Own': '1' } });
    const text = await answersTo(
      `${head('HEAD', '/a')}${get('/b')}${head('HEAD', '/c', 'Connection: close')}`,
    );
    expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(3);
    expect(text.match(/\r\n\r\n(body)?(?=HTTP|$)/g)).toEqual([
      '\r\n\r\n',
      '\r\n\r\nbody',
      '\r\n\r\n',
    ]);
  });

  it('do not begin behind a response that the client does not read', async () => {
    answer = async () => new Response(new Uint8Array(largeBytes));
    const { socket, closed } = await rawClient(listener.url);
    socket.pause().write(get('/a') + get('/b') + get('/c', 'Connection: close'));
    await sleep(200);
    expect(begun).toEqual(['/a']);
    socket.resume();
    expect((await closed).length).toBeGreaterThan(3 * largeBytes);
    expect(begun).toEqual(['/a', '/b', '/c']);
  });

  it('do not begin behind one with Connection: close, or after their client has disconnected', async () => {
    expect(bodies(await answersTo(get('/a') + get('/b', 'Connection: close') + get('/c')))).toEqual(
      ['GET /a', 'GET /b'],
    );
    answer = () => new Promise(() => {});
    const socket = await silentSocket(listener.url);
    socket.write(get('/d') + get('/e'));
    await expect.poll(() => begun).toContain('/d');
    socket.resetAndDestroy();
    await listener.close();
    expect(begun).toEqual(['/a', '/b', '/d']);
    await start();
  });

  it('are all answered for a client that has half-closed its connection', async () => {
    answer = async (request) => {
      await sleep(20);
      return new Response(`GET ${new URL(request.url).pathname} ;`);
    };
    const { socket, closed } = await rawClient(listener.url, { allowHalfOpen: true });
    socket.end(get('/a') + get('/b') + get('/c'));
    expect(bodies(await closed)).toEqual(['GET /a', 'GET /b', 'GET /c']);
  });

  it('are answered before malformed input that follows them', async () => {
    answer = async (request) => {
      await sleep(20);
      return new Response(`GET ${new URL(request.url).pathname} ;`);
    };
    for (const bytes of [
      get('/a'),
      get('/a') + get('/b'),
      `${get('/a')}${head('POST', '/b', 'Transfer-Encoding: chunked')}`,
    ]) {
      const text = await answersTo(`${bytes}nonsense\r\n\r\n`);
      expect(text).toMatch(
        /HTTP\/1\.1 200 (.|\r\n)*GET \/a ;HTTP\/1\.1 (200 (.|\r\n)*;HTTP\/1\.1 )?400 /,
      );
    }
  });

  it('are answered by the thousand, reading ahead one chunk at most', async () => {
    const { socket, closed } = await rawClient(listener.url);
    const count = 4_000;
    const bytes = Buffer.from(get('/x').repeat(count) + get('/y', 'Connection: close'));
    answer = async () => new Response(';');
    socket.write(bytes);
    expect((await closed).match(/HTTP\/1\.1 200/g)).toHaveLength(count + 1);
  });
});

describe('requests that wait behind an unfinished response', () => {
  it('are limited to what one read delivers', async () => {
    answer = () => new Promise(() => {});
    const socket = await silentSocket(listener.url);
    const bytes = Buffer.from(get('/x').repeat(requestsPerRead * 100));
    socket.write(bytes);
    await expect.poll(() => begun).toHaveLength(1);
    await sleep(200);
    // Data beyond the system buffers was not read.
    expect(socket.writableLength).toBeGreaterThan(0);
  });

  it('are dropped with their connection when too many wait on all connections together', async () => {
    answer = () => new Promise(() => {});
    const small = await silentSocket(listener.url);
    small.write(get('/x') + get('/x'));
    const greedy = await Promise.all(Array.from({ length: 20 }, () => silentSocket(listener.url)));
    for (const socket of greedy) socket.write(get('/x').repeat(requestsPerRead));
    await expect
      .poll(() => greedy.filter((socket) => socket.resume().closed).length)
      .toBeGreaterThan(5);
    expect(small.closed).toBe(false);
  });

  it('do not time out because the service has paused reading', async () => {
    await listener.close();
    await start({ headersTimeout: 100, requestTimeout: 300, connectionsCheckingInterval: 20 });
    answer = async (request) => {
      if (new URL(request.url).pathname === '/slow') await sleep(300);
      return new Response(';');
    };
    const { socket, closed } = await rawClient(listener.url);
    const last = get('/z', 'Connection: close');
    socket.write(get('/slow') + get('/a') + last.slice(0, 10));
    await sleep(350);
    socket.write(last.slice(10));
    expect((await closed).match(/HTTP\/1\.1 \d+/g)).toEqual(
      Array.from({ length: 3 }, () => 'HTTP/1.1 200'),
    );
    // It does time out when the rest never arrives.
    const late = await answersTo(get('/slow') + get('/a') + last.slice(0, 10));
    expect(late.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 408']);
  });
});
