import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { silentLog } from '../../../src/domain/log.ts';
import type { AppOptions } from '../../../src/http/app-options.ts';
import { makeMetrics } from '../../../src/http/metrics/metrics.ts';
import { makeFastPath } from '../../../src/http/request/fast-path.ts';
import type { ServeOptions } from '../../../src/serve/serve-options.ts';
import { type Running, serve } from '../../../src/serve.ts';
import { openStore } from '../../../src/store/open.ts';
import { impression, item } from '../../support/content.ts';
import { mounted } from '../../support/mounted.ts';
import {
  type BoundTv,
  listenWithoutFastPath,
  startService,
  type TestService,
} from '../../support/service.ts';
import { type WireAnswer, type WireRequest, wireRequest } from '../../support/wire-request.ts';

const host = ['Host', 'signage.example'];

describe('the fast path', () => {
  let url: string;
  let tv: { screenId: string; deviceId: string; apiKey: string };
  let options: AppOptions;
  let close: () => void;
  let key: string[];

  beforeAll(async () => {
    const service = await mounted({ store: await openStore('memory:') });
    tv = await service.tv();
    key = ['Authorization', `Bearer ${tv.apiKey}`];
    const { services, clock } = service;
    const edges = {
      corsOrigins: [],
      trustedProxies: [],
      compression: true,
      player: false,
      stopping: new AbortController().signal,
    };
    options = {
      services,
      clock,
      newId: services.deps.newId,
      log: silentLog,
      metrics: makeMetrics('0'),
      version: '0',
      ...edges,
    };
    const fastPath = makeFastPath(options);
    const server = createServer((incoming, outgoing) =>
      fastPath?.(incoming, outgoing, () => outgoing.writeHead(418, { connection: 'close' }).end()),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    close = () => {
      server.close();
      server.closeAllConnections();
    };
  });
  afterAll(() => close());

  const statusOf = async (request: Partial<WireRequest>) =>
    (
      await wireRequest(url, {
        method: 'GET',
        path: `/devices/${tv.screenId}/config`,
        headers: [...host, ...key],
        ...request,
      })
    ).status;
  const batch = Buffer.from(JSON.stringify([impression()]));
  const post = (headers: string[], body: Uint8Array | undefined = batch) => ({
    method: 'POST',
    path: `/devices/${tv.screenId}/events`,
    headers: [...host, ...key, ...headers],
    body,
  });

  it('answers the requests of TVs', async () => {
    expect(await statusOf({})).toBe(200);
    expect(await statusOf({ path: `/devices/${tv.deviceId}/playlist` })).toBe(404);
    expect(await statusOf({ headers: [...host] })).toBe(401);
    expect(await statusOf(post(['Content-Length', String(batch.length)]))).toBe(202);
    expect(await statusOf(post(['Content-Length', '1'], Buffer.from('x')))).toBe(400);
  });

  it('passes unusual requests on to the app unchanged', async () => {
    const events = `/devices/${tv.screenId}/events`;
    const left: Partial<WireRequest>[] = [
      { method: 'HEAD' },
      { method: 'DELETE' },
      { path: `/devices/${tv.screenId}/config?x=1` },
      { path: `/devices/${tv.screenId}/config/` },
      { path: `/devices/%20/config` },
      { path: `//devices/${tv.screenId}/config` },
      { path: `/Devices/${tv.screenId}/config` },
      { path: '/v1/me' },
      { path: events },
      { method: 'POST' },
      { headers: ['Host', 'Signage.Example', ...key] },
      { headers: ['Host', '[::1]:4100', ...key] },
      { headers: [...host, ...key, ...key] },
      { headers: [...host, ...key, 'Content-Length', '0'] },
      { ...post([]), headers: [...host, ...key, 'Transfer-Encoding', 'chunked'] },
      post(['Content-Length', '0'], undefined),
      // Rejected: the app drains its body.
      post(['Content-Length', '1', 'Content-Type', 'text/plain'], Buffer.from('x')),
      { ...post([]), headers: [...host, 'Content-Length', String(batch.length)] },
      {
        ...post([]),
        headers: [...host, 'Authorization', 'Bearer x', 'Content-Length', String(batch.length)],
      },
    ];
    for (const request of left)
      expect(await statusOf(request), JSON.stringify({ ...request, body: undefined })).toBe(418);
  });

  it('is disabled with fault rules', () => {
    expect(makeFastPath({ ...options, corsOrigins: ['https://tv.example'] })).toBeDefined();
    expect(makeFastPath({ ...options, faultResponses: async (_, next) => next() })).toBeUndefined();
  });
});

/** Starts a service with two listeners, of which `plain` has no fast path. */
async function startBoth(options: ServeOptions = {}) {
  let running: Running | undefined;
  const service = await startService(options, async (all) => {
    running = await serve(all);
    return running;
  });
  return { service, plain: await listenWithoutFastPath(running as Running) };
}

describe('fast path and app', () => {
  let service: TestService<Clock>;
  let plain: Awaited<ReturnType<typeof listenWithoutFastPath>>;
  const tvs: (BoundTv & { etags: string[] })[] = [];

  beforeAll(async () => {
    ({ service, plain } = await startBoth());
    for (const name of ['with a playlist', 'without', 'revoked']) {
      const tv = await service.tv();
      if (name === 'with a playlist') {
        await service.manage('PUT', `/v1/screens/${tv.screenId}/playlist`, {
          items: [item({ title: 'Grüße ☀' })],
        });
        await service.manage('PUT', `/v1/screens/${tv.screenId}/config`, {
          syncIntervalMinutes: 7,
          more: 'ä',
        });
      }
      const etagOf = async (what: 'playlist' | 'config') =>
        (await tv.send('GET', what)).headers.get('etag') ?? '';
      const etags = [await etagOf('playlist'), await etagOf('config')];
      if (name === 'revoked') await service.manage('POST', `/v1/devices/${tv.deviceId}/revoke`);
      tvs.push({ ...tv, etags });
    }
  });
  afterAll(() => plain.close());

  const comparable = ({ status, headers, text }: WireAnswer, ownId: boolean) => {
    const id = headers.find(([name]) => name === 'x-request-id')?.[1] ?? '';
    expect(id).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
    const mine = (value: string) => (ownId ? value : value.replace(id, '<id>'));
    return {
      status,
      headers: headers
        .filter(([name]) => name !== 'date')
        .map(([name, value]) => [name, mine(value)]),
      text: mine(text),
    };
  };

  /** Expects that the latest batch was stored twice, once per path. */
  async function expectBothStored(received: number): Promise<void> {
    const { items } = (await service.manage('GET', `/v1/events?limit=${2 * received}`)).body;
    const told = items.map(({ event, deviceId }: { event: object; deviceId: string }) =>
      JSON.stringify([deviceId, event]),
    );
    expect(told.slice(received)).toEqual(told.slice(0, received));
  }

  const rarely = <T>(usual: fc.Arbitrary<T>, ...others: fc.Arbitrary<T>[]) =>
    fc.oneof(
      { weight: 6, arbitrary: usual },
      ...others.map((arbitrary) => ({ weight: 1, arbitrary })),
    );
  const which = fc.nat({ max: 2 });
  const authorization = fc.constantFrom(
    ...Array<string>(10).fill('good'),
    'bad',
    'none',
    'lower',
    'basic',
    'twice',
    'revoked',
    'of another',
  );
  const path = fc.constantFrom(
    'playlist',
    'playlist',
    'config',
    'events',
    'events',
    'events',
    'events?x=1',
    'playlist/',
    'other',
  );
  const badEvent = fc.constantFrom<unknown>(
    { type: 'X', timestamp: 1 },
    {},
    1,
    null,
    [],
    impression({ playlistId: 'x' }),
    impression({ duration: -1 }),
  );
  const goodEvent = fc.record(
    {
      type: fc.constantFrom('x', 'heartbeat'),
      timestamp: fc.nat(),
      note: fc.string(),
      more: fc.jsonValue(),
    },
    { requiredKeys: ['type', 'timestamp'] },
  );
  const played = fc.nat().map((n) => impression({ duration: n }));
  const events = fc.oneof(
    fc.array<unknown>(played, { minLength: 1, maxLength: 4 }),
    fc.array(rarely<unknown>(fc.oneof(goodEvent, played), badEvent), { maxLength: 4 }),
  );
  const spelled = events.chain((all) =>
    fc.constantFrom(
      JSON.stringify(all),
      JSON.stringify(all),
      JSON.stringify(all),
      JSON.stringify(all, null, 2),
      JSON.stringify(all).replaceAll('{"', '{"a":1e3,"a":2,"'),
      JSON.stringify(all).replaceAll('{"', '{"__proto__":{"type":"x"},"'),
      JSON.stringify(all).slice(1),
      `\ufeff${JSON.stringify(all)}`,
      ' ',
      JSON.stringify([{ type: 'x', timestamp: 1, padding: 'x'.repeat(8200) }]),
    ),
  );
  const body = rarely(
    spelled.map((text) => Buffer.from(text)),
    fc.constantFrom(Buffer.alloc(0), Buffer.from([0x5b, 0xc0, 0xaf, 0x5d])),
  );
  const header = (name: string, ...values: string[]) =>
    fc.constantFrom(...values.map((value) => [name, value]));
  const maybe = (arbitrary: fc.Arbitrary<string[]>) => rarely(fc.constant<string[]>([]), arbitrary);
  const more = fc
    .tuple(
      maybe(header('X-Request-Id', 'mine', 'ä', '', 'x'.repeat(129))),
      maybe(header('Content-Encoding', 'identity', 'gzip')),
      maybe(header('Idempotency-Key', 'one', 'two', '', 'é', 'x'.repeat(256))),
      maybe(header('X-Forwarded-For', '192.0.2.1')),
      maybe(header('Host', 'a', '')),
      maybe(header('Connection', 'close', 'keep-alive')),
      maybe(header('Accept', 'text/html')),
    )
    .map((all) => all.flat());
  const type = rarely(
    fc.constantFrom<string[]>(
      ['Content-Type', 'application/json'],
      ['content-type', 'application/x+json; a=b'],
      [],
    ),
    fc.constantFrom<string[]>(['Content-Type', 'text/plain'], ['Content-Type', '']),
  );
  const match = fc.constantFrom(
    'none',
    'none',
    'none',
    'none',
    'none',
    'etag',
    'weak',
    'list',
    'any',
    'other',
  );

  const wire = fc
    .record({
      which,
      authorization,
      path,
      body,
      more,
      type,
      match,
      method: rarely(fc.constant('usual'), fc.constantFrom('HEAD', 'PUT', 'GET', 'POST')),
    })
    .map((made) => {
      const { which: n, more: others } = made;
      const tv = tvs[n]!;
      const bearer = `Bearer ${tv.apiKey}`;
      const credentials: Record<string, string[]> = {
        ...{
          good: ['Authorization', bearer],
          bad: ['Authorization', `${bearer.slice(0, -1)}!`],
          none: [],
          lower: ['authorization', bearer.replace('B', 'b')],
        },
        ...{
          basic: ['Authorization', 'Basic eDp5'],
          twice: ['Authorization', bearer, 'Authorization', 'Bearer x'],
        },
        ...{
          revoked: ['Authorization', `Bearer ${tvs[2]!.apiKey}`],
          'of another': ['Authorization', `Bearer ${tvs[(n + 1) % 2]!.apiKey}`],
        },
      };
      const etag = tv.etags[made.path.startsWith('config') ? 1 : 0]!;
      const tags: Record<string, string[]> = {
        ...{
          none: [],
          etag: ['If-None-Match', etag],
          weak: ['If-None-Match', `W/${etag}`],
          list: ['If-None-Match', `"x", ${etag}`],
        },
        ...{ any: ['If-None-Match', '*'], other: ['If-None-Match', '"x"', 'If-None-Match', etag] },
      };
      const usual = made.path.startsWith('events') ? 'POST' : 'GET';
      const method = made.method === 'usual' ? usual : made.method;
      const sends = method === 'POST' || method === 'PUT';
      const length = sends ? ['Content-Length', String(made.body.length), ...made.type] : [];
      const headers = [
        ...host,
        ...credentials[made.authorization]!,
        ...tags[made.match]!,
        ...length,
        ...others,
      ];
      return {
        method,
        path: `/devices/${n === 1 ? tv.deviceId.toUpperCase() : tv.screenId}/${made.path}`,
        headers,
        body: sends ? made.body : undefined,
      };
    });

  it('return the same bytes and store the same data', async () => {
    const seen = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(
        fc.constant(undefined).chain(() => wire),
        async (request) => {
          const ownId = request.headers.includes('mine');
          const quick = await wireRequest(service.url, request);
          const slow = await wireRequest(plain.url, request);
          expect(comparable(quick, ownId)).toEqual(comparable(slow, ownId));
          if (quick.status === 202 && !request.headers.includes('Idempotency-Key'))
            await expectBothStored(JSON.parse(quick.text).received);
          seen.set(quick.status ?? 0, (seen.get(quick.status ?? 0) ?? 0) + 1);
        },
      ),
      { numRuns: 350 },
    );
    // Without each of these, the test would prove little.
    for (const status of [200, 202, 304, 400, 401, 404, 405, 415])
      expect(seen.get(status) ?? 0, String(status)).toBeGreaterThan(0);
  });

  it.each([['https://tv.example'], ['*']])(
    'return the same CORS headers for the allowed origin %s',
    async (allowed) => {
      const { service, plain } = await startBoth({ corsOrigins: [allowed] });
      const { screenId, apiKey } = await service.tv();
      const key = ['Authorization', `Bearer ${apiKey}`];
      for (const origin of [['Origin', 'https://tv.example'], ['Origin', 'https://other'], []]) {
        for (const credential of [key, []]) {
          const path = `/devices/${screenId}/config`;
          const request = { method: 'GET', path, headers: [...host, ...credential, ...origin] };
          const quick = comparable(await wireRequest(service.url, request), false);
          expect(quick).toEqual(comparable(await wireRequest(plain.url, request), false));
          const names = quick.headers.map(([name]) => name);
          expect(names).toContain('access-control-expose-headers');
          expect(names.includes('access-control-allow-origin')).toBe(
            allowed === '*' || origin[1] === allowed,
          );
        }
      }
      await plain.close();
    },
  );
});
