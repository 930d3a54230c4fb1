import { readFile, stat } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { startLocally } from '../../support/network/local-server.ts';
import { json, raw, stubService } from '../../support/network/stub-service.ts';
import { impression, item } from '../../support/service/content.ts';
import { rawRequest } from '../../support/service/raw-request.ts';
import { recordWhile } from '../../support/service/record-while.ts';
import { sendTo, startService, type TestService } from '../../support/service/service.ts';
import { runCli } from '../run-cli.ts';

let service: TestService<Clock>;
beforeAll(async () => {
  service = await startService<Clock>({ clock: systemClock });
});

const record = (work: Parameters<typeof recordWhile>[1], { to = service.url, tty = false } = {}) =>
  recordWhile(to, work, { tty });

const register = (url: string, code: string, more: object = {}) =>
  sendTo(url, 'POST', '/devices/register', {
    body: { pairingCode: code, deviceInfo: {} },
    ...more,
  });

describe('signage record', () => {
  it('passes requests on, and writes one line for each without what is secret or chosen freely', async () => {
    const { code, screenId } = await service.code();
    await service.manage('PUT', `/v1/screens/${screenId}/playlist`, { items: [item()] });
    const key = 'a-batch-with-a-long-key-1';
    const mac = '02:00:5E:10:00:01';
    let apiKey = '';
    const run = await record(async (url) => {
      const deviceInfo = { macAddress: mac, ipAddress: '192.0.2.17', model: 'QM55C' };
      const registered = await sendTo(url, 'POST', '/devices/register', {
        body: { pairingCode: code, deviceInfo },
        headers: { 'idempotency-key': 'a-registration-key-1' },
      });
      apiKey = registered.body.apiKey;
      const got = await sendTo(url, 'GET', `/devices/${screenId}/playlist`, { key: apiKey });
      const etag = got.headers.get('etag') ?? '';
      await sendTo(url, 'GET', `/devices/${screenId}/playlist`, {
        key: apiKey,
        headers: { 'if-none-match': etag, 'x-secret': apiKey },
      });
      const log = { type: 'log', timestamp: 1, text: `${mac.replaceAll(':', '')} ${code} ${key}` };
      await sendTo(url, 'POST', `/devices/${screenId}/events`, {
        key: apiKey,
        body: [impression(), log],
        headers: { 'idempotency-key': key },
      });
      await sendTo(url, 'GET', `/devices/${screenId}/config?x=${encodeURIComponent(apiKey)}`, {});
    });
    expect(run.code).toBe(130);
    const [registration, playlist, again, events, config] = run.exchanges;
    expect(run.exchanges.length).toBe(5);
    expect(registration).toEqual({
      at: expect.any(String),
      ms: expect.any(Number),
      tv: 1,
      operation: 'registerDevice',
      method: 'POST',
      path: '/devices/register',
      request: { bytes: expect.any(Number), headers: { 'content-type': 'application/json' } },
      status: 201,
      answer: { bytes: expect.any(Number), headers: { 'content-type': 'application/json' } },
      outcome: 'answered',
      config: { syncIntervalMinutes: 5, heartbeatIntervalMinutes: 1 },
      wrong: [],
    });
    expect(playlist).toMatchObject({
      tv: 1,
      status: 200,
      operation: 'getPlaylist',
      path: '/devices/:id/playlist',
      answer: { headers: { 'x-source': 'store', 'x-playlist-version': expect.any(String) } },
    });
    expect(again).toMatchObject({ tv: 1, status: 304 });
    expect(events).toMatchObject({
      tv: 1,
      status: 202,
      events: [
        { type: 'impression', timestamp: 1760000000 },
        { type: 'log', timestamp: 1 },
      ],
    });
    expect(config).toMatchObject({
      tv: 2,
      status: 401,
      code: 'device_key_missing',
      path: '/devices/:id/config',
      wrong: [{ in: 'request', path: 'header.authorization', section: '2.1' }],
    });
    for (const secret of [code, apiKey, apiKey.slice(4), key, mac, '192.0.2.17', screenId])
      expect(run.text + run.stdout + run.stderr).not.toContain(secret);
    expect((await stat(run.file)).mode & 0o777).toBe(0o600);
    expect(run.stderr).toMatch(/GET \/devices\/:id\/playlist {2}304 {2}\d+ ms\n/);
    expect(run.stdout).toMatch(/1\s+getPlaylist\s+2\s+200: 1, 304: 1/);
  });

  it('shows of unknown names and paths only what looks like a word', async () => {
    const run = await record(async (url) => {
      await sendTo(url, 'GET', '/devices/x/changes?waitSeconds=1&dak_Secret1=2', {});
      await sendTo(url, 'GET', '/unknown/dak_Secret1/ABCD2345?password=hunter2', {});
      const body = { name: 'ABCD2345', dak_Secret1: 'Secret1', adress: 'Secret1' };
      await sendTo(url, 'POST', '/v1/venues', { body });
    });
    expect(run.exchanges.map(({ path }) => path)).toEqual([
      '/devices/:id/changes',
      '/unknown/*/*',
      '/v1/venues',
    ]);
    const places = run.exchanges.map(({ wrong }) => wrong.map((one) => one.path));
    expect(places).toEqual([['header.authorization', 'query.?'], [], ['/?', '/adress']]);
    for (const secret of ['Secret1', 'ABCD2345', 'hunter2'])
      expect(run.text + run.stdout + run.stderr).not.toContain(secret);
  });

  it('shows at once what a request breaks, with its place and the section of the protocol', async () => {
    const tv = await service.tv();
    const run = await record(
      async (url, io) => {
        const path = `/devices/${tv.screenId}/events`;
        const events = [
          { type: 'x', timestamp: 1 },
          { type: 'Big', timestamp: 'now' },
        ];
        await sendTo(url, 'POST', path, { key: tv.apiKey, body: events });
        await io.until(/\/1\/timestamp/);
        await sendTo(url, 'POST', path, { key: tv.apiKey, body: '[{"type":' });
        await sendTo(url, 'POST', path, { key: tv.apiKey, body: [], untyped: true });
        await sendTo(url, 'GET', `/devices/${tv.screenId}/playlists`, { key: tv.apiKey });
        await sendTo(url, 'PATCH', path, { key: tv.apiKey });
        await sendTo(url, 'GET', `/devices/${tv.screenId}/changes?waitSeconds=601`, {
          key: tv.apiKey,
        });
        const large = [{ type: 'log', timestamp: 1, text: 'x'.repeat(9000) }];
        await sendTo(url, 'POST', path, { key: tv.apiKey, body: large });
        await register(url, 'abcd-2345', { headers: { 'idempotency-key': 'short' } });
      },
      { tty: true },
    );
    expect(run.stderr).toContain('\u001b[31m  request /1/timestamp: must be a whole number');
    expect(run.stderr).toContain('(docs/protocol.md §2.5)');
    const wrong = run.exchanges.map((one) => one.wrong.map(({ path }) => path));
    const noKey = 'header.idempotency-key';
    expect(wrong).toEqual([
      [noKey, '/1/type', '/1/timestamp'],
      [noKey, ''],
      [noKey, ''],
      ['path'],
      ['method'],
      ['query.waitSeconds'],
      [noKey, '/0'],
      [noKey, '/pairingCode'],
    ]);
  });

  it('shows what is wrong with an answer of the service', async () => {
    const stub = await stubService(
      json(200, { id: 'no id', items: 'none' }),
      raw(500, '<h1>Oops</h1>', { 'content-type': 'text/html' }),
      json(204, {}),
    );
    const run = await record(
      async (url) => {
        for (let n = 0; n < 3; n++)
          await sendTo(url, 'GET', '/devices/x/playlist', { key: 'dak_x' });
      },
      { to: stub.url },
    );
    const [shape, page, status] = run.exchanges.map(({ wrong }) => wrong);
    expect(shape).toContainEqual(expect.objectContaining({ in: 'answer', path: '/items' }));
    expect(page).toEqual([expect.objectContaining({ in: 'answer', path: '', section: '1.4' })]);
    expect(status).toEqual([expect.objectContaining({ in: 'answer', path: 'status' })]);
    expect(run.exchanges[1]?.answer).toEqual({
      bytes: 13,
      headers: { 'content-type': 'text/html' },
    });
  });

  it('leaves no file when the port is taken', async () => {
    const file = join(await temporaryFolder(), 'tv.ndjson');
    const { port } = new URL(service.url);
    const argv = ['record', '--to', 'http://127.0.0.1:1', '--listen', port, '--out', file];
    expect((await runCli(argv)).code).toBe(5);
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });

  it('answers 502 while the service is unreachable, and goes on', async () => {
    const run = await record(
      async (url) => {
        for (let n = 0; n < 2; n++) {
          const { status, body } = await sendTo(url, 'GET', '/devices/x/config', { key: 'dak_x' });
          expect(status).toBe(502);
          expect(body).toMatchObject({ status: 502, code: 'unavailable' });
          expect(body.detail).toContain('nothing listens there');
        }
      },
      { to: 'http://127.0.0.1:1' },
    );
    expect(run.exchanges).toMatchObject([
      { status: 502, outcome: 'unreachable' },
      { status: 502, outcome: 'unreachable' },
    ]);
    expect(run.stderr).toContain('502 unavailable');
  });

  it('passes held answers and streams on as they come', async () => {
    const stub = await stubService((response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"cursor":');
    });
    const run = await record(
      async (url) => {
        const { body, status } = await fetch(`${url}/devices/x/changes`);
        expect(status).toBe(200);
        const reader = body?.getReader();
        const { value } = (await reader?.read()) ?? {};
        expect(Buffer.from(value ?? []).toString()).toBe('{"cursor":');
        await reader?.cancel();
      },
      { to: stub.url },
    );
    expect(run.exchanges).toMatchObject([{ status: 200, outcome: 'tv_left' }]);
  });

  it('reads compressed answers, but no bombs, and no bodies over 1 MiB', async () => {
    const text = JSON.stringify({ token: 'mak_0123456789' });
    const coded = (body: Buffer) =>
      raw(200, body, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    const stub = await stubService(
      coded(gzipSync(text)),
      coded(gzipSync(`"${' '.repeat(50_000_000)}"`)),
      coded(Buffer.from('no gzip')),
      json(200, 'x'.repeat(2_000_000)),
    );
    const run = await record(
      async (url) => {
        for (let n = 0; n < 4; n++) await rawGet(url);
      },
      { to: stub.url },
    );
    const found = run.exchanges.map(({ wrong }) => wrong.map(({ message }) => message).join());
    expect(found).toEqual([
      expect.stringContaining('must be'),
      expect.stringContaining('cannot be decompressed'),
      expect.stringContaining('cannot be decompressed'),
      '',
    ]);
    expect(run.text.length).toBeLessThan(10_000);
  });
});

const rawGet = (url: string) =>
  rawRequest(url, 'GET /v1/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');

describe('the service behind signage record', () => {
  it('is reached with the options of other commands: --ca-file, and a context', async () => {
    const file = (kind: string) =>
      fileURLToPath(new URL(`../../fixtures/tls/first.${kind}.pem`, import.meta.url));
    const tls = {
      cert: await readFile(file('cert'), 'utf8'),
      key: await readFile(file('key'), 'utf8'),
    };
    const secure = await startService({ tls });
    const to = secure.url.replace('127.0.0.1', 'localhost');
    const get = async (url: string) => (await sendTo(url, 'GET', '/healthz', {})).status;
    await recordWhile(to, async (url) => expect(await get(url)).toBe(502));
    const more = ['--ca-file', file('cert')];
    const run = await recordWhile(to, async (url) => expect(await get(url)).toBe(200), { more });
    expect(run.exchanges).toMatchObject([
      { operation: null, path: '/healthz', status: 200, wrong: [] },
    ]);
    expect(run.stderr).not.toContain('not encrypted');
  });

  it('may be mounted under a path', async () => {
    const stub = await stubService(json(200, {}));
    await record(async (url) => await sendTo(url, 'GET', '/x//y/../z?q=%41', {}), {
      to: `${stub.url}/signage/`,
    });
    await record(
      (url) =>
        rawRequest(url, 'GET //a/../b?c=%41 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'),
      { to: stub.url },
    );
    expect(stub.heard.map(({ url }) => url)).toEqual(['/signage/x//z?q=%41', '//a/../b?c=%41']);
  });

  it('cannot stop it with headers and statuses that Node does not send', async () => {
    const answers = [
      'HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
      'HTTP/1.1 200 OK\r\nX: a\u0001b\r\nContent-Length: 0\r\n\r\n',
      'HTTP/1.1 200 OK\r\nX: a\r\n\r\nX: b\r\n\r\n',
      'nonsense\r\n\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf',
      '',
    ];
    const left = [...answers];
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(left.shift() ?? ''));
    });
    const { url: to } = await startLocally(server);
    const run = await record(
      async (url) => {
        for (const _ of answers) await rawGet(url);
      },
      { to },
    );
    expect(run.code).toBe(130);
    expect(run.exchanges.map(({ status, outcome }) => `${status} ${outcome}`)).toEqual([
      '502 unreachable',
      '502 unreachable',
      '502 unreachable',
      '200 answered',
      '502 unreachable',
      '200 service_left',
      '502 unreachable',
    ]);
  });
});

describe('a hostile client of signage record', () => {
  it('cannot stop it with nonsense or smuggled requests', async () => {
    const stub = await stubService(json(200, {}));
    const run = await record(
      async (url, io) => {
        await rawRequest(url, `${'\0nonsense\r\n'.repeat(100_000)}`).catch(() => '');
        await io.until(/no valid HTTP/);
        const bare = 'Host: x\r\nConnection: close\r\n';
        expect(await rawRequest(url, `GET http://other.test/x HTTP/1.1\r\n${bare}\r\n`)).toContain(
          '400',
        );
        const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
        await rawRequest(
          url,
          `GET /a HTTP/1.1\r\nHost: x\r\nConnection: content-length, close\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
        );
        await rawRequest(
          url,
          `GET /b HTTP/1.1\r\n${bare}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
        );
      },
      { to: stub.url },
    );
    expect(stub.heard.map(({ url }) => url)).toEqual(['/a', '/b']);
    expect(stub.heard[1]?.body).toBe('hello');
    expect(run.exchanges.map(({ path, outcome }) => [path, outcome])).toEqual([
      ['/a', 'answered'],
      ['/b', 'answered'],
    ]);
  });

  it('that sends half a request is recorded as such, and nothing of its body is checked', async () => {
    const run = await record(async (url, io) => {
      await halfRequest(url);
      await io.until(/request_cut/);
    });
    expect(run.exchanges).toMatchObject([
      { path: '/devices/register', outcome: 'request_cut', status: null, wrong: [] },
    ]);
  });

  it('with 19 others at once gets its own answers', async () => {
    const tvs = await Promise.all(Array.from({ length: 20 }, () => service.tv()));
    const run = await record((url) =>
      Promise.all(
        tvs.map(async ({ screenId, apiKey }, at) => {
          const headers = { 'idempotency-key': `of-the-tv-number-${at}` };
          const body = Array.from({ length: 5 }, () => impression());
          const path = `/devices/${screenId}/events`;
          expect((await sendTo(url, 'POST', path, { key: apiKey, headers, body })).status).toBe(
            202,
          );
        }),
      ),
    );
    expect(run.exchanges.length).toBe(20);
    expect(new Set(run.exchanges.map(({ tv }) => tv)).size).toBe(20);
    for (const { status, wrong } of run.exchanges)
      expect({ status, wrong }).toEqual({ status: 202, wrong: [] });
    for (const { apiKey } of tvs) expect(run.text).not.toContain(apiKey);
  });

  it('that never reads its answer does not delay others, nor the end', async () => {
    const stub = await stubService(json(200, 'x'.repeat(20_000_000)));
    const run = await record(
      async (url) => {
        const { hostname, port } = new URL(url);
        const stalled = connect(Number(port), hostname);
        stalled.pause().on('error', () => {});
        stalled.write('GET /stalled HTTP/1.1\r\nHost: x\r\n\r\n');
        stub.answers = [json(200, 'x'.repeat(20_000_000)), json(200, {})];
        while (stub.heard.length === 0) await new Promise(setImmediate);
        expect((await sendTo(url, 'GET', '/quick', {})).status).toBe(200);
      },
      { to: stub.url },
    );
    expect(run.exchanges.map(({ path, outcome }) => [path, outcome])).toEqual([
      ['/quick', 'answered'],
      ['/stalled', 'tv_left'],
    ]);
  });
});

/** Sends the headers and half of a body, and closes the connection. */
const halfRequest = (url: string) =>
  new Promise<void>((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        'POST /devices/register HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"pair',
        () => setTimeout(() => socket.destroy(), 50),
      );
    });
    socket.on('close', () => resolve());
  });
