import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { type Running, serve } from '../../src/serve.ts';
import { inDatabase } from '../support/postgres/in-database.ts';
import { freshDatabase } from '../support/postgres/postgres.ts';
import { impression, item } from '../support/service/content.ts';
import { expectProblem } from '../support/service/problem.ts';
import {
  adminToken,
  managerAt,
  startService,
  type TestService,
} from '../support/service/service.ts';

describe('two instances on one database', () => {
  let one: TestService<Clock>;
  let other: TestService<Clock>;
  beforeAll(async () => {
    const options = { store: await freshDatabase(), clock: systemClock };
    [one, other] = await Promise.all([startService<Clock>(options), startService<Clock>(options)]);
  });

  it('pair a TV, play, report and revoke, whichever of them is asked', async () => {
    const screen = await one.screen({ name: 'Platform 1' });
    const { code } = await other.code(screen.id);
    const waiting = one.manage(
      'GET',
      `/v1/devices/provisioning-codes/${code}/status?waitSeconds=30`,
    );
    const headers = { 'idempotency-key': 'a-secret-of-the-tv-1' };
    const registered = await other.register(code, { headers, deviceInfo: { model: 'QM55C' } });
    expect(registered.status, registered.text).toBe(201);
    expect((await waiting).body).toMatchObject({
      status: 'used',
      deviceId: registered.body.deviceId,
    });
    expect((await one.register(code, { headers })).text).toBe(registered.text);
    expectProblem(await one.register(code), 409, 'pairing_code_used');

    const { apiKey, deviceId } = registered.body;
    const tv = (service: TestService<Clock>, method: string, what: string, more = {}) =>
      service.send(method, `/devices/${screen.id}/${what}`, { key: apiKey, ...more });
    await one.manage('PUT', `/v1/screens/${screen.id}/playlist`, { items: [item()] });
    await one.manage('PUT', `/v1/screens/${screen.id}/config`, { syncIntervalMinutes: 7 });
    for (const service of [one, other]) {
      expect((await tv(service, 'GET', 'playlist')).headers.get('x-playlist-version')).toBe('1');
      expect((await tv(service, 'GET', 'config')).body).toMatchObject({ syncIntervalMinutes: 7 });
    }

    const event = impression({ duration: 15 });
    const following = one.manage('GET', '/v1/events?order=asc&waitSeconds=30');
    const post = (service: TestService<Clock>) =>
      tv(service, 'POST', 'events', { body: [event], headers: { 'idempotency-key': 'batch-1' } });
    for (const answer of await Promise.all([post(one), post(other)]))
      expect([answer.status, answer.body]).toEqual([202, { received: 1 }]);
    expect((await following).body.items).toMatchObject([{ deviceId, event }]);
    for (const service of [one, other]) {
      const report = (await service.manage('GET', '/v1/reports/impressions?groupBy=screen')).body
        .items;
      expect(report).toMatchObject([{ key: screen.id, impressions: 1, seconds: 15 }]);
    }

    expect((await one.manage('POST', `/v1/devices/${deviceId}/revoke`)).body).toMatchObject({
      device: { state: 'suspended' },
    });
    for (const service of [other, one])
      expectProblem(await tv(service, 'GET', 'playlist'), 401, 'device_key_revoked');
    const next = await other.tv(screen.id);
    expect(
      (await one.send('GET', `/devices/${next.deviceId}/playlist`, { key: next.apiKey })).status,
    ).toBe(200);
  });

  it('keep everything over a restart of both, and one backs it up', async () => {
    const screens = (await one.manage('GET', '/v1/screens')).body;
    for (const service of [one, other]) await service.restart();
    expect((await other.manage('GET', '/v1/screens')).body).toEqual(screens);
    expect((await one.send('GET', '/readyz')).status).toBe(200);
    const { status, text } = await one.manage('POST', '/v1/backup');
    expect(status).toBe(200);
    const lines = text.split('\n').filter((line) => line.includes('{"section":"screens"'));
    expect(lines).toHaveLength(screens.items.length);
  });
});

describe('the first start on an empty database', () => {
  it('makes one tenant and one token, when several start at the same moment without one', async () => {
    const store = await freshDatabase();
    const started: Running[] = await Promise.all([1, 2, 3].map(() => serve({ port: 0, store })));
    const tokens = started.flatMap((running) => running.adminToken ?? []);
    expect(tokens).toHaveLength(1);
    for (const { url } of started) {
      const manager = managerAt(url, tokens[0]);
      expect((await manager.get('/v1/tokens')).body.items).toHaveLength(1);
      expect((await manager.get('/v1/tenants')).body.items).toMatchObject([{ name: 'default' }]);
      const { items } = (await manager.get('/v1/audit')).body;
      expect(items.map(({ action }: { action: string }) => action)).toEqual([
        'token.create',
        'tenant.create',
      ]);
    }
    await Promise.all(started.map((running) => running.close()));
  });

  it('invalid_option where nobody would see the new token, and nothing is begun; a given one will do', async () => {
    const store = await freshDatabase();
    await expect(serve({ port: 0, store, makesToken: false })).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('SIGNAGE_ADMIN_TOKEN'),
    });
    expect(
      await inDatabase(store, (sql) =>
        sql('SELECT count(*)::integer AS found FROM signage.tenants'),
      ),
    ).toEqual([{ found: 0 }]);
    for (const token of [{ adminToken }, {}])
      await (await serve({ port: 0, store, makesToken: false, ...token })).close();
  });
});
