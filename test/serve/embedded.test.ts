// `serve` as a part of another program: mounted in its server, on its own store.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { runConformance } from '../../src/conformance/run-conformance.ts';
import type { ServeOptions } from '../../src/serve/serve-options.ts';
import { type Running, serve } from '../../src/serve.ts';
import { openStore } from '../../src/store/location/open.ts';
import { startLocally } from '../support/network/local-server.ts';
import { adminToken, managerAt, sendTo } from '../support/service/service.ts';
import { memoryObjectStore } from '../support/stores/memory-object-store.ts';

const ends: (() => unknown)[] = [];
afterEach(() => Promise.all(ends.splice(0).map((end) => end())));

async function start(options: ServeOptions = {}): Promise<Running> {
  const service = await serve({ store: 'memory:', adminToken, listen: false, ...options });
  ends.push(service.close);
  return service;
}

/** Starts a server of a program. Returns its URL. */
async function startServer(onRequest: RequestListener): Promise<string> {
  return (await startLocally(createServer(onRequest))).url;
}

const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
const creation = (name: string) => ({ method: 'POST', headers, body: JSON.stringify({ name }) });

describe('listen: false', () => {
  it('answers by fetch, and opens no port', async () => {
    const { url, fetch: send } = await start();
    expect(url).toBe('http://signage.invalid');
    expect((await send(new Request(`${url}/healthz`))).status).toBe(200);
  });

  it('has the public URL', async () => {
    const publicUrl = 'https://example.com/signage';
    expect((await start({ publicUrl: `${publicUrl}/` })).url).toBe(publicUrl);
  });

  it('refuses a new certificate', async () => {
    const { replaceTls } = await start();
    expect(() => replaceTls({ cert: '', key: '' })).toThrow('without TLS');
  });

  it('closes with await using', async () => {
    const service = await serve({ store: 'memory:', listen: false });
    await service[Symbol.asyncDispose]();
    const { status } = await service.fetch(new Request(`${service.url}/readyz`));
    expect(status).toBe(503);
  });
});

describe('a mount path', () => {
  const publicUrl = 'https://example.com/signage';

  /**
   * A server that removes the path of the mount, as Express does, or leaves it, as Fastify does.
   */
  const mount = ({ nodeHandler }: Running, isRemoved: boolean) =>
    startServer((incoming, outgoing) => {
      const rest = incoming.url?.replace('/signage', '') ?? '';
      if (isRemoved) incoming.url = rest.startsWith('/') ? rest : `/${rest}`;
      nodeHandler(incoming, outgoing);
    });

  it.each([true, false])('is part of each Location (removed before: %s)', async (isRemoved) => {
    const url = await mount(await start({ publicUrl }), isRemoved);
    const created = await fetch(`${url}/signage/v1/venues`, creation('Lobby'));
    expect(created.status).toBe(201);
    const { id } = (await created.json()) as { id: string };
    expect(created.headers.get('location')).toBe(`/signage/v1/venues/${id}`);
    const read = await fetch(url + created.headers.get('location'), { headers });
    expect(await read.json()).toMatchObject({ name: 'Lobby' });
    const browser = { headers: { accept: 'text/html' }, redirect: 'manual' } as const;
    for (const path of ['/signage', '/signage/', '/signage?a']) {
      const { headers: answered } = await fetch(url + path, browser);
      expect(answered.get('location')).toBe('/signage/docs');
    }
  });

  it('is in the OpenAPI document', async () => {
    const url = await mount(await start({ publicUrl }), false);
    const document = await (await fetch(`${url}/signage/openapi.json`)).json();
    expect(document).toMatchObject({ servers: [{ url: publicUrl }] });
  });

  it('is removed from requests of fetch, body included', async () => {
    const { fetch: send } = await start({ publicUrl });
    const created = await send(new Request(`${publicUrl}/v1/venues`, creation('Lobby')));
    expect([created.status, await created.json()]).toMatchObject([201, { name: 'Lobby' }]);
    const refused = await send(new Request('https://example.com/signages/healthz'));
    expect(refused.status).toBe(404);
  });

  it('passes the checks of paths, headers, errors, bodies and holds', async () => {
    const service = await start({ publicUrl });
    const url = `${await mount(service, true)}/signage`;
    const failed = [];
    const ids = ['error.', 'request-id.', 'order.', 'compression.', 'changes.', 'venue.'];
    for await (const outcome of runConformance({ url, token: adminToken, ids }))
      if (outcome.result === 'fail') failed.push(outcome);
    expect(failed).toEqual([]);
  });

  it('works on a port of its own, too', async () => {
    const service = await serve({ store: 'memory:', port: 0, publicUrl });
    ends.push(service.close);
    for (const path of ['/healthz', '/signage/healthz', '/signage/healthz?a=/signage'])
      expect((await fetch(service.url + path)).status).toBe(200);
    expect((await fetch(`${service.url}/signage/signage/healthz`)).status).toBe(404);
  });
});

describe('nodeHandler', () => {
  it('sees the address of the client, and answers TVs', async () => {
    const { nodeHandler } = await start();
    const url = await startServer(nodeHandler);
    const metrics = await fetch(`${url}/metrics`);
    expect(metrics.status).toBe(200);
    expect((await fetch(`${url}/devices/x/playlist`)).status).toBe(401);
  });

  it.each<[string, (incoming: IncomingMessage) => unknown]>([
    ['the body', (incoming) => text(incoming)],
    [
      'a part of the body',
      async (incoming) => {
        await once(incoming, 'readable');
        incoming.read(2);
      },
    ],
  ])('says what is wrong when a parser has read %s', async (_, parse) => {
    const { nodeHandler } = await start();
    const url = await startServer(async (incoming, outgoing) => {
      await parse(incoming);
      nodeHandler(incoming, outgoing);
    });
    const answer = await fetch(`${url}/v1/venues`, creation('Lobby'));
    expect(answer.status).toBe(500);
    expect(await answer.json()).toMatchObject({
      code: 'internal_error',
      detail: expect.stringContaining('before body parsers'),
    });
  });

  it('finishes its requests when the service closes, before the store does', async () => {
    const { nodeHandler, close } = await start({ demo: false });
    const url = await startServer(nodeHandler);
    const manage = managerAt(url, adminToken);
    const { id: venueId } = (await manage.post('/v1/venues', { name: 'Lobby' })).body;
    const { id: screenId } = (await manage.post('/v1/screens', { venueId, name: 'Main' })).body;
    const { code } = (await manage.post('/v1/devices/provisioning-codes', { screenId })).body;
    const { apiKey } = (
      await sendTo(url, 'POST', '/devices/register', {
        body: { pairingCode: code, deviceInfo: {} },
      })
    ).body;
    const path = `/devices/${screenId}/changes`;
    const { cursor } = (await sendTo(url, 'GET', path, { key: apiKey })).body;
    const query = `?after=${cursor}&waitSeconds=50`;
    const held = [1, 2].map(() => sendTo(url, 'GET', path + query, { key: apiKey }));
    await expect
      .poll(async () => (await sendTo(url, 'GET', '/metrics', {})).text)
      .toContain('\nsignage_held_devices 2\n');
    await close();
    for (const answer of await Promise.all(held)) expect(answer.status).toBe(200);
  });

  it('closes within some 10 s, whatever its clients do', { timeout: 20_000 }, async () => {
    const { nodeHandler, close } = await start();
    const url = new URL(await startServer(nodeHandler));
    const socket = connect(Number(url.port), url.hostname);
    socket.on('error', () => {});
    socket.write(
      `POST /v1/venues HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminToken}\r\nContent-Length: 20000\r\n\r\n{`,
    );
    await new Promise((resolve) => setTimeout(resolve, 200));
    const startMs = performance.now();
    await close();
    expect(performance.now() - startMs).toBeLessThan(13_000);
  });
});

describe('stores of one’s own', () => {
  it('are used, and stay open', async () => {
    const store = await openStore('memory:');
    ends.push(() => store.close());
    const objects = memoryObjectStore();
    const service = await start({ store, objectStore: objects });
    const created = await service.fetch(new Request(`${service.url}/v1/venues`, creation('Lobby')));
    const { id, tenantId } = (await created.json()) as { id: string; tenantId: string };
    expect((await store.read.get('venues', id))?.name).toBe('Lobby');
    const url = await startServer(service.nodeHandler);
    await service.close();
    await service.close();
    const late = await service.fetch(new Request(`${service.url}/v1/venues/${id}`, { headers }));
    expect(await late.json()).toMatchObject({ status: 503, code: 'unavailable' });
    const lateTv = await fetch(`${url}/devices/x/playlist`);
    expect(await lateTv.json()).toMatchObject({ status: 503, code: 'unavailable' });
    expect(await store.read.count('venues', 'tenantId', tenantId)).toBe(1);
    const again = await start({ store, objectStore: objects });
    const read = await again.fetch(new Request(`${again.url}/v1/venues/${id}`, { headers }));
    expect(read.status).toBe(200);
  });
});

describe('onDemand', () => {
  it('takes a URL', async () => {
    const url = await startServer((_, outgoing) => void outgoing.writeHead(204).end());
    const { fetch: send, url: base } = await start({ onDemand: `${url}/{screenId}` });
    const ready = await send(new Request(`${base}/readyz?verbose`));
    expect(await ready.text()).toContain('on-demand');
  });
});
