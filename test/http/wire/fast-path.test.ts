import { createServer } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { silentLog } from '../../../src/domain/log.ts';
import { makeFastPath } from '../../../src/http/fast-path.ts';
import { makeMetrics } from '../../../src/http/metrics/metrics.ts';
import type { AppOptions } from '../../../src/http/request/app-options.ts';
import type { ServeOptions } from '../../../src/serve/serve-options.ts';
import { type Running, serve } from '../../../src/serve.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { startLocally } from '../../support/network/local-server.ts';
import { impression, item } from '../../support/service/content.ts';
import { mounted } from '../../support/service/mounted.ts';
import {
  type BoundTv,
  listenWithoutFastPath,
  startService,
  type TestService,
} from '../../support/service/service.ts';
import {
  type WireAnswer,
  type WireRequest,
  wireRequest,
} from '../../support/service/wire-request.ts';

const host = ['Host', 'signage.example'];

describe('the fast path', () => {
  let url: string;
  let tv: { screenId: string; deviceId: string; apiKey: string };
  let options: AppOptions;
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
    const { newId } = services.deps;
    const metrics = makeMetrics('0');
    options = { services, clock, newId, log: silentLog, metrics, version: '0', ...edges };
    const fastPath = makeFastPath(options);
    const server = createServer((incoming, outgoing) =>
      fastPath?.(incoming, outgoing, () => outgoing.writeHead(418, { connection: 'close' }).end()),
    );
    ({ url } = await startLocally(server));
  });

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

  const rarely = <T>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>) =>
    fc.oneof({ weight: 6, arbitrary: usual }, { weight: 1, arbitrary: other });
  /** Usually no header, rarely one with one of these values. */
  const header = (name: string, ...values: string[]) =>
    rarely(
      fc.constant<string[]>([]),
      fc.constantFrom(...values).map((value) => [name, value]),
    );

  const badEvent = fc.constantFrom<unknown>(
    ...[1, null, [], {}, { type: 'X', timestamp: 1 }],
    ...[impression({ playlistId: 'x' }), impression({ duration: -1 })],
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
  const tooLarge = JSON.stringify([{ type: 'x', timestamp: 1, padding: 'x'.repeat(8200) }]);
  const spelled = events
    .map((all) => JSON.stringify(all))
    .chain((text) =>
      fc.constantFrom(
        ...[text, text, text, JSON.stringify(JSON.parse(text), null, 2)],
        ...[text.slice(1), `\ufeff${text}`, ' ', tooLarge],
        text.replaceAll('{"', '{"a":1e3,"a":2,"'),
        text.replaceAll('{"', '{"__proto__":{"type":"x"},"'),
      ),
    );
  const body = rarely(
    spelled.map((text) => Buffer.from(text)),
    fc.constantFrom(Buffer.alloc(0), Buffer.from([0x5b, 0xc0, 0xaf, 0x5d])),
  );
  const unusualHeaders = fc
    .tuple(
      header('X-Request-Id', 'mine', 'ä', '', 'x'.repeat(129)),
      header('Content-Encoding', 'identity', 'gzip'),
      header('Idempotency-Key', 'one', 'two', '', 'é', 'x'.repeat(256)),
      header('X-Forwarded-For', '192.0.2.1'),
      header('Host', 'a', ''),
      header('Connection', 'close', 'keep-alive'),
      header('Accept', 'text/html'),
    )
    .map((all) => all.flat());
  const contentType = rarely(
    fc.constantFrom<string[]>(
      ['Content-Type', 'application/json'],
      ['content-type', 'application/x+json; a=b'],
      [],
    ),
    fc.constantFrom<string[]>(['Content-Type', 'text/plain'], ['Content-Type', '']),
  );
  const paths = [
    ...['playlist', 'playlist', 'config', 'changes', 'changes?after=x&waitSeconds=1'],
    ...['events', 'events', 'events', 'events?x=1', 'playlist/', 'changes?waitSeconds=0', 'other'],
  ];

  /** Preconditions of a request, most often none. */
  const conditionsOn = (etag: string): string[][] => [
    ...[[], [], [], []],
    ['If-None-Match', etag],
    ['If-None-Match', `W/${etag}`],
    ['If-None-Match', `"x", ${etag}`],
    ['If-None-Match', '*'],
    ['If-None-Match', '"x"', 'If-None-Match', etag],
    ['If-Match', etag],
    ['If-Match', '"x"', 'If-None-Match', '*'],
  ];
  /** Credentials of a request, most often the right key. */
  const credentialsOf = (tv: BoundTv, other: BoundTv, revoked: BoundTv): string[][] => {
    const good = ['Authorization', `Bearer ${tv.apiKey}`];
    return [
      ...Array<string[]>(10).fill(good),
      ['Authorization', `Bearer ${tv.apiKey.slice(0, -1)}!`],
      [],
      ['authorization', `bearer ${tv.apiKey}`],
      ['Authorization', 'Basic eDp5'],
      [...good, 'Authorization', 'Bearer x'],
      ['Authorization', `Bearer ${revoked.apiKey}`],
      ['Authorization', `Bearer ${other.apiKey}`],
    ];
  };

  const wire = fc.nat({ max: 2 }).chain((n) => {
    const [tv, other, revoked] = [tvs[n]!, tvs[(n + 1) % 2]!, tvs[2]!];
    return fc.constantFrom(...paths).chain((path) =>
      fc
        .record({
          credential: fc.constantFrom(...credentialsOf(tv, other, revoked)),
          condition: fc.constantFrom(...conditionsOn(tv.etags[path === 'config' ? 1 : 0]!)),
          method: rarely(
            fc.constant(path.startsWith('events') ? 'POST' : 'GET'),
            fc.constantFrom('HEAD', 'PUT', 'GET', 'POST'),
          ),
          body,
          contentType,
          unusualHeaders,
        })
        .map((made) => {
          const sends = made.method === 'POST' || made.method === 'PUT';
          const length = ['Content-Length', String(made.body.length), ...made.contentType];
          const { credential, condition, unusualHeaders: unusual } = made;
          return {
            method: made.method,
            path: `/devices/${n === 1 ? tv.deviceId.toUpperCase() : tv.screenId}/${path}`,
            headers: [...host, ...credential, ...condition, ...(sends ? length : []), ...unusual],
            body: sends ? made.body : undefined,
          };
        }),
    );
  });

  it('return the same bytes and store the same data', async () => {
    const seen = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(wire, async (request) => {
        const ownId = request.headers.includes('mine');
        const quick = await wireRequest(service.url, request);
        const slow = await wireRequest(plain.url, request);
        expect(comparable(quick, ownId)).toEqual(comparable(slow, ownId));
        if (quick.status === 202 && !request.headers.includes('Idempotency-Key'))
          await expectBothStored(JSON.parse(quick.text).received);
        seen.set(quick.status ?? 0, (seen.get(quick.status ?? 0) ?? 0) + 1);
      }),
      { numRuns: 300 },
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
        for (const more of [key, [], [...key, 'If-Match', '"other"']]) {
          const path = `/devices/${screenId}/config`;
          const request = { method: 'GET', path, headers: [...host, ...more, ...origin] };
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
