import { beforeAll, describe, expect, it } from 'vitest';
import type { StoredConfig } from '../../../src/domain/records/rows.ts';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import { openStore } from '../../../src/store/location/open.ts';
import type { Reader } from '../../../src/store/store.ts';
import { mounted } from '../../support/service/mounted.ts';
import { expectProblem } from '../../support/service/problem.ts';
import { type BoundTv, startService, type TestService } from '../../support/service/service.ts';

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

  it('304 for a former ETag when the config changes back', async () => {
    const tv = await service.tv();
    await store(tv, 'screen', { syncIntervalMinutes: 7 });
    const { headers } = await tv.send('GET', 'config');
    await store(tv, 'screen', { syncIntervalMinutes: 8 });
    const again = () =>
      tv.send('GET', 'config', { headers: { 'if-none-match': headers.get('etag') ?? '' } });
    expect((await again()).body).toEqual({ ...defaults, syncIntervalMinutes: 8 });
    await store(tv, 'screen', { syncIntervalMinutes: 7 });
    expect((await again()).status).toBe(304);
  });

  it('delivers a player setting that version 0.1.0 stored, and refuses it from now on', async () => {
    const store = await openStore('memory:');
    const alone = await mounted({ store });
    const tv = await alone.tv();
    const put = (player: unknown) =>
      alone.manage('PUT', `/v1/screens/${tv.screenId}/config`, { player });
    await put({ fit: 'cover', ours: 1 });
    const delivered = async () =>
      (await alone.send('GET', `/devices/${tv.screenId}/config`, { key: tv.apiKey })).body.player;
    await store.write(async (tx) => {
      const row = (await tx.get('configs', `screen/${tv.screenId}`)) as StoredConfig;
      tx.put('configs', { ...row, config: { player: { fit: 'coverr' } } });
    });
    expect(await delivered()).toEqual({ fit: 'coverr' });
    const refused = await put({ fit: 'coverr' });
    expect(refused).toMatchObject({
      status: 400,
      code: 'invalid_request',
      errors: [{ path: '/player/fit', message: 'must be one of contain, cover, fill' }],
    });
    expect((await put('cover')).status).toBe(400);
    expect(await delivered()).toEqual({ fit: 'coverr' });
    expect((await put({ fit: 'fill', ours: 2 })).player).toEqual({ fit: 'fill', ours: 2 });
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
