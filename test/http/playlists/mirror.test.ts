import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  auditOf,
  expectInvalid,
  expectProblem,
  item,
  type Manager,
  manager,
  unknownId,
  walk,
} from '../../support/management.ts';
import { startService, type TestService } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let folder: string;
let service: TestService;
let admin: Manager;
let tenantId: string;
let venueId: string;
let screens: string[];

const playlist = () => ({ items: [item({ duration: Math.random() + 1 })] });
const pathOf = (screenId: string) => join(folder, tenantId, 'playlists', `${screenId}.json`);
const read = async (screenId: string) => JSON.parse(await readFile(pathOf(screenId), 'utf8'));
const publish = (screenId: string) => admin.put(`/v1/screens/${screenId}/playlist`, playlist());
const list = async (query = '') => (await admin.get(`/v1/mirror?limit=200${query}`)).body.items;
const stateOf = async (screenId: string) =>
  (await list()).find((one: { screenId: string }) => one.screenId === screenId)?.state;

/** Waits until no copies are pending. */
async function settled(): Promise<void> {
  await expect
    .poll(
      async () =>
        (await list()).filter((one: { queuedAt: string | null }) => one.queuedAt !== null),
      { interval: 5 },
    )
    .toEqual([]);
}

beforeEach(async () => {
  folder = join(await temporaryFolder(), 'mirror');
  service = await startService({ objectStore: pathToFileURL(folder).href });
  admin = manager(service);
  tenantId = (await admin.get('/v1/me')).body.tenantId;
  venueId = (await admin.venue('Lobby')).id;
  screens = [];
  for (const name of ['A', 'B', 'C', 'D', 'E', 'F'])
    screens.push((await admin.screen(venueId, name)).id);
});

describe('GET /v1/mirror', () => {
  it('200 with the screens that have a playlist or a copy, and their states', async () => {
    const [a, b] = screens as [string, string];
    await publish(a);
    await publish(a);
    await publish(b);
    await admin.delete(`/v1/screens/${b}/playlist`);
    await settled();
    expect((await admin.get('/v1/mirror')).body).toEqual({
      items: [
        {
          screenId: a,
          venueId,
          screenName: 'A',
          version: 2,
          copiedVersion: 2,
          state: 'ok',
          queuedAt: null,
        },
        {
          screenId: b,
          venueId,
          screenName: 'B',
          version: 1,
          copiedVersion: 1,
          state: 'tombstone',
          queuedAt: null,
        },
      ],
      nextCursor: null,
    });
  });

  it('reports every state of a copy', async () => {
    for (const id of screens) await publish(id);
    await settled();
    const [good, missing, stale, newer, damaged, changed] = screens as [
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    const older = await read(stale);
    await publish(stale);
    await settled();
    await rm(pathOf(missing));
    await writeFile(pathOf(stale), JSON.stringify(older));
    await writeFile(pathOf(newer), JSON.stringify({ ...(await read(newer)), version: 9 }));
    await writeFile(pathOf(damaged), '{');
    await writeFile(
      pathOf(changed),
      JSON.stringify({ ...(await read(changed)), items: [item({ duration: 1 })] }),
    );
    const states = Object.fromEntries(
      (await list()).map((one: Record<string, unknown>) => [
        one.screenId,
        [one.state, one.version, one.copiedVersion],
      ]),
    );
    expect(states).toEqual({
      [good]: ['ok', 1, 1],
      [missing]: ['missing', 1, null],
      [stale]: ['stale', 2, 1],
      [newer]: ['newer', 1, 9],
      [damaged]: ['damaged', 1, null],
      [changed]: ['damaged', 1, 1],
    });
  });

  it('reports a withdrawal missing in the copy, and the reverse', async () => {
    const [a, b] = screens as [string, string];
    await publish(a);
    await publish(b);
    await settled();
    const before = await read(a);
    await admin.delete(`/v1/screens/${a}/playlist`);
    await settled();
    await writeFile(
      pathOf(b),
      JSON.stringify({ ...(await read(a)), screenId: b, playlistId: (await read(b)).playlistId }),
    );
    await writeFile(pathOf(a), JSON.stringify(before));
    expect([await stateOf(a), await stateOf(b)]).toEqual(['stale', 'stale']);
  });

  it('reports since when a copy has been waiting', async () => {
    // A file blocks the path of the folder.
    await writeFile(folder, '');
    await publish(screens[0]!);
    await rm(folder);
    expect(await list()).toMatchObject([
      { state: 'missing', queuedAt: '2026-11-20T12:00:00.000Z' },
    ]);
  });

  it('filters by state and venue, and pages by screen', async () => {
    for (const id of screens) await publish(id);
    const elsewhere = (await admin.venue('Bar')).id;
    const other = (await admin.screen(elsewhere, 'A')).id;
    await publish(other);
    await settled();
    await rm(pathOf(screens[3]!));
    expect((await list('&state=missing')).map((one: { screenId: string }) => one.screenId)).toEqual(
      [screens[3]],
    );
    expect(
      (await list(`&venueId=${elsewhere}`)).map((one: { screenId: string }) => one.screenId),
    ).toEqual([other]);
    expect(await list(`&venueId=${unknownId}`)).toEqual([]);
    const { items, pages } = await walk(admin, '/v1/mirror', 2);
    expect(items.map(({ screenId }) => screenId)).toEqual([...screens, other]);
    expect(pages).toBe(4);
    expect(
      (await walk(admin, '/v1/mirror?state=missing', 2)).items.map(({ screenId }) => screenId),
    ).toEqual([screens[3]]);
  });

  it('400 for an invalid filter', async () => {
    expectInvalid(await admin.get('/v1/mirror?state=good'), 'query.state');
    expectInvalid(await admin.get('/v1/mirror?venueId=x'), 'query.venueId');
    expectInvalid(await admin.get('/v1/mirror?cursor=x'), 'query.cursor');
  });

  it('shows each tenant its own screens, and a bound token those of its venues', async () => {
    await publish(screens[0]!);
    const otherTenant = (await admin.tenant('Other')).id;
    const other = admin.in(otherTenant);
    admin = admin.in(tenantId);
    const elsewhere = (await admin.venue('Bar')).id;
    await publish((await admin.screen(elsewhere, 'A')).id);
    const token = (
      await admin.post('/v1/tokens', { name: 'bound', role: 'operator', venueIds: [elsewhere] })
    ).body.token;
    await settled();
    expect((await other.get('/v1/mirror')).body.items).toEqual([]);
    expect((await manager(service, token).get('/v1/mirror')).body.items).toMatchObject([
      { venueId: elsewhere },
    ]);
    expect((await manager(service, token).get(`/v1/mirror?venueId=${venueId}`)).body.items).toEqual(
      [],
    );
  });

  it('503 unavailable when the object store does not respond, without details', async () => {
    await publish(screens[0]!);
    await settled();
    await rm(folder, { recursive: true });
    await writeFile(folder, '');
    const answer = await admin.get('/v1/mirror');
    expectProblem(answer, 'unavailable');
    expect(answer.text).not.toContain(folder);
  });

  it('409 not_supported without an object store', async () => {
    const without = manager(await startService());
    expectProblem(await without.get('/v1/mirror'), 'not_supported');
    expectProblem(await without.post('/v1/mirror/repair'), 'not_supported');
  });
});

describe('POST /v1/mirror/repair', () => {
  it('200, and repairs every copy', async () => {
    for (const id of screens) await publish(id);
    await admin.delete(`/v1/screens/${screens[5]}/playlist`);
    await settled();
    const [, missing, , newer, damaged, withdrawn] = screens as string[];
    await rm(pathOf(missing!));
    await writeFile(pathOf(newer!), JSON.stringify({ ...(await read(newer!)), version: 9 }));
    await writeFile(pathOf(damaged!), '{');
    await rm(pathOf(withdrawn!));
    const untouched = await readFile(pathOf(screens[0]!), 'utf8');
    expect(await admin.post('/v1/mirror/repair')).toMatchObject({
      status: 200,
      body: { queued: 6 },
    });
    await settled();
    expect((await list()).map((one: { state: string }) => one.state)).toEqual([
      'ok',
      'ok',
      'ok',
      'ok',
      'ok',
      'tombstone',
    ]);
    expect(await readFile(pathOf(screens[0]!), 'utf8')).toBe(untouched);
  });

  it('changes nothing when repeated', async () => {
    await publish(screens[0]!);
    for (let time = 0; time < 3; time++)
      expect((await admin.post('/v1/mirror/repair')).body).toEqual({ queued: 1 });
    await settled();
    expect(await stateOf(screens[0]!)).toBe('ok');
  });

  it('removes copies of deleted screens, and none of other tenants', async () => {
    await publish(screens[0]!);
    await settled();
    const leftover = join(folder, tenantId, 'playlists', `${unknownId}.json`);
    const foreign = join(folder, unknownId, 'playlists', `${unknownId}.json`);
    const stranger = join(folder, tenantId, 'playlists', 'README.json');
    await mkdir(join(folder, unknownId, 'playlists'), { recursive: true });
    for (const path of [leftover, foreign, stranger]) await writeFile(path, '{}');
    expect((await admin.post('/v1/mirror/repair')).body).toEqual({ queued: 2 });
    await expect
      .poll(() => readdir(join(folder, tenantId, 'playlists')), { interval: 5 })
      .toEqual([`${screens[0]}.json`, 'README.json'].toSorted());
    expect(await readFile(foreign, 'utf8')).toBe('{}');
  });

  it('repairs only the venues of a bound token', async () => {
    await publish(screens[0]!);
    const elsewhere = (await admin.venue('Bar')).id;
    await publish((await admin.screen(elsewhere, 'A')).id);
    await settled();
    const token = (
      await admin.post('/v1/tokens', { name: 'bound', role: 'operator', venueIds: [elsewhere] })
    ).body.token;
    const leftover = join(folder, tenantId, 'playlists', `${unknownId}.json`);
    await writeFile(leftover, '{}');
    expect((await manager(service, token).post('/v1/mirror/repair')).body).toEqual({ queued: 1 });
    await settled();
    expect(await readFile(leftover, 'utf8')).toBe('{}');
  });

  it('is recorded in the audit trail', async () => {
    await publish(screens[0]!);
    const entries = await auditOf(admin, () => admin.post('/v1/mirror/repair'));
    expect(entries).toMatchObject([
      {
        action: 'mirror.repair',
        subject: { kind: 'tenant', id: tenantId },
        details: { queued: 1 },
      },
    ]);
  });
});

describe('GET /metrics', () => {
  const figures = async () => {
    const { text } = await service.send('GET', '/metrics');
    return Object.fromEntries(
      [...text.matchAll(/^(signage_mirror_\w+) (\S+)$/gm)].map(([, name, value]) => [
        name,
        Number(value),
      ]),
    );
  };

  it('counts waiting copies, their age, and failures', async () => {
    expect(await figures()).toEqual({
      signage_mirror_pending: 0,
      signage_mirror_oldest_seconds: 0,
      signage_mirror_failures_total: 0,
    });
    await writeFile(folder, '');
    await publish(screens[0]!);
    await expect
      .poll(figures, { interval: 5 })
      .toMatchObject({ signage_mirror_pending: 1, signage_mirror_failures_total: 1 });
    service.clock.set(service.clock.now() + 90_000);
    expect(await figures()).toMatchObject({ signage_mirror_oldest_seconds: 90 });
  });

  it('has no mirror metrics without a mirror', async () => {
    service = await startService();
    expect(await figures()).toEqual({});
  });
});

describe('GET /readyz?verbose', () => {
  const components = async (): Promise<Record<string, unknown>[]> => {
    const { text } = await service.send('GET', '/readyz?verbose');
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  };
  const ofMirror = async () => (await components()).find(({ component }) => component === 'mirror');

  it('reports the mirror, which does not affect readiness', async () => {
    expect(await ofMirror()).toEqual({
      component: 'mirror',
      status: 'ok',
      pending: 0,
      oldest: null,
      failures: 0,
    });
    await writeFile(folder, '');
    await publish(screens[0]!);
    const failing = {
      component: 'mirror',
      status: 'failing',
      pending: 1,
      oldest: '2026-11-20T12:00:00.000Z',
      failures: 1,
    };
    await expect.poll(ofMirror, { interval: 5 }).toEqual(failing);
    expect((await service.send('GET', '/readyz')).status).toBe(200);
  });

  it('reports no mirror without one', async () => {
    service = await startService();
    expect(await ofMirror()).toBeUndefined();
  });
});
