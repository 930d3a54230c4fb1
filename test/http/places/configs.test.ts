import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  expectInvalid,
  expectProblem,
  type Manager,
  manager,
  unknownId,
} from '../../support/management.ts';
import { type BoundTv, startService, type TestService } from '../../support/service.ts';

let service: TestService;
let admin: Manager;
let tv: BoundTv;
const defaults = {
  syncIntervalMinutes: 5,
  heartbeatIntervalMinutes: 1,
  cachePolicy: { maxSizeGB: 10, retentionDays: 7 },
};

beforeAll(async () => {
  service = await startService();
  admin = manager(service);
});

beforeEach(async () => {
  tv = await service.tv();
});

describe.each(['screen', 'venue', 'tenant'] as const)('the config of a %s', (level) => {
  const path = () => `/v1/${level}s/${tv[`${level}Id`]}/config`;

  beforeEach(async () => {
    await admin.delete(path());
  });

  it('PUT 200 with the stored config unchanged; GET 200 with the same', async () => {
    const config = {
      syncIntervalMinutes: 7.5,
      cachePolicy: { maxSizeGB: 0.5, mode: 'lru' },
      theme: { colours: ['red', null] },
    };
    const answer = await admin.put(path(), config);
    expect(answer).toMatchObject({ status: 200, body: config });
    expect(answer.body).toEqual(config);
    expect((await admin.get(path())).body).toEqual(config);
    const { headers, body } = await tv.send('GET', 'config');
    expect(headers.get('x-config-source')).toBe(level);
    expect(body).toEqual({
      ...defaults,
      syncIntervalMinutes: 7.5,
      cachePolicy: { maxSizeGB: 0.5, retentionDays: 7, mode: 'lru' },
      theme: { colours: ['red', null] },
    });
  });

  it('PUT 200 replaces the whole config', async () => {
    await admin.put(path(), { syncIntervalMinutes: 7, a: 1 });
    await admin.put(path(), { heartbeatIntervalMinutes: 3 });
    expect((await admin.get(path())).body).toEqual({ heartbeatIntervalMinutes: 3 });
  });

  it('PUT 200 with an empty config: it is stored, and changes nothing for the TV', async () => {
    expect((await admin.put(path(), {})).status).toBe(200);
    expect((await admin.get(path())).body).toEqual({});
    const { headers, body } = await tv.send('GET', 'config');
    expect(headers.get('x-config-source')).toBe(level);
    expect(body).toEqual(defaults);
  });

  it('PUT 200 at the bounds of the intervals', async () => {
    for (const minutes of [1, 1440]) {
      const config = { syncIntervalMinutes: minutes, heartbeatIntervalMinutes: minutes };
      expect((await admin.put(path(), config)).body).toEqual(config);
    }
  });

  it.each([
    [
      { syncIntervalMinutes: 0.9, heartbeatIntervalMinutes: 1440.1 },
      ['/syncIntervalMinutes', '/heartbeatIntervalMinutes'],
    ],
    [
      { syncIntervalMinutes: '5', heartbeatIntervalMinutes: null },
      ['/syncIntervalMinutes', '/heartbeatIntervalMinutes'],
    ],
    [
      { cachePolicy: { maxSizeGB: 0, retentionDays: -1 } },
      ['/cachePolicy/maxSizeGB', '/cachePolicy/retentionDays'],
    ],
    [{ cachePolicy: [] }, ['/cachePolicy']],
    [{ cachePolicy: null }, ['/cachePolicy']],
    [[], ['']],
    ['null', ['']],
  ])('PUT 400 for %j, and the stored config stays', async (config, paths) => {
    await admin.put(path(), { syncIntervalMinutes: 8 });
    expectInvalid(await admin.put(path(), config), ...paths);
    expect((await admin.get(path())).body).toEqual({ syncIntervalMinutes: 8 });
  });

  it('PUT 200 with 16 KiB, 413 with one byte more', async () => {
    const config = (bytes: number) => `{"pad":"${'x'.repeat(bytes - 10)}"}`;
    expect(config(16_384)).toHaveLength(16_384);
    expect((await admin.put(path(), config(16_384))).status).toBe(200);
    await admin.put(path(), { a: 1 });
    expectProblem(await admin.put(path(), config(16_385)), 'body_too_large');
    expect((await admin.get(path())).body).toEqual({ a: 1 });
  });

  it('PUT 200 counts 16 KiB in bytes, not characters', async () => {
    expectProblem(await admin.put(path(), `{"pad":"${'€'.repeat(6000)}"}`), 'body_too_large');
  });

  it('GET 404 config_not_found when none is stored', async () =>
    expectProblem(await admin.get(path()), 'config_not_found'));

  it('DELETE 204, even when none is stored', async () => {
    await admin.put(path(), { syncIntervalMinutes: 8 });
    for (let times = 0; times < 2; times++)
      expect(await admin.delete(path())).toMatchObject({ status: 204, text: '' });
    expectProblem(await admin.get(path()), 'config_not_found');
    expect((await tv.send('GET', 'config')).headers.get('x-config-source')).toBe('default');
  });

  it('404 for an unknown owner, whatever the body', async () => {
    for (const id of [unknownId, 'x']) {
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const body = method === 'PUT' ? { body: { syncIntervalMinutes: -1 } } : {};
        expectProblem(
          await admin.send(method, `/v1/${level}s/${id}/config`, body),
          `${level}_not_found`,
        );
      }
    }
  });
});

describe('the levels together', () => {
  it('are merged into the default, the most specific last', async () => {
    await admin.put(`/v1/tenants/${tv.tenantId}/config`, {
      syncIntervalMinutes: 10,
      heartbeatIntervalMinutes: 10,
      list: [1, 2, 3],
    });
    await admin.put(`/v1/venues/${tv.venueId}/config`, {
      heartbeatIntervalMinutes: 20,
      cachePolicy: { maxSizeGB: 20 },
      list: [4],
    });
    await admin.put(`/v1/screens/${tv.screenId}/config`, { cachePolicy: { retentionDays: 30 } });
    const { headers, body } = await tv.send('GET', 'config');
    expect(headers.get('x-config-source')).toBe('screen');
    const cachePolicy = { maxSizeGB: 20, retentionDays: 30 };
    expect(body).toEqual({
      syncIntervalMinutes: 10,
      heartbeatIntervalMinutes: 20,
      cachePolicy,
      list: [4],
    });
    await admin.delete(`/v1/tenants/${tv.tenantId}/config`);
  });
});

describe('/v1/tenants/:id/config', () => {
  it('is for operators of the tenant; 404 for other tenants', async () => {
    const tenants = (await admin.get('/v1/tenants')).body.items;
    const inside = admin.in(tenants[0].id);
    const operator = await inside.as('operator');
    const viewer = await inside.as('viewer');
    const other = await admin.tenant('Other');
    const own = `/v1/tenants/${tv.tenantId}/config`;
    expect((await operator.put(own, { syncIntervalMinutes: 6 })).status).toBe(200);
    expect((await viewer.get(own)).body).toEqual({ syncIntervalMinutes: 6 });
    expectProblem(await viewer.delete(own), 'insufficient_role');
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const body = method === 'PUT' ? { body: {} } : {};
      expectProblem(
        await operator.send(method, `/v1/tenants/${other.id}/config`, body),
        'tenant_not_found',
      );
    }
    expectProblem(await inside.get(`/v1/tenants/${other.id}/config`), 'config_not_found');
  });
});
