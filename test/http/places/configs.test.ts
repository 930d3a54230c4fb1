import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  expectInvalid,
  expectProblem,
  type Manager,
  manager,
} from '../../support/service/management.ts';
import { type BoundTv, startService, type TestService } from '../../support/service/service.ts';

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

  it('PUT 400 for an invalid config, and the stored config stays', async () => {
    await admin.put(path(), { syncIntervalMinutes: 8 });
    expectInvalid(
      await admin.put(path(), { syncIntervalMinutes: '5', cachePolicy: { retentionDays: -1 } }),
      '/syncIntervalMinutes',
      '/cachePolicy/retentionDays',
    );
    expect((await admin.get(path())).body).toEqual({ syncIntervalMinutes: 8 });
  });

  it('PUT 200 with 16 KiB, 413 with one byte more', async () => {
    const config = (bytes: number) => `{"pad":"${'x'.repeat(bytes - 10)}"}`;
    expect((await admin.put(path(), config(16_384))).status).toBe(200);
    await admin.put(path(), { a: 1 });
    for (const large of [config(16_385), `{"pad":"${'€'.repeat(6000)}"}`])
      expectProblem(await admin.put(path(), large), 'body_too_large');
    expect((await admin.get(path())).body).toEqual({ a: 1 });
  });

  it('DELETE 204, even when none is stored', async () => {
    await admin.put(path(), { syncIntervalMinutes: 8 });
    for (let times = 0; times < 2; times++)
      expect(await admin.delete(path())).toMatchObject({ status: 204, text: '' });
    expectProblem(await admin.get(path()), 'config_not_found');
    expect((await tv.send('GET', 'config')).headers.get('x-config-source')).toBe('default');
  });
});
