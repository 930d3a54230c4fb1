import { beforeAll, describe, expect, it } from 'vitest';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import { openStore } from '../../../src/store/open.ts';
import type { Reader } from '../../../src/store/store.ts';
import { mounted } from '../../support/mounted.ts';
import { expectProblem } from '../../support/problem.ts';
import { type BoundTv, startService, type TestService } from '../../support/service.ts';

const defaults = {
  syncIntervalMinutes: 5,
  heartbeatIntervalMinutes: 1,
  cachePolicy: { maxSizeGB: 10, retentionDays: 7 },
};

let service: TestService;
beforeAll(async () => {
  service = await startService();
});

type Level = 'screen' | 'venue' | 'tenant';
const owner = (tv: BoundTv, level: Level) =>
  ({ screen: tv.screenId, venue: tv.venueId, tenant: tv.tenantId })[level];
const path = (tv: BoundTv, level: Level) => `/v1/${level}s/${owner(tv, level)}/config`;
const store = async (tv: BoundTv, level: Level, config: Record<string, unknown>) => {
  const answer = await service.manage('PUT', path(tv, level), config);
  expect(answer.status, answer.text).toBe(200);
};

describe('GET /devices/:id/config', () => {
  it('records the request on the device', async () => {
    const tv = await service.tv();
    service.clock.advance(1234);
    await tv.send('GET', 'config');
    const now = new Date(service.clock.now()).toISOString();
    expect((await service.manage('GET', `/v1/devices/${tv.deviceId}`)).body).toMatchObject({
      lastConfigAt: now,
      lastSeenAt: now,
      lastPlaylistAt: null,
    });
  });

  it('200 with all levels merged, and the most specific stored level in X-Config-Source', async () => {
    // A separate service, because the tenant's config reaches every screen.
    const alone = await startService();
    const tv = await alone.tv();
    const put = (level: Level, config: unknown) => alone.manage('PUT', path(tv, level), config);
    const seen = async () => {
      const { body, headers } = await tv.send('GET', 'config');
      return [headers.get('x-config-source'), body];
    };
    await put('tenant', { syncIntervalMinutes: 10, app: { theme: { dark: true, hue: 1 } } });
    const ofTenant = { ...defaults, syncIntervalMinutes: 10 };
    expect(await seen()).toEqual([
      'tenant',
      { ...ofTenant, app: { theme: { dark: true, hue: 1 } } },
    ]);
    await put('screen', { cachePolicy: { retentionDays: 3 }, app: { theme: { hue: 3 } } });
    await put('venue', { syncIntervalMinutes: 20, app: { theme: { dark: null, hue: 2 } } });
    expect(await seen()).toEqual([
      'screen',
      {
        ...defaults,
        syncIntervalMinutes: 20,
        cachePolicy: { maxSizeGB: 10, retentionDays: 3 },
        app: { theme: { dark: null, hue: 3 } },
      },
    ]);
    await alone.manage('DELETE', path(tv, 'screen'));
    expect((await seen())[0]).toBe('venue');
    await alone.manage('DELETE', path(tv, 'venue'));
    await alone.manage('DELETE', path(tv, 'tenant'));
    expect(await seen()).toEqual(['default', defaults]);
  });

  it('200 with X-Config-Source: screen for an empty stored config', async () => {
    const tv = await service.tv();
    await store(tv, 'screen', {});
    const answer = await tv.send('GET', 'config');
    expect([answer.headers.get('x-config-source'), answer.body]).toEqual(['screen', defaults]);
  });

  it('200 without the configs of other venues and screens', async () => {
    const tv = await service.tv();
    const other = await service.tv();
    await store(other, 'screen', { syncIntervalMinutes: 99 });
    await store(other, 'venue', { syncIntervalMinutes: 98 });
    expect((await tv.send('GET', 'config')).body).toEqual(defaults);
  });

  it('200 with members named like those of Object.prototype', async () => {
    const tv = await service.tv();
    const own = { constructor: { a: 1 }, toString: { a: 1 }, hasOwnProperty: { a: 1 } };
    await store(tv, 'screen', own);
    expect((await tv.send('GET', 'config')).body).toEqual({ ...defaults, ...own });
  });

  it('304 with the same headers for its ETag; 200 when the config changes, and 304 when it changes back', async () => {
    const tv = await service.tv();
    await store(tv, 'screen', { syncIntervalMinutes: 7 });
    const first = await tv.send('GET', 'config');
    const again = () =>
      tv.send('GET', 'config', { headers: { 'if-none-match': first.headers.get('etag') ?? '' } });
    const answer = await again();
    expect(answer.status).toBe(304);
    expect(answer.text).toBe('');
    for (const name of ['etag', 'x-config-source', 'cache-control'])
      expect(answer.headers.get(name), name).toBe(first.headers.get(name));
    await store(tv, 'screen', { syncIntervalMinutes: 8 });
    const changed = await again();
    expect([changed.status, changed.body.syncIntervalMinutes]).toEqual([200, 8]);
    await store(tv, 'screen', { syncIntervalMinutes: 7 });
    expect((await again()).status).toBe(304);
  });

  it('500 config_fetch_failed when it cannot be read', async () => {
    const opened = await openStore('memory:');
    let failing = false;
    const get = (async (...args: Parameters<Reader['get']>) => {
      if (failing && args[0] === 'configs') throw new Error('planted');
      return opened.read.get(...args);
    }) as Reader['get'];
    const alone = await mounted({
      store: decorateStore(opened, { read: decorateStore(opened.read, { get }) }),
    });
    const tv = await alone.tv();
    failing = true;
    const answer = await alone.send('GET', `/devices/${tv.screenId}/config`, { key: tv.apiKey });
    expectProblem(answer, 500, 'config_fetch_failed');
    expect(answer.text).not.toContain('planted');
  });
});
