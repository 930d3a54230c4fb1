import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Running, serve } from '../../../src/serve.ts';
import { errorKinds, type ServiceErrorCode } from '../../../src/wire/errors.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { impression } from '../../support/service/content.ts';
import { item } from '../../support/service/management.ts';
import { expectProblem } from '../../support/service/problem.ts';
import { rawRequest } from '../../support/service/raw-request.ts';
import {
  type BoundTv,
  type Sent,
  startService,
  type TestService,
} from '../../support/service/service.ts';
import { heldDevices } from '../../support/tv/held-devices.ts';

const faultHeader = 'x-signage-fault';

/** Starts a service with these rules, and a TV that was bound before the rules applied. */
async function faulty(
  rules: readonly string[],
  more: object = {},
): Promise<{ service: TestService; tv: BoundTv }> {
  const faults: string[] = [];
  // `serve` reads the rules at start, so they come with the restart, once the TV is bound.
  const service = await startService({ store: await temporaryFolder(), faults, ...more });
  const tv = await service.tv();
  await service.manage('PUT', `/v1/screens/${tv.screenId}/playlist`, { items: [item()] });
  faults.push(...rules);
  await service.restart();
  return { service, tv };
}

/** Expects a request to end without a response. */
const noAnswer = (sending: Promise<unknown>) =>
  expect(sending).rejects.toThrow(/fetch failed|terminated/);

describe('serve --fault: a status', () => {
  let service: TestService;
  let tv: BoundTv;
  /** A rule, a path that it matches, and the code and Retry-After of the answer. */
  const rows: [rule: string, path: string, code: ServiceErrorCode, retryAfter: string | null][] = [
    [
      'GET /devices/*/playlist=500:first 1',
      '/devices/:screen/playlist',
      'playlist_fetch_failed',
      '5',
    ],
    ['GET /devices/*/config=500', '/devices/:device/config', 'config_fetch_failed', '5'],
    ['POST /devices/:id/events=503 retry 30s', '/devices/:screen/events', 'unavailable', '30'],
    ['POST /devices/register=429', '/devices/register', 'too_many_attempts', '60'],
    ['GET /v1/me=404', '/v1/me', 'tenant_not_found', null],
    ['GET /v1/screens=401', '/v1/screens', 'credential_invalid', null],
    ['DELETE /v1/venues/*=503', '/v1/venues/x', 'unavailable', '5'],
    ['PUT /v1/screens/*/playlist=400', '/v1/screens/x/playlist', 'invalid_request', null],
  ];
  beforeAll(async () => {
    const withoutCode = ['GET /v1/venues=502', 'GET /healthz=500'];
    ({ service, tv } = await faulty([...rows.map(([rule]) => rule), ...withoutCode]));
  });

  it.each(rows)(
    '%s answers the code that is documented there, and names the rule',
    async (rule, path, code, retryAfter) => {
      const method = rule.split(' ')[0] as string;
      const at = path.replace(':screen', tv.screenId).replace(':device', tv.deviceId);
      const answer = await service.send(method, at);
      expectProblem(answer, errorKinds[code].status, code);
      expect(answer.headers.get('retry-after')).toBe(retryAfter);
      expect(answer.headers.get(faultHeader)).toBe(rule);
    },
  );

  it.each([
    ['/v1/venues', 502, 'Bad Gateway'],
    ['/healthz', 500, 'Internal Server Error'],
  ])(
    '%s: a problem without a code if none is documented, as from a proxy',
    async (path, status, title) => {
      const answer = await service.manage('GET', path);
      expect(answer.status).toBe(status);
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
      expect(answer.body).toMatchObject({
        type: 'about:blank',
        title,
        status,
        requestId: answer.headers.get('x-request-id'),
      });
      expect(answer.body).not.toHaveProperty('code');
    },
  );

  it('does not affect other requests', async () => {
    const answer = await tv.send('GET', 'playlist');
    expect(answer.status).toBe(200);
    expect(answer.headers.has(faultHeader)).toBe(false);
  });

  it('stores nothing of a rejected request', async () => {
    await tv.send('POST', 'events', { body: [impression()] });
    expect((await service.manage('GET', '/v1/events')).body.items).toEqual([]);
  });

  it('a 401 has a code', async () => {
    const one = await faulty([
      'GET /devices/*/playlist=401 device_key_orphaned',
      'GET /devices/*/config=401',
    ]);
    expectProblem(await one.tv.send('GET', 'playlist'), 401, 'device_key_orphaned');
    expectProblem(await one.tv.send('GET', 'config'), 401, 'device_key_invalid');
  });

  it('has CORS headers like any other response', async () => {
    const one = await faulty(['*=503'], { corsOrigins: ['https://tv.example.com'] });
    const answer = await one.tv.send('GET', 'config', {
      headers: { origin: 'https://tv.example.com' },
    });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://tv.example.com');
  });

  it('affects only the screen named in the path, in either case', async () => {
    const first = await faulty([]);
    const other = await first.service.tv();
    const faults = [`GET /devices/${other.screenId.toUpperCase()}/config=500`];
    const running = await serve({ port: 0, store: 'memory:', faults });
    const ask = (id: string) =>
      fetch(`${running.url}/devices/${id}/config`).then(({ status }) => status);
    expect([await ask(other.screenId), await ask(first.tv.screenId)]).toEqual([500, 401]);
    await running.close();
  });
});

describe('serve --fault: missing, truncated and delayed responses', () => {
  it('drop: the connection breaks before the request is handled', async () => {
    const { service, tv } = await faulty(['POST /devices/*/events=drop:first 1']);
    await noAnswer(tv.send('POST', 'events', { body: [impression()] }));
    expect((await service.manage('GET', '/v1/events')).body.items).toEqual([]);
    expect((await tv.send('POST', 'events', { body: [impression()] })).status).toBe(202);
  });

  it('lose: the request is handled, its response is lost, and the same Idempotency-Key returns it again', async () => {
    const { service, tv } = await faulty(['POST /devices/*/events=lose:first 1']);
    const sent: Sent = { body: [impression()], headers: { 'idempotency-key': 'one' } };
    await noAnswer(tv.send('POST', 'events', sent));
    expect((await service.manage('GET', '/v1/events')).body.items).toHaveLength(1);
    expect((await tv.send('POST', 'events', sent)).body).toEqual({ received: 1 });
    expect((await service.manage('GET', '/v1/events')).body.items).toHaveLength(1);
  });

  it('truncate: all headers, with the rule and the full length, and half of the body', async () => {
    const { service, tv } = await faulty(['GET /devices/*/config=truncate']);
    const request = `GET /devices/${tv.screenId}/config HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tv.apiKey}\r\n\r\n`;
    const [head = '', body = ''] = (await rawRequest(service.url, request)).split('\r\n\r\n');
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
    expect(head).toMatch(/^HTTP\/1\.1 200 /);
    expect(head).toMatch(/x-signage-fault: GET \/devices\/\*\/config=truncate/i);
    expect(head).toMatch(/x-request-id: /i);
    expect(body).toHaveLength(length >> 1);
    expect(JSON.stringify(tv.config).startsWith(body)).toBe(true);
    await noAnswer(tv.send('GET', 'config'));
  });

  it('truncate of a response without a body drops the response', async () => {
    const { tv } = await faulty(['GET /devices/*/config=truncate:every 2']);
    const etag = (await tv.send('GET', 'config')).headers.get('etag') ?? '';
    await noAnswer(tv.send('GET', 'config', { headers: { 'if-none-match': etag } }));
  });

  it('delay: the request is handled at once, the response is delayed', async () => {
    const clock = new ManualClock();
    const { service, tv } = await faulty(['POST /devices/*/events=delay 2s'], { clock });
    const waiting = clock.waitingFor(2000);
    let answered = false;
    const sending = tv.send('POST', 'events', { body: [impression()] }).then((answer) => {
      answered = true;
      return answer;
    });
    await expect.poll(() => clock.waitingFor(2000)).toBe(waiting + 1);
    expect((await service.manage('GET', '/v1/events')).body.items).toHaveLength(1);
    clock.advance(1999);
    expect((await service.manage('GET', '/v1/me')).status).toBe(200);
    expect(answered).toBe(false);
    clock.advance(1);
    const answer = await sending;
    expect(answer.status).toBe(202);
    expect(answer.headers.get(faultHeader)).toBe('POST /devices/*/events=delay 2s');
  });

  it('a delay combines with another fault, and ends at once when the service stops', async () => {
    const { service, tv } = await faulty([
      '*=delay 1h',
      'GET /devices/*/config=503',
      'GET /devices/*/config=500',
    ]);
    const sending = tv.send('GET', 'config');
    await expect.poll(() => service.clock.waitingFor(3_600_000)).toBeGreaterThan(0);
    const closing = service.close();
    const answer = await sending;
    expect(answer.status).toBe(503);
    expect(answer.headers.get(faultHeader)).toBe('*=delay 1h, GET /devices/*/config=503');
    await closing;
  });

  it('affects a mounted service too, where a broken connection is a failed fetch', async () => {
    const running = await serve({
      port: 0,
      store: 'memory:',
      faults: [
        'GET /healthz=drop:first 1',
        'GET /healthz=truncate:every 2',
        'GET /healthz=lose:every 3',
      ],
    });
    const get = () => running.fetch(new Request('http://mounted/healthz'));
    await expect(get()).rejects.toThrow(TypeError);
    await expect((await get()).text()).rejects.toThrow(TypeError);
    await expect(get()).rejects.toThrow(TypeError);
    await running.close();
  });
});

describe('serve --fault: held requests', () => {
  const longPoll = async (tv: BoundTv) => {
    const { body } = await tv.send('GET', 'changes');
    return tv.send('GET', `changes?after=${body.cursor}&waitSeconds=50`);
  };

  it('cut: the connection breaks at that time, and the hold ends', async () => {
    const rule = 'GET /devices/*/changes=cut 20s';
    const { service, tv } = await faulty([rule]);
    const cut = noAnswer(longPoll(tv));
    await expect.poll(() => heldDevices(service)).toBe(1);
    service.clock.advance(19_999);
    expect(await heldDevices(service)).toBe(1);
    service.clock.advance(1);
    await cut;
    await expect.poll(() => heldDevices(service)).toBe(0);
    service.clock.advance(1000);
    const path = `/v1/requests?screenId=${tv.screenId}&limit=1`;
    await expect
      .poll(async () => (await service.manage('GET', path)).body.items)
      .toMatchObject([{ operation: 'getDeviceChanges', status: null, faults: [rule] }]);
  });

  it('cut: an answer that comes earlier is unchanged, and does not name the rule', async () => {
    const { service, tv } = await faulty(['GET /devices/*/changes=cut 5s-20s']);
    const answer = longPoll(tv);
    await expect.poll(() => heldDevices(service)).toBe(1);
    await service.manage('DELETE', `/v1/screens/${tv.screenId}/playlist`);
    const { status, headers, body } = await answer;
    expect({ status, playlist: body.playlist }).toEqual({ status: 200, playlist: null });
    expect(headers.get(faultHeader)).toBeNull();
  });

  it('lose: the connection breaks when the hint is due', async () => {
    const { service, tv } = await faulty(['GET /devices/*/changes=lose:every 2']);
    const lost = noAnswer(longPoll(tv));
    await expect.poll(() => heldDevices(service)).toBe(1);
    await service.manage('DELETE', `/v1/screens/${tv.screenId}/playlist`);
    await lost;
    expect(await heldDevices(service)).toBe(0);
  });

  it('delay: the hint comes later', async () => {
    const { service, tv } = await faulty(['GET /devices/*/changes=delay 5s:every 2']);
    const answer = longPoll(tv);
    await expect.poll(() => heldDevices(service)).toBe(1);
    const waiting = service.clock.waitingFor(5000);
    await service.manage('DELETE', `/v1/screens/${tv.screenId}/playlist`);
    await expect.poll(() => service.clock.waitingFor(5000)).toBe(waiting + 1);
    service.clock.advance(5000);
    expect((await answer).body.playlist).toBeNull();
  });

  it('cut ends the hold of a mounted service, too', async () => {
    const faults = ['GET /devices/*/changes=cut 20s'];
    const running: Running[] = [];
    const service = await startService({ faults }, async (options) => {
      running.push(await serve(options));
      return running[0] as Running;
    });
    const tv = await service.tv();
    const { body } = await tv.send('GET', 'changes');
    const url = `${service.url}/devices/${tv.screenId}/changes?after=${body.cursor}&waitSeconds=50`;
    const headers = { authorization: `Bearer ${tv.apiKey}` };
    const cut = noAnswer(Promise.resolve(running[0]?.fetch(new Request(url, { headers }))));
    await expect.poll(() => heldDevices(service)).toBe(1);
    service.clock.advance(20_000);
    await cut;
    await expect.poll(() => heldDevices(service)).toBe(0);
  });
});

describe('serve --fault: how often', () => {
  async function hits(rule: string, count: number, more: object = {}): Promise<number[]> {
    const running = await serve({ port: 0, store: 'memory:', faults: [rule], ...more });
    const hit: number[] = [];
    for (let n = 1; n <= count; n++)
      if ((await running.fetch(new Request('http://mounted/healthz'))).status !== 200) hit.push(n);
    await running.close();
    return hit;
  }

  it.each([
    ['GET /healthz=503', 4, [1, 2, 3, 4]],
    ['GET /healthz=503:every 3', 10, [3, 6, 9]],
    ['GET /healthz=503:first 2', 5, [1, 2]],
  ])('%s hits of %i requests: %j', async (rule, count, hit) => {
    expect(await hits(rule, count)).toEqual(hit);
  });

  it('HEAD counts as GET, other methods and paths do not', async () => {
    const running = await serve({
      port: 0,
      store: 'memory:',
      faults: ['GET /healthz=503:first 1'],
    });
    const ask = async (method: string, path: string) =>
      (await running.fetch(new Request(`http://mounted${path}`, { method }))).status;
    expect([
      await ask('POST', '/healthz'),
      await ask('GET', '/readyz'),
      await ask('HEAD', '/healthz'),
      await ask('GET', '/healthz'),
    ]).toEqual([405, 200, 503, 200]);
    await running.close();
  });
  it('a share of requests, reproducible with the same random source', async () => {
    const seeded = (seed: number) => {
      let state = seed;
      const next = () => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
        return state >>> 24;
      };
      // Only random draws of the rules are scripted, not those of keys and secrets.
      return (length: number) =>
        length === 4 ? Uint8Array.from({ length }, next) : randomBytes(length);
    };
    const some = await hits('GET /healthz=503:25%', 400, { random: seeded(1) });
    expect(some.length).toBeGreaterThan(70);
    expect(some.length).toBeLessThan(130);
    expect(await hits('GET /healthz=503:25%', 400, { random: seeded(1) })).toEqual(some);
    expect(await hits('GET /healthz=503:25%', 400, { random: seeded(2) })).not.toEqual(some);
    expect(await hits('GET /healthz=503:100%', 20)).toHaveLength(20);
  });
});

describe('a fault rule', () => {
  it.each([
    [
      'GET /devices/*/playlist',
      'something is missing at character 24: a rule is [METHOD] PATH=EFFECT[:HOW OFTEN]',
    ],
    [
      'FETCH /healthz=500',
      '"FETCH" (character 1) is not understood: use one of the methods GET, POST',
    ],
    ['GET /a b=500', '"GET /a b" (character 1) is not understood: a rule is'],
    ['GET /devices/*/playlst=500', '"/devices/*/playlst" (character 5) is not understood'],
    ['PUT /devices/*/playlist=500', 'the service has no such path or method'],
    ['GET healthz=500', '"healthz" (character 5) is not understood: a path begins with /'],
    ['GET /healthz?x=500', '"/healthz?x" (character 5) is not understood'],
    ['=500', 'something is missing at character 1'],
    ['/healthz=', 'something is missing at character 10: use a status from 400 to 599'],
    ['/healthz=200', '"200" (character 10) is not understood: use a status from 400 to 599'],
    ['/healthz=5000', '"5000" (character 10) is not understood'],
    ['/healthz=explode', '"explode" (character 10) is not understood'],
    ['/healthz=drop it', '"drop it" (character 10) is not understood'],
    ['/healthz=delay', 'something is missing at character'],
    ['/healthz=delay soon', '"soon" (character 16) is not understood: delay takes a duration'],
    ['/healthz=delay 2s-1s', '"2s-1s" (character 16) is not understood'],
    ['/healthz=cut soon', '"soon" (character 14) is not understood: cut takes a duration'],
    ['/healthz=delay 1s-2s-3s', '"1s-2s-3s" (character 16) is not understood'],
    ['/healthz=503 retry', 'something is missing at character 19: retry takes whole seconds'],
    [
      '/healthz=503 retry 10ms',
      '"10ms" (character 20) is not understood: retry takes whole seconds',
    ],
    ['/healthz=503 retry 1s 2s', '"2s" (character 23) is not understood'],
    [
      'GET /devices/*/playlist=401 revoked',
      '"revoked" (character 29) is not understood: with 401, use device_key_missing, device_key_invalid',
    ],
    ['GET /devices/*/playlist=404 config_not_found', 'with 404, use playlist_not_found.'],
    ['GET /devices/*/playlist=418 teapot', 'no code is documented for this path with 418'],
    ['/healthz=500:0%', '"0%" (character 14) is not understood: use 10%, every 3 or first 5'],
    ['/healthz=500:101%', '"101%" (character 14) is not understood'],
    ['/healthz=500:every 0', '"every 0" (character 14) is not understood'],
    ['/healthz=500:every 2 or so', '"every 2 or so" (character 14) is not understood'],
    ['/healthz=500:', 'something is missing at character 14'],
    ['/healthz=500:10%:first 2', '"10%:first 2" (character 14) is not understood'],
  ])('%j is rejected with the position and the allowed values', async (rule, said) => {
    const faults = ['/healthz=500', rule];
    const error = await serve({ port: 0, store: 'memory:', faults }).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'invalid_option' });
    expect(error.message).toContain(said);
    expect(error.message).toContain(`"${rule}"`);
  });
});
