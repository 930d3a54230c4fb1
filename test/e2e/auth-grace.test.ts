// The whole service on a database that goes away, with copies of playlists and configs in a folder.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { impression, item } from '../support/content.ts';
import { type DatabaseProxy, databaseProxy } from '../support/database-proxy.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { emptyDatabase, freshDatabase } from '../support/postgres.ts';
import { expectProblem } from '../support/problem.ts';
import { type BoundTv, startService, type TestService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

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
const revoke = () => service.manage('POST', `/v1/devices/${tv.deviceId}/revoke`);

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

  it('200 with playlist and config from the object store, as before, for a key that it has verified', async () => {
    await setConfig('tenants', tv.tenantId, {
      syncIntervalMinutes: 30,
      cachePolicy: { maxSizeGB: 3 },
    });
    await setConfig('venues', tv.venueId, { heartbeatIntervalMinutes: 9, lobby: true });
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
  });

  it('the config as it was last set, or unset', async () => {
    await setConfig('screens', tv.screenId, { syncIntervalMinutes: 11 });
    await setConfig('venues', tv.venueId, { syncIntervalMinutes: 12 });
    await fetchConfig();
    await copied();
    await service.manage('DELETE', `/v1/screens/${tv.screenId}/config`);
    await setConfig('venues', tv.venueId, { syncIntervalMinutes: 13 });
    await databaseGoes();
    const { headers, body } = await fetchConfig();
    expect([headers.get('x-config-source'), body.syncIntervalMinutes]).toEqual(['venue', 13]);
  });

  it('the default config where none is stored', async () => {
    await fetchConfig();
    await databaseGoes();
    const { status, headers, body } = await fetchConfig();
    expect([status, headers.get('x-config-source'), body.syncIntervalMinutes]).toEqual([
      200,
      'default',
      5,
    ]);
  });

  it('500 config_fetch_failed when the copy is damaged, and the playlist all the same', async () => {
    await setConfig('screens', tv.screenId, { syncIntervalMinutes: 11 });
    await fetchConfig();
    await databaseGoes();
    await writeFile(
      join(folder, tv.tenantId, 'configs', 'screen', `${tv.screenId}.json`),
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

  it('401 for a key of another screen, 503 for one that it has not verified', async () => {
    const other = await service.tv();
    await fetchConfig();
    await databaseGoes();
    expectProblem(
      await service.send('GET', `/devices/${other.screenId}/playlist`, { key: tv.apiKey }),
      401,
      'device_key_mismatch',
    );
    expectProblem(await other.send('GET', 'playlist'), 503, 'unavailable');
  });

  it('503 once the grace is over, and not before', async () => {
    await fetchConfig();
    await databaseGoes();
    service.clock.advance(graceSeconds * 1000);
    expect((await fetchPlaylist()).status).toBe(200);
    service.clock.advance(1);
    for (const answer of [await fetchPlaylist(), await fetchConfig()])
      expectProblem(answer, 503, 'unavailable');
  });

  it('503 for a key that it has revoked itself, and for one whose screen it has deleted', async () => {
    const other = await service.tv();
    for (const one of [tv, other]) expect((await one.send('GET', 'config')).status).toBe(200);
    await revoke();
    expect(
      (await service.manage('DELETE', `/v1/screens/${other.screenId}?force=true`)).status,
    ).toBe(204);
    await databaseGoes();
    for (const one of [tv, other])
      expectProblem(await one.send('GET', 'playlist'), 503, 'unavailable');
  });

  it('503 for a key whose revocation may have been committed or not', async () => {
    await fetchConfig();
    await copied();
    proxy.cutAfter('"suspended"');
    expectProblem(await revoke(), 503, 'unavailable');
    proxy.goAway();
    expectProblem(await fetchPlaylist(), 503, 'unavailable');
  });

  it('503 for a key that it has refused since; 200 for one that was revoked elsewhere, until the grace is over', async () => {
    const elsewhere = await startService({ store: database, clock: service.clock });
    const other = await service.tv();
    for (const one of [tv, other]) expect((await one.send('GET', 'config')).status).toBe(200);
    for (const { deviceId } of [tv, other])
      await elsewhere.manage('POST', `/v1/devices/${deviceId}/revoke`);
    expectProblem(await fetchPlaylist(), 401, 'device_key_revoked');
    await databaseGoes();
    expectProblem(await fetchPlaylist(), 503, 'unavailable');
    expect((await other.send('GET', 'config')).status).toBe(200);
    service.clock.advance(graceSeconds * 1000 + 1);
    expectProblem(await other.send('GET', 'config'), 503, 'unavailable');
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
