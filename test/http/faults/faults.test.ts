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
  /** A rule, a call that it hits, and the code and Retry-After of the answer. */
  const rows: [rule: string, call: string, code: ServiceErrorCode, retryAfter: string | null][] = [
    ['500:playlist:first 1', 'GET /devices/:screen/playlist', 'playlist_fetch_failed', '5'],
    ['500:config', 'GET /devices/:device/config', 'config_fetch_failed', '5'],
    ['503:events retry 30s', 'POST /devices/:screen/events', 'unavailable', '30'],
    ['429:register', 'POST /devices/register', 'too_many_attempts', '60'],
    ['400:claim', 'POST /devices/claims', 'invalid_request', null],
    ['401:rotate', 'POST /devices/:screen/keys/rotate', 'device_key_invalid', null],
  ];
  beforeAll(async () => {
    ({ service, tv } = await faulty([...rows.map(([rule]) => rule), '502:changes']));
  });

  it.each(rows)(
    '%s answers the code that is documented there, and names the rule',
    async (rule, call, code, retryAfter) => {
      const at = call.replace(':screen', tv.screenId).replace(':device', tv.deviceId);
      const [method = '', path = ''] = at.split(' ');
      const answer = await service.send(method, path);
      expectProblem(answer, errorKinds[code].status, code);
      expect(answer.headers.get('retry-after')).toBe(retryAfter);
      expect(answer.headers.get(faultHeader)).toBe(rule);
    },
  );

  it('502: a page if no code is documented, as from a proxy', async () => {
    const answer = await tv.send('GET', 'changes');
    expect(answer.status).toBe(502);
    expect(answer.headers.get('content-type')).toBe('text/html');
    expect(answer.headers.get(faultHeader)).toBe('502:changes');
  });

  it('does not affect other requests', async () => {
    const answer = await tv.send('GET', 'playlist');
    expect(answer.status).toBe(200);
    expect(answer.headers.has(faultHeader)).toBe(false);
  });

  it('stores nothing of a rejected request', async () => {
    await tv.send('POST', 'events', { body: [impression()] });
    expect((await service.manage('GET', '/v1/events')).body.items).toEqual([]);
  });

  it('has CORS headers like any other response', async () => {
    const one = await faulty(['503'], { corsOrigins: ['https://tv.example.com'] });
    const answer = await one.tv.send('GET', 'config', {
      headers: { origin: 'https://tv.example.com' },
    });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://tv.example.com');
  });

  it('all: every request of TVs, and no other request', async () => {
    const running = await serve({ port: 0, store: 'memory:', faults: ['503'] });
    const ask = async (method: string, path: string) =>
      (await running.fetch(new Request(`http://mounted${path}`, { method }))).status;
    expect([
      await ask('HEAD', '/devices/x/playlist'),
      await ask('GET', '/media/none.png'),
      await ask('OPTIONS', '/devices/x/playlist'),
      await ask('GET', '/v1/devices'),
      await ask('GET', '/healthz'),
    ]).toEqual([503, 503, 405, 401, 200]);
    await running.close();
  });
});

describe('serve --fault: missing, truncated and delayed responses', () => {
  it('lost-request: the connection breaks before the request is handled', async () => {
    const { service, tv } = await faulty(['lost-request:events:first 1']);
    await noAnswer(tv.send('POST', 'events', { body: [impression()] }));
    expect((await service.manage('GET', '/v1/events')).body.items).toEqual([]);
    expect((await tv.send('POST', 'events', { body: [impression()] })).status).toBe(202);
  });

  it('lost-answer: the request is handled, its response is lost, and the same Idempotency-Key returns it again', async () => {
    const { service, tv } = await faulty(['lost-answer:events:first 1']);
    const sent: Sent = { body: [impression()], headers: { 'idempotency-key': 'one' } };
    await noAnswer(tv.send('POST', 'events', sent));
    expect((await service.manage('GET', '/v1/events')).body.items).toHaveLength(1);
    expect((await tv.send('POST', 'events', sent)).body).toEqual({ received: 1 });
    expect((await service.manage('GET', '/v1/events')).body.items).toHaveLength(1);
  });

  it('cut-answer: all headers, with the rule and the full length, and half of the body', async () => {
    const { service, tv } = await faulty(['cut-answer:config']);
    const request = `GET /devices/${tv.screenId}/config HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tv.apiKey}\r\n\r\n`;
    const [head = '', body = ''] = (await rawRequest(service.url, request)).split('\r\n\r\n');
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
    expect(head).toMatch(/^HTTP\/1\.1 200 /);
    expect(head).toMatch(/x-signage-fault: cut-answer:config/i);
    expect(head).toMatch(/x-request-id: /i);
    expect(body).toHaveLength(length >> 1);
    expect(JSON.stringify(tv.config).startsWith(body)).toBe(true);
    await noAnswer(tv.send('GET', 'config'));
  });

  it('cut-answer of a response without a body drops the response', async () => {
    const { tv } = await faulty(['cut-answer:config:every 2']);
    const etag = (await tv.send('GET', 'config')).headers.get('etag') ?? '';
    await noAnswer(tv.send('GET', 'config', { headers: { 'if-none-match': etag } }));
  });

  it('slow: the request is handled at once, the response is delayed', async () => {
    const clock = new ManualClock();
    const { service, tv } = await faulty(['slow:events:7s'], { clock });
    const waiting = clock.waitingFor(7000);
    let answered = false;
    const sending = tv.send('POST', 'events', { body: [impression()] }).then((answer) => {
      answered = true;
      return answer;
    });
    await expect.poll(() => clock.waitingFor(7000)).toBe(waiting + 1);
    expect((await service.manage('GET', '/v1/events')).body.items).toHaveLength(1);
    clock.advance(6999);
    expect((await service.manage('GET', '/v1/me')).status).toBe(200);
    expect(answered).toBe(false);
    clock.advance(1);
    const answer = await sending;
    expect(answer.status).toBe(202);
    expect(answer.headers.get(faultHeader)).toBe('slow:events:7s');
  });

  it('a delay combines with another fault, and ends at once when the service stops', async () => {
    const { service, tv } = await faulty(['slow:2h', '503:config', '500:config']);
    const sending = tv.send('GET', 'config');
    await expect.poll(() => service.clock.waitingFor(7_200_000)).toBeGreaterThan(0);
    const closing = service.close();
    const answer = await sending;
    expect(answer.status).toBe(503);
    expect(answer.headers.get(faultHeader)).toBe('slow:2h, 503:config');
    await closing;
  });

  it('affects a mounted service too, where a broken connection is a failed fetch', async () => {
    const running = await serve({
      port: 0,
      store: 'memory:',
      faults: ['lost-request:first 1', 'cut-answer:first 1', 'lost-answer:first 1'],
    });
    const get = () => running.fetch(new Request('http://mounted/devices/x/config'));
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

  it('timeout: the connection breaks at that time, and the hold ends', async () => {
    const rule = 'timeout:changes:20s';
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

  it('timeout: an answer that comes earlier is unchanged, and does not name the rule', async () => {
    const { service, tv } = await faulty(['timeout:changes:5s-20s']);
    const answer = longPoll(tv);
    await expect.poll(() => heldDevices(service)).toBe(1);
    await service.manage('DELETE', `/v1/screens/${tv.screenId}/playlist`);
    const { status, headers, body } = await answer;
    expect({ status, playlist: body.playlist }).toEqual({ status: 200, playlist: null });
    expect(headers.get(faultHeader)).toBeNull();
  });

  it('lost-answer: the connection breaks when the hint is due', async () => {
    const { service, tv } = await faulty(['lost-answer:changes:every 2']);
    const lost = noAnswer(longPoll(tv));
    await expect.poll(() => heldDevices(service)).toBe(1);
    await service.manage('DELETE', `/v1/screens/${tv.screenId}/playlist`);
    await lost;
    expect(await heldDevices(service)).toBe(0);
  });

  it('slow: the hint comes later', async () => {
    const { service, tv } = await faulty(['slow:changes:5s:every 2']);
    const answer = longPoll(tv);
    await expect.poll(() => heldDevices(service)).toBe(1);
    const waiting = service.clock.waitingFor(5000);
    await service.manage('DELETE', `/v1/screens/${tv.screenId}/playlist`);
    await expect.poll(() => service.clock.waitingFor(5000)).toBe(waiting + 1);
    service.clock.advance(5000);
    expect((await answer).body.playlist).toBeNull();
  });

  it('at-once: the request is not held', async () => {
    const { tv } = await faulty(['at-once:changes']);
    const { status, headers } = await longPoll(tv);
    expect(status).toBe(200);
    expect(headers.get(faultHeader)).toBe('at-once:changes');
  });

  it('timeout ends the hold of a mounted service, too', async () => {
    const faults = ['timeout:changes:20s'];
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

it.each([
  ['sometimes', '"sometimes" (character 1) is not understood: expected a status from 400 to 599'],
  ['power-cut:1%/h', '"power-cut" (character 1) is not understood: expected a status'],
])('serve --fault %s: the service does not start', async (rule, said) => {
  const faults = ['500:playlist', rule];
  const error = await serve({ port: 0, store: 'memory:', faults }).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: 'invalid_option' });
  expect(error.message).toContain(said);
});
