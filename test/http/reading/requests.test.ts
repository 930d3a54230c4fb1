import { beforeAll, describe, expect, it } from 'vitest';
import type { LogSink } from '../../../src/domain/log.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { impression, item } from '../../support/service/content.ts';
import { expectInvalid, manager, unknownId, walk } from '../../support/service/management.ts';
import {
  type Answer,
  type BoundTv,
  startService,
  type TestService,
} from '../../support/service/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});

const path = '/v1/requests';
const unknownKey = `dak_${'0'.repeat(49)}`;

async function listed(query = '', from = service): Promise<Answer['body'][]> {
  const answer = await from.manage('GET', `${path}${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.items;
}
/** Returns operation, status and code of each request, oldest first. */
async function told(query: string, from = service): Promise<string[]> {
  const items = await listed(query, from);
  return items
    .toReversed()
    .map(({ operation, status, code }) => `${operation} ${status} ${code ?? ''}`.trim());
}

describe('GET /v1/requests', () => {
  it('lists what a TV sent and its answers, newest first', async () => {
    const tv = await service.tv();
    await service.manage('PUT', `/v1/screens/${tv.screenId}/playlist`, { items: [item()] });
    const first = await tv.send('GET', 'playlist');
    service.clock.advance(1000);
    const etag = first.headers.get('etag') as string;
    await tv.send('GET', 'playlist', { headers: { 'if-none-match': etag } });
    await tv.send('GET', 'config');
    await tv.send('POST', 'events', { body: [impression()] });
    const refused = await tv.send('POST', 'events', { body: [{ type: 'impression' }] });
    await service.send('POST', `/devices/${tv.deviceId}/keys/rotate`, {
      key: tv.apiKey,
      headers: { 'x-request-id': 'my-request' },
    });
    expect(await told(`?deviceId=${tv.deviceId}`)).toEqual([
      'getPlaylist 200',
      'getPlaylist 304',
      'getDeviceConfig 200',
      'postEvents 202',
      'postEvents 400 invalid_request',
      'rotateDeviceKey 201',
    ]);
    const [rotated, events] = await listed(`?deviceId=${tv.deviceId}&limit=2`);
    expect(rotated).toMatchObject({ requestId: 'my-request', code: null, detail: null });
    expect(events).toEqual({
      id: expect.any(String),
      at: new Date(service.clock.now()).toISOString(),
      operation: 'postEvents',
      status: 400,
      code: 'invalid_request',
      detail: refused.body.detail,
      faults: [],
      deviceId: tv.deviceId,
      screenId: tv.screenId,
      requestId: refused.headers.get('x-request-id'),
    });
  });

  it('tells a revoked key from an orphaned one, and a key of another screen', async () => {
    const [tv, other] = [await service.tv(), await service.tv()];
    await service.send('GET', `/devices/${other.screenId}/config`, { key: tv.apiKey });
    await service.manage('POST', `/v1/devices/${tv.deviceId}/revoke`);
    await tv.send('GET', 'playlist');
    expect(await told(`?deviceId=${tv.deviceId}`)).toEqual([
      'getDeviceConfig 401 device_key_mismatch',
      'getPlaylist 401 device_key_revoked',
    ]);
    expect(await told(`?deviceId=${other.deviceId}`)).toEqual([]);
  });

  it('adds a request with a missing or unknown key to the screen in its path, if it exists', async () => {
    const tv = await service.tv();
    const upperCase = tv.screenId.toUpperCase();
    await service.send('GET', `/devices/${upperCase}/playlist`, { key: unknownKey });
    await service.send('GET', `/devices/${tv.deviceId}/config`);
    await service.send('GET', `/devices/${unknownId}/config`, { key: unknownKey });
    await service.send('GET', '/devices/nonsense/config', { key: unknownKey });
    const query = `?screenId=${tv.screenId}&refused=true`;
    expect(await told(query)).toEqual([
      'getPlaylist 401 device_key_invalid',
      'getDeviceConfig 401 device_key_missing',
    ]);
    for (const { deviceId } of await listed(query)) expect(deviceId).toBeNull();
    const all = await listed('?limit=200');
    expect(all.filter(({ screenId }) => [unknownId, 'nonsense'].includes(screenId))).toEqual([]);
  });

  it('adds a registration to the screen of its code, and none with an unknown code', async () => {
    const { code, screenId } = await service.code();
    const registered = await service.register(code);
    await service.register(code);
    await service.register('0000AAAA');
    const { screenId: expiring, code: old } = await service.code();
    service.clock.advance(16 * 60_000);
    await service.register(old);
    expect(await told(`?screenId=${screenId}`)).toEqual([
      'registerDevice 201',
      'registerDevice 409 pairing_code_used',
    ]);
    expect(await told(`?screenId=${expiring}`)).toEqual([
      'registerDevice 410 pairing_code_expired',
    ]);
    const text = JSON.stringify(await listed('?limit=200'));
    for (const secret of [code, old, registered.body.apiKey, '0000AAAA'])
      expect(text).not.toContain(secret);
  });

  it('lists no requests of managers, and none that reach no operation', async () => {
    const { id } = await service.screen();
    await service.send('PATCH', `/devices/${id}/playlist`);
    await service.send('GET', `/devices/${id}/nothing`);
    expect(await listed(`?screenId=${id}`)).toEqual([]);
    const operations = new Set((await listed('?limit=200')).map(({ operation }) => operation));
    expect(operations).not.toContain('listRequests');
    expect(operations).not.toContain('createScreen');
  });

  it('filters by outcome and time, and pages without gaps', async () => {
    const tv = await service.tv();
    service.clock.advance(60_000);
    const from = new Date(service.clock.now()).toISOString();
    for (let n = 0; n < 10; n++) {
      await tv.send('GET', n % 2 === 0 ? 'config' : 'playlist');
      if (n === 4) service.clock.advance(60_000);
    }
    const own = `?deviceId=${tv.deviceId}`;
    expect(await listed(`${own}&refused=true`)).toHaveLength(5);
    expect(await listed(`${own}&refused=false`)).toHaveLength(5);
    expect(await listed(`${own}&from=${from}`)).toHaveLength(10);
    const to = new Date(Date.parse(from) + 30_000).toISOString();
    expect(await listed(`${own}&to=${to}`)).toHaveLength(5);
    const whole = await listed(own);
    const paged = (await walk(manager(service), `${path}${own}`, 3)).items;
    expect(paged).toEqual(whole);
  });

  it('400 for an unknown filter, a malformed id or cursor', async () => {
    for (const [query, where] of [
      ['refused=yes', 'query.refused'],
      ['screenId=x', 'query.screenId'],
      ['cursor=x', 'query.cursor'],
      ['code=x', 'query.code'],
    ])
      expectInvalid(await service.manage('GET', `${path}?${query}`), where as string);
  });
});

describe('GET /v1/requests with fault rules', () => {
  it('names the rules that applied', async () => {
    const faults: string[] = [];
    const faulty = await startService({ store: await temporaryFolder(), faults });
    const tv = await faulty.tv();
    faults.push('503:config', 'lost-request:playlist', 'lost-answer:events', 'slow:events:1ms');
    await faulty.restart();
    await tv.send('GET', 'config');
    await expect(tv.send('GET', 'playlist')).rejects.toThrow();
    const lost = tv.send('POST', 'events', { body: [impression()] });
    const failed = expect(lost).rejects.toThrow();
    while ((await listed('', faulty)).length < 3) await new Promise((done) => setImmediate(done));
    faulty.clock.advance(10);
    await failed;
    const items = await listed(`?screenId=${tv.screenId}`, faulty);
    const shown = Object.fromEntries(items.map((one) => [one.operation, one]));
    expect(shown.getDeviceConfig).toMatchObject({
      status: 503,
      code: 'unavailable',
      faults: ['503:config'],
    });
    expect(shown.getPlaylist).toMatchObject({
      status: null,
      code: null,
      faults: ['lost-request:playlist'],
    });
    expect(shown.postEvents).toMatchObject({ status: 202, deviceId: tv.deviceId });
    expect(shown.postEvents.faults.toSorted()).toEqual(['lost-answer:events', 'slow:events:1ms']);
  });
});

describe('GET /v1/requests on PostgreSQL', () => {
  it('lists refused requests of all instances, each once', async () => {
    const store = await freshDatabase();
    const [one, two] = [await startService({ store }), await startService({ store })];
    const tv = await one.tv();
    await tv.send('GET', 'config');
    await tv.send('GET', 'playlist');
    await two.send('GET', `/devices/${tv.screenId}/playlist`, { key: unknownKey });
    await listed('', one);
    await listed('', two);
    const refused = ['getPlaylist 404 playlist_not_found', 'getPlaylist 401 device_key_invalid'];
    const all = await told(`?screenId=${tv.screenId}`, one);
    expect(all.toSorted()).toEqual(
      ['registerDevice 201', 'getDeviceConfig 200', ...refused].toSorted(),
    );
    const ofOther = await told(`?screenId=${tv.screenId}`, two);
    expect(ofOther.toSorted()).toEqual(refused.toSorted());
    expect(await told(`?screenId=${tv.screenId}&refused=false`, two)).toEqual([]);
  });

  it('keeps 5 per second of one screen and 50 in all of a flood, and each registration', async () => {
    const store = await freshDatabase();
    const flooded = await startService({ store });
    const { id } = await flooded.screen();
    const send = () => flooded.send('GET', `/devices/${id}/playlist`, { key: unknownKey });
    await Promise.all(Array.from({ length: 40 }, send));
    expect(await listed(`?screenId=${id}&limit=200`, flooded)).toHaveLength(5);
    const dropped = async () =>
      /^signage_request_log_dropped_total (\d+)$/m.exec(
        (await flooded.send('GET', '/metrics')).text,
      )?.[1];
    expect(await dropped()).toBe('35');
    flooded.clock.advance(1000);
    await send();
    expect(await listed(`?screenId=${id}&limit=200`, flooded)).toHaveLength(6);
    flooded.clock.advance(1000);
    const others = Array.from(
      { length: 60 },
      (_, n) => `0190a5b4-6f00-7c3e-9d2a-${String(n).padStart(12, '0')}`,
    );
    const { code, screenId } = await flooded.code();
    await Promise.all(others.map((other) => flooded.send('GET', `/devices/${other}/playlist`)));
    await flooded.register(code);
    expect(await told(`?screenId=${screenId}`, flooded)).toEqual(['registerDevice 201']);
    expect(await dropped()).toBe('45');
    await flooded.close();
  });
});

it('the log of the service tells the same of a refused request', async () => {
  const lines: Record<string, unknown>[] = [];
  const keep = (fields: Record<string, unknown>) => void lines.push(fields);
  const log: LogSink = { debug: keep, info: () => {}, warn: () => {}, error: () => {} };
  const logging = await startService({ log });
  const tv: BoundTv = await logging.tv();
  await logging.manage('POST', `/v1/devices/${tv.deviceId}/revoke`);
  const { body } = await tv.send('GET', 'playlist');
  expect(lines.at(-1)).toMatchObject({
    operation: 'getPlaylist',
    status: 401,
    code: 'device_key_revoked',
    detail: body.detail,
    deviceId: tv.deviceId,
    screenId: tv.screenId,
    requestId: body.requestId,
  });
});
