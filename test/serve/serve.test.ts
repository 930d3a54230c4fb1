import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../src/domain/log.ts';
import type { ServeOptions } from '../../src/serve/serve-options.ts';
import { type Running, serve } from '../../src/serve.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { freePort } from '../support/network/free-port.ts';
import { ManualClock } from '../support/runtime/manual-clock.ts';
import { impression, manager, walk } from '../support/service/management.ts';
import { type Answer, adminToken, managerAt, startService } from '../support/service/service.ts';
import { serveBelieving } from '../support/stores/believed-clock.ts';

const opened: Running[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

async function start(options: ServeOptions = {}): Promise<Running> {
  const one = await serve({ port: 0, store: 'memory:', adminToken, ...options });
  opened.push(one);
  return one;
}

const bearer = { Authorization: `Bearer ${adminToken}` };
const json = { ...bearer, 'Content-Type': 'application/json' };
const get = (url: string) => fetch(url, { headers: bearer });
const makeVenue = (url: string, name: string) =>
  fetch(`${url}/v1/venues`, { method: 'POST', headers: json, body: JSON.stringify({ name }) });
/** Returns the items of a list. */
const itemsOf = async (url: string, path: string): Promise<Answer['body'][]> =>
  (await managerAt(url, adminToken).get(path)).body.items;
const venuesOf = async (url: string): Promise<string[]> =>
  (await itemsOf(url, '/v1/venues')).map(({ name }) => name);

/** Begins a request, and resolves when its headers and a first piece of the body have arrived. */
async function begin(
  url: string,
  agent?: Agent,
): Promise<{ request: ClientRequest; answer: Promise<IncomingMessage> }> {
  const request = httpRequest(`${url}/v1/venues`, {
    method: 'POST',
    headers: { ...json, 'Transfer-Encoding': 'chunked' },
    ...(agent ? { agent } : {}),
  });
  const answer = once(request, 'response').then(([response]) => response as IncomingMessage);
  request.write('{"name":');
  await expect.poll(() => request.socket?.bytesWritten ?? 0).toBeGreaterThan(100);
  // Ensures that the service has read it, too.
  await get(`${url}/v1/venues`);
  return { request, answer };
}

describe('serve', () => {
  it('listens at its URL, on a free port', async () => {
    const { url } = await start();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  it('puts an IPv6 host in brackets in its URL', async () => {
    const { url } = await start({ host: '::1' });
    expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  it('runs side by side with another, each on its own store', async () => {
    const one = await start();
    const other = await start();
    await makeVenue(one.url, 'One');
    await makeVenue(other.url, 'Other');
    expect(await venuesOf(one.url)).toEqual(['One']);
    expect(await venuesOf(other.url)).toEqual(['Other']);
    const [tenant] = await itemsOf(one.url, '/v1/tenants');
    expect((await get(`${other.url}/v1/tenants/${tenant.id}`)).status).toBe(404);
    const counted = await (await fetch(`${other.url}/metrics`)).text();
    expect(counted).toContain(
      'signage_http_requests_total{operation="createVenue",status="201"} 1',
    );
    await one.close();
    expect(await venuesOf(other.url)).toEqual(['Other']);
  });

  it('store_locked for a second service on the same folder, and the first goes on', async () => {
    const store = await temporaryFolder();
    const { url } = await start({ store });
    await expect(serve({ port: 0, store })).rejects.toMatchObject({ code: 'store_locked' });
    expect((await makeVenue(url, 'Hall')).status).toBe(201);
  });

  it('port_taken names the address and a remedy, and unlocks the store', async () => {
    const { url } = await start();
    const port = Number(new URL(url).port);
    const store = await temporaryFolder();
    const refused = serve({ port, store });
    await expect(refused).rejects.toMatchObject({
      code: 'port_taken',
      message: expect.stringContaining(`127.0.0.1:${port}`),
    });
    await expect(refused).rejects.toThrow(/--port 0/);
    expect((await start({ store })).url).not.toBe(url);
  });

  it('invalid_option for an address of another machine, and unlocks the store', async () => {
    const store = await temporaryFolder();
    for (const host of ['192.0.2.1', 'no-such-host.invalid'])
      await expect(serve({ host, port: 0, store })).rejects.toMatchObject({
        code: 'invalid_option',
      });
    await start({ store });
  });

  it('logs each request, never its path or a secret', async () => {
    const lines: string[] = [];
    const keep = (fields: object, message: string) =>
      void lines.push(JSON.stringify({ ...fields, message }));
    const { url } = await start({ log: { debug: keep, info: keep, warn: keep, error: keep } });
    await get(`${url}/v1/venues?search=needle`);
    await get(`${url}/v1/devices/provisioning-codes/ABCD2345/status`);
    expect(lines.join('\n')).toMatch(/"operation":"listVenues","status":200/);
    expect(lines.join('\n')).not.toMatch(/needle|ABCD2345/);
    expect(lines.join('\n')).not.toContain(adminToken.slice(4));
  });
});

describe('guessing', () => {
  it('is logged and counted when a source is locked out, without the codes', async () => {
    const warnings: object[] = [];
    const log = { ...silentLog, warn: (fields: object) => void warnings.push(fields) };
    const { url } = await start({ log });
    const guess = (pairingCode: string) =>
      fetch(`${url}/devices/register`, {
        method: 'POST',
        headers: json,
        body: JSON.stringify({ pairingCode, deviceInfo: {} }),
      });
    for (let number = 0; number < 12; number++) await guess(`GUESS1${number + 10}`);
    expect(warnings).toEqual([{ scope: 'source', source: '127.0.0.1' }]);
    expect(await (await fetch(`${url}/metrics`)).text()).toContain(
      'signage_register_lockouts_total{scope="source"} 1',
    );
  });
});

describe('codeTtlMinutes', () => {
  it('sets the lifetime of codes', async () => {
    const codeTtlMinutes = 60;
    const service = await startService({ codeTtlMinutes });
    const { code, expiresAt } = await service.code();
    expect(Date.parse(expiresAt)).toBe(service.clock.now() + codeTtlMinutes * 60_000);
    service.clock.advance(codeTtlMinutes * 60_000);
    expect((await service.register(code)).body.code).toBe('pairing_code_expired');
  });
});

describe('retentionDays', () => {
  it('limits how long events and audit entries are kept; reports keep counting', async () => {
    const service = await startService(
      { retentionDays: 2, store: await temporaryFolder() },
      serveBelieving,
    );
    const admin = manager(service);
    const tv = await service.tv();
    await tv.send('POST', 'events', { body: [impression()] });
    const dayMs = 24 * 3_600_000;
    service.clock.advance(2 * dayMs);
    await tv.send('POST', 'events', { body: [impression()] });
    expect((await admin.get('/v1/events')).body.items).toHaveLength(2);
    service.clock.advance(dayMs);
    await admin.venue('Late');
    const aMinuteLater = async () => {
      service.clock.advance(60_000);
      return (await admin.get('/v1/events')).body.items.length;
    };
    await expect.poll(aMinuteLater).toBe(1);
    // Audit entries are deleted after the events.
    const actions = async () =>
      (await walk(admin, '/v1/audit', 200)).items.map(({ action }) => action);
    await expect.poll(actions).toEqual(['retention.purge', 'venue.create']);
    expect((await admin.get('/v1/reports/impressions')).body.items).toMatchObject([
      { impressions: 2 },
    ]);
    await service.restart();
    expect((await admin.get('/v1/events')).body.items).toHaveLength(1);
    expect((await admin.get('/v1/reports/impressions')).body.items).toMatchObject([
      { impressions: 2 },
    ]);
  });
});

describe('identifyToken', () => {
  it('returns the id of both secrets during a rotation, which it does not end', async () => {
    const service = await start();
    const admin = managerAt(service.url, adminToken);
    const old = await admin.newToken({ name: 'CI', role: 'viewer' });
    const { token } = (await admin.post(`/v1/tokens/${old.id}/rotate`)).body;
    for (const secret of [token, old.token, token])
      expect(await service.identifyToken(secret)).toBe(old.id);
    expect((await managerAt(service.url, token).get('/v1/me')).status).toBe(200);
    expect(await service.identifyToken(old.token)).toBeUndefined();
  });

  it.each(['', 'mak_short', `mak_${'x'.repeat(49)}`, `dak_${'x'.repeat(49)}`])(
    'returns undefined for "%s"',
    async (secret) => expect(await (await start()).identifyToken(secret)).toBeUndefined(),
  );
});

describe('fetch', () => {
  const ask = (running: Running, path: string, init: RequestInit = {}) =>
    running.fetch(new Request(`https://signage.example.com${path}`, { headers: json, ...init }));

  it('answers for a server of one’s own, on the same store', async () => {
    const running = await start();
    const made = await ask(running, '/v1/venues', { method: 'POST', body: '{"name":"Hall"}' });
    expect(made.status).toBe(201);
    expect(made.headers.get('x-request-id')).toBeTruthy();
    expect(await venuesOf(running.url)).toEqual(['Hall']);
    const { items } = (await (await ask(running, '/v1/audit?limit=1')).json()) as {
      items: object[];
    };
    expect(items).toEqual([expect.objectContaining({ action: 'venue.create', address: null })]);
    expect((await ask(running, '/nowhere')).status).toBe(404);
  });

  it('does not treat a caller without an address as loopback', async () => {
    const running = await start({ metricsToken: 'scrape' });
    expect((await ask(running, '/metrics', { headers: {} })).status).toBe(401);
    expect(
      (await ask(running, '/metrics', { headers: { Authorization: 'Bearer scrape' } })).status,
    ).toBe(200);
  });

  it('does not hold a response for a client that has disconnected', async () => {
    const running = await start({ clock: new ManualClock() });
    const answer = await ask(running, '/v1/events?waitSeconds=30', { signal: AbortSignal.abort() });
    expect(await answer.json()).toEqual({ items: [], nextCursor: null });
  });

  it('is completed by close()', async () => {
    const store = await temporaryFolder();
    const running = await start({ store });
    const answers = ['One', 'Two', 'Three'].map((name) =>
      ask(running, '/v1/venues', { method: 'POST', body: JSON.stringify({ name }) }),
    );
    await running.close();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([201, 201, 201]);
    expect((await venuesOf((await start({ store })).url)).toSorted()).toEqual([
      'One',
      'Three',
      'Two',
    ]);
  });
});

describe('close', () => {
  it('returns the same promise each time', async () => {
    const running = await start();
    const first = running.close();
    expect(running.close()).toBe(first);
    await first;
    await running.close();
    await expect(fetch(`${running.url}/healthz`)).rejects.toThrow();
  });

  it('ends long polls at once, with a response', async () => {
    const clock = new ManualClock();
    const running = await start({ clock });
    const waiting = clock.waitingFor(30_000);
    const held = [
      get(`${running.url}/v1/events?waitSeconds=30`),
      running.fetch(
        new Request('http://x/v1/events?order=asc&waitSeconds=30', { headers: bearer }),
      ),
    ];
    await expect.poll(() => clock.waitingFor(30_000)).toBe(waiting + 2);
    await running.close();
    for (const answer of await Promise.all(held)) {
      expect(answer.status).toBe(200);
      expect(await answer.json()).toEqual({ items: [], nextCursor: null });
    }
  });

  it('finishes requests in progress durably, and accepts no new ones', async () => {
    const store = await temporaryFolder();
    const running = await start({ store });
    const { request, answer } = await begin(running.url);
    const closed = running.close();
    await expect(fetch(`${running.url}/healthz`)).rejects.toThrow();
    request.end('"Late"}');
    expect((await answer).statusCode).toBe(201);
    await text(await answer);
    await closed;
    expect(await venuesOf((await start({ store })).url)).toEqual(['Late']);
  });

  it('does not wait for idle keep-alive connections', async () => {
    const running = await start();
    const agent = new Agent({ keepAlive: true });
    const { request, answer } = await begin(running.url, agent);
    const closed = running.close();
    request.end('"Late"}');
    await text(await answer);
    const startMs = Date.now();
    await closed;
    expect(Date.now() - startMs).toBeLessThan(2000);
    agent.destroy();
  });

  it('releases port and folder', async () => {
    const store = await temporaryFolder();
    const { url, close } = await start({ store });
    await close();
    expect((await start({ store, port: Number(new URL(url).port) })).url).toBe(url);
  });
});

describe('demo', () => {
  it('fills an empty store with venues, screens and playlists whose media it serves', async () => {
    const running = await start({ demo: true });
    expect(await venuesOf(running.url)).toEqual(['Aurora Café', 'Aurora Riverside']);
    const [venue] = await itemsOf(running.url, '/v1/venues');
    const config = await managerAt(running.url, adminToken).get(`/v1/venues/${venue.id}/config`);
    expect(config.body.heartbeatIntervalMinutes).toBe(1);
    const screens = await itemsOf(running.url, '/v1/screens');
    expect(screens.map(({ state }) => state)).toEqual(Array(4).fill('provisioning'));
    const urls = new Set<string>();
    for (const { id } of screens) {
      const items = await itemsOf(running.url, `/v1/screens/${id}/playlist`);
      for (const { creativeUrl } of items) urls.add(creativeUrl);
    }
    expect(urls.size).toBeGreaterThan(2);
    for (const url of urls) expect((await fetch(running.url + url)).status).toBe(200);
  });

  it('fills it once: a start with venues leaves them unchanged', async () => {
    const store = await temporaryFolder();
    const first = await start({ store, demo: true });
    const [venue] = await itemsOf(first.url, '/v1/venues');
    await managerAt(first.url, adminToken).patch(`/v1/venues/${venue.id}`, { name: 'Renamed' });
    await first.close();
    const second = await start({ store, demo: true });
    expect(await venuesOf(second.url)).toEqual(['Renamed', 'Aurora Riverside']);
    const media = await itemsOf(second.url, '/v1/media');
    expect(media.map(({ name }) => name)).toContain('welcome.svg');
    for (const { url } of media) expect((await fetch(second.url + url)).status).toBe(200);
  });

  it('501 without a place for its media, and names the option', async () => {
    await expect(start({ media: 'none', demo: true })).rejects.toThrow('--media');
  });

  it('is off by default', async () => {
    const { url } = await start();
    expect(await venuesOf(url)).toEqual([]);
    expect(await itemsOf(url, '/v1/media')).toEqual([]);
  });

  it('stops everything when it fails', async () => {
    const port = await freePort();
    let calls = 0;
    const random = (length: number) => {
      if (++calls > 2) throw new Error('no more randomness');
      return crypto.getRandomValues(new Uint8Array(length));
    };
    const store = await temporaryFolder();
    await expect(serve({ port, store, adminToken, demo: true, random })).rejects.toThrow(
      'no more randomness',
    );
    await start({ port, store });
  });
});

describe('tls', () => {
  const pem = (name: string) =>
    readFileSync(new URL(`../fixtures/tls/${name}.pem`, import.meta.url), 'utf8');
  const [first, second] = ['first', 'second'].map((name) => ({
    cert: pem(`${name}.cert`),
    key: pem(`${name}.key`),
  })) as [{ cert: string; key: string }, { cert: string; key: string }];
  /** Returns the status of a response, and the subject of the certificate. */
  const secureGet = async (url: string) => {
    const request = httpsRequest(`${url}/healthz`, {
      ca: [first.cert, second.cert],
      agent: false,
    }).end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const { subject } = (response.socket as import('node:tls').TLSSocket).getPeerCertificate();
    await text(response);
    return `${response.statusCode} ${subject.CN}`;
  };

  it('answers https, and not http', async () => {
    const { url } = await start({ tls: first });
    expect(url).toMatch(/^https:/);
    expect(await secureGet(url)).toBe('200 first.test');
    await expect(fetch(url.replace('https', 'http'))).rejects.toThrow();
  });

  it('replaceTls: new connections get the new certificate', async () => {
    const running = await start({ tls: first });
    running.replaceTls(second);
    expect(await secureGet(running.url)).toBe('200 second.test');
  });

  it.each([
    ['no PEM', { cert: 'x', key: 'y' }],
    ['another one’s key', { cert: first.cert, key: second.key }],
    ['no key', { cert: first.cert, key: '' }],
  ])(
    'invalid_option for %s, at start and in replaceTls, which keeps the current certificate',
    async (_, tls) => {
      const store = await temporaryFolder();
      await expect(serve({ port: 0, store, tls })).rejects.toMatchObject({
        code: 'invalid_option',
        message: expect.not.stringContaining('PRIVATE'),
      });
      const running = await start({ store, tls: first });
      expect(() => running.replaceTls(tls)).toThrow(
        expect.objectContaining({ code: 'invalid_option' }),
      );
      expect(await secureGet(running.url)).toBe('200 first.test');
    },
  );

  it('replaceTls invalid_option when the service has none', async () => {
    const running = await start({ log: silentLog });
    expect(() => running.replaceTls(first)).toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    );
    expect((await fetch(`${running.url}/healthz`)).status).toBe(200);
  });
});
