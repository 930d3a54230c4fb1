// The whole service on a database that goes away, with copies of playlists and configs in a folder.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { type DatabaseProxy, databaseProxy } from '../support/postgres/database-proxy.ts';
import { emptyDatabase, freshDatabase } from '../support/postgres/postgres.ts';
import { ManualClock } from '../support/runtime/manual-clock.ts';
import { impression, item } from '../support/service/content.ts';
import { expectProblem } from '../support/service/problem.ts';
import { type BoundTv, startService, type TestService } from '../support/service/service.ts';

const graceSeconds = 60;
let database: string;
let proxy: DatabaseProxy;
let service: TestService;
let tv: BoundTv;
let folder: string;
beforeAll(async () => {
  database = await freshDatabase();
});

async function start(authGraceSeconds?: number): Promise<void> {
  await emptyDatabase(database);
  proxy = await databaseProxy(database);
  folder = await temporaryFolder();
  const objectStore = pathToFileURL(folder).href;
  const grace = authGraceSeconds === undefined ? {} : { authGraceSeconds };
  service = await startService({
    store: proxy.url,
    objectStore,
    clock: new ManualClock(),
    ...grace,
  });
  tv = await service.tv();
  await service.manage('PUT', `/v1/screens/${tv.screenId}/playlist`, { items: [item()] });
}

const fetchConfig = (headers: Record<string, string> = {}) => tv.send('GET', 'config', { headers });
const fetchPlaylist = () => tv.send('GET', 'playlist');
const setConfig = (level: string, id: string, config: object) =>
  service.manage('PUT', `/v1/${level}/${id}/config`, config);

/** Until all copies are made. */
async function copied(): Promise<void> {
  const pending = async () =>
    /^signage_mirror_pending .*$/m.exec((await service.send('GET', '/metrics')).text)?.[0];
  await expect.poll(pending, { interval: 20, timeout: 10_000 }).toBe('signage_mirror_pending 0');
}

/** The database goes, and the service has noticed. */
async function databaseGoes(): Promise<void> {
  await copied();
  proxy.goAway();
  await expect
    .poll(async () => (await service.send('GET', '/readyz')).status, { timeout: 10_000 })
    .toBe(503);
}

describe('a service with a grace for device keys, while its database is away', () => {
  beforeEach(() => start(graceSeconds));

  it('200 with playlist and config from the object store, as before, for a key that it has verified; 500 when a copy is damaged', async () => {
    await setConfig('tenants', tv.tenantId, {
      syncIntervalMinutes: 30,
      cachePolicy: { maxSizeGB: 3 },
    });
    await setConfig('venues', tv.venueId, { heartbeatIntervalMinutes: 9, lobby: true });
    await setConfig('screens', tv.screenId, { syncIntervalMinutes: 11 });
    await fetchConfig();
    await service.manage('DELETE', `/v1/screens/${tv.screenId}/config`);
    const [playlist, config] = [await fetchPlaylist(), await fetchConfig()];
    await databaseGoes();
    const [copy, configCopy] = [await fetchPlaylist(), await fetchConfig()];
    expect([copy.status, copy.headers.get('x-source'), copy.text]).toEqual([
      200,
      'object-store',
      playlist.text,
    ]);
    expect(copy.headers.get('etag')).toBe(playlist.headers.get('etag'));
    expect([configCopy.status, configCopy.headers.get('x-config-source'), configCopy.text]).toEqual(
      [200, 'venue', config.text],
    );
    expect(configCopy.body).toMatchObject({
      syncIntervalMinutes: 30,
      heartbeatIntervalMinutes: 9,
      lobby: true,
    });
    expect((await fetchConfig({ 'if-none-match': config.headers.get('etag') ?? '' })).status).toBe(
      304,
    );
    await writeFile(
      join(folder, tv.tenantId, 'configs', 'venue', `${tv.venueId}.json`),
      '{"format":1',
    );
    expectProblem(await fetchConfig(), 500, 'config_fetch_failed');
    expect((await fetchPlaylist()).status).toBe(200);
  });

  it('503 for events, rotation, registration and managers: what cannot be stored', async () => {
    const { code } = await service.code();
    await fetchConfig();
    await databaseGoes();
    const rotation = { key: tv.apiKey, headers: { 'idempotency-key': 'a-secret-of-the-tv' } };
    const answers = [
      await tv.send('POST', 'events', { body: [impression()] }),
      await service.send('POST', `/devices/${tv.screenId}/keys/rotate`, rotation),
      await service.register(code),
      await service.manage('GET', '/v1/screens'),
    ];
    for (const answer of answers) {
      expectProblem(answer, 503, 'unavailable');
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    }
    proxy.comeBack();
    await expect
      .poll(async () => {
        // Readiness is looked at again after 250 ms.
        service.clock.advance(250);
        return (await service.send('GET', '/readyz')).status;
      })
      .toBe(200);
    expect((await service.manage('GET', '/v1/events')).body.items).toEqual([]);
    expect((await tv.send('POST', 'events', { body: [impression()] })).status).toBe(202);
    expect((await fetchPlaylist()).headers.get('x-source')).toBe('store');
  });

  it('503 once the grace is over, and before for a key that it has not verified or has revoked', async () => {
    const [unverified, revoked] = [await service.tv(), await service.tv()];
    for (const one of [tv, revoked]) expect((await one.send('GET', 'config')).status).toBe(200);
    await service.manage('POST', `/v1/devices/${revoked.deviceId}/revoke`);
    await databaseGoes();
    service.clock.advance(graceSeconds * 1000);
    expect((await fetchConfig()).headers.get('x-config-source')).toBe('default');
    for (const one of [unverified, revoked])
      expectProblem(await one.send('GET', 'playlist'), 503, 'unavailable');
    service.clock.advance(1);
    for (const answer of [await fetchPlaylist(), await fetchConfig()])
      expectProblem(answer, 503, 'unavailable');
  });
});

describe('a service without a grace, while its database is away', () => {
  it('503 for everything', async () => {
    await start();
    for (const answer of [await fetchPlaylist(), await fetchConfig()])
      expect(answer.status).toBe(200);
    await databaseGoes();
    for (const answer of [await fetchPlaylist(), await fetchConfig()])
      expectProblem(answer, 503, 'unavailable');
  });
});
