import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import {
  auditOf,
  expectInvalid,
  expectProblem,
  item,
  type Manager,
  manager,
  unknownId,
  walk,
} from '../../support/service/management.ts';
import { startService, type TestService } from '../../support/service/service.ts';

let folder: string;
let service: TestService;
let admin: Manager;
let tenantId: string;
let venueId: string;
let screens: string[];

type Six = [string, string, string, string, string, string];

interface Copy {
  screenId: string;
  state: string;
  version: number | null;
  copiedVersion: number | null;
  queuedAt: string | null;
}

const pathOf = (screenId: string, tenant = tenantId) =>
  join(folder, tenant, 'playlists', `${screenId}.json`);
const read = async (screenId: string) => JSON.parse(await readFile(pathOf(screenId), 'utf8'));
const overwrite = (screenId: string, content: object) =>
  writeFile(pathOf(screenId), JSON.stringify(content));
const publish = (screenId: string) =>
  admin.put(`/v1/screens/${screenId}/playlist`, { items: [item({ duration: Math.random() + 1 })] });
const withdraw = (screenId: string) => admin.delete(`/v1/screens/${screenId}/playlist`);
const repair = async (caller = admin) => (await caller.post('/v1/mirror/repair')).body;
const list = async (query = '', caller = admin): Promise<Copy[]> =>
  (await caller.get(`/v1/mirror?limit=200${query}`)).body.items;
const idsOf = (copies: Copy[]) => copies.map(({ screenId }) => screenId);

/** Waits until no copies are pending. */
async function settled(): Promise<void> {
  const pending = async () => (await list()).filter(({ queuedAt }) => queuedAt !== null);
  await expect.poll(pending, { interval: 5 }).toEqual([]);
}

/** Publishes on a screen of another venue. Returns a token that is bound to that venue. */
async function elsewhere() {
  const bar = (await admin.venue('Bar')).id;
  const screenId = (await admin.screen(bar, 'A')).id;
  await publish(screenId);
  const creation = { name: 'bound', role: 'operator', venueIds: [bar] };
  const bound = manager(service, (await admin.newToken(creation)).token);
  await settled();
  return { venueId: bar, screenId, bound };
}

beforeEach(async () => {
  folder = join(await temporaryFolder(), 'mirror');
  service = await startService({ objectStore: pathToFileURL(folder).href });
  tenantId = (await manager(service).get('/v1/me')).body.tenantId;
  admin = manager(service).in(tenantId);
  venueId = (await admin.venue('Lobby')).id;
  screens = [];
  for (const name of ['A', 'B', 'C', 'D', 'E', 'F'])
    screens.push((await admin.screen(venueId, name)).id);
});

describe('GET /v1/mirror', () => {
  it('200 with the screens that have a playlist or a copy, and their states', async () => {
    const [a, b] = screens as Six;
    await publish(a);
    await publish(a);
    await publish(b);
    await withdraw(b);
    await settled();
    const shared = { venueId, queuedAt: null };
    const ofA = { screenId: a, screenName: 'A', version: 2, copiedVersion: 2, state: 'ok' };
    const ofB = { screenId: b, screenName: 'B', version: 1, copiedVersion: 1, state: 'tombstone' };
    expect((await admin.get('/v1/mirror')).body).toEqual({
      items: [
        { ...shared, ...ofA },
        { ...shared, ...ofB },
      ],
      nextCursor: null,
    });
  });

  it('reports every state of a copy, and a repair rewrites those that need it', async () => {
    for (const id of screens) await publish(id);
    await settled();
    const [good, missing, stale, newer, damaged, changed] = screens as Six;
    const older = await read(stale);
    await publish(stale);
    await settled();
    const untouched = await readFile(pathOf(good), 'utf8');
    await rm(pathOf(missing));
    await overwrite(stale, older);
    await overwrite(newer, { ...(await read(newer)), version: 9 });
    await writeFile(pathOf(damaged), '{');
    await overwrite(changed, { ...(await read(changed)), items: [item({ duration: 1 })] });
    const states = (await list()).map((one) => [
      one.screenId,
      [one.state, one.version, one.copiedVersion],
    ]);
    expect(Object.fromEntries(states)).toEqual({
      [good]: ['ok', 1, 1],
      [missing]: ['missing', 1, null],
      [stale]: ['stale', 2, 1],
      [newer]: ['newer', 1, 9],
      [damaged]: ['damaged', 1, null],
      [changed]: ['damaged', 1, 1],
    });
    expect(await repair()).toEqual({ queued: 6 });
    await settled();
    expect((await list()).map(({ state }) => state)).toEqual(Array(6).fill('ok'));
    expect(await readFile(pathOf(good), 'utf8')).toBe(untouched);
  });

  it('reports a withdrawal missing in the copy, and the reverse, and a repair rewrites both', async () => {
    const [a, b] = screens as Six;
    await publish(a);
    await publish(b);
    await settled();
    const before = await read(a);
    await withdraw(a);
    await settled();
    const { playlistId } = await read(b);
    await overwrite(b, { ...(await read(a)), screenId: b, playlistId });
    await overwrite(a, before);
    expect((await list()).map(({ state }) => state)).toEqual(['stale', 'stale']);
    expect(await repair()).toEqual({ queued: 2 });
    await settled();
    expect((await list()).map(({ state }) => state)).toEqual(['tombstone', 'ok']);
    await rm(pathOf(a));
    await repair();
    await settled();
    expect((await list()).map(({ state }) => state)).toEqual(['tombstone', 'ok']);
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
    const other = await elsewhere();
    const lost = screens[3]!;
    await rm(pathOf(lost));
    expect(idsOf(await list('&state=missing'))).toEqual([lost]);
    expect(idsOf(await list(`&venueId=${other.venueId}`))).toEqual([other.screenId]);
    expect(await list(`&venueId=${unknownId}`)).toEqual([]);
    const { items, pages } = await walk(admin, '/v1/mirror', 2);
    expect(idsOf(items)).toEqual([...screens, other.screenId]);
    expect(pages).toBe(4);
    expect(idsOf((await walk(admin, '/v1/mirror?state=missing', 2)).items)).toEqual([lost]);
  });

  it('400 for an invalid filter', async () => {
    for (const query of ['state=good', 'venueId=x', 'cursor=x'])
      expectInvalid(await admin.get(`/v1/mirror?${query}`), `query.${query.split('=')[0]}`);
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
});

it('a mirror shows and repairs for each tenant its own screens, for a bound token those of its venues', async () => {
  await publish(screens[0]!);
  const { venueId: bar, bound } = await elsewhere();
  const other = manager(service).in((await admin.tenant('Other')).id);
  expect(await list('', other)).toEqual([]);
  expect(await list('', bound)).toMatchObject([{ venueId: bar }]);
  expect(await list(`&venueId=${venueId}`, bound)).toEqual([]);
  await writeFile(pathOf(unknownId), '{}');
  expect(await repair(bound)).toEqual({ queued: 1 });
  await settled();
  expect(await readFile(pathOf(unknownId), 'utf8')).toBe('{}');
});

describe('POST /v1/mirror/repair', () => {
  it('200 as often as it is repeated, with an entry in the audit trail', async () => {
    await publish(screens[0]!);
    const details = { queued: 1 };
    const entries = await auditOf(admin, async () => {
      for (let time = 0; time < 3; time++) expect(await repair()).toEqual(details);
    });
    const subject = { kind: 'tenant', id: tenantId };
    expect(entries).toMatchObject(Array(3).fill({ action: 'mirror.repair', subject, details }));
    await settled();
    expect(await list()).toMatchObject([{ state: 'ok' }]);
  });

  it('removes copies of deleted screens, and none of other tenants', async () => {
    await publish(screens[0]!);
    await settled();
    const foreign = pathOf(unknownId, unknownId);
    await mkdir(dirname(foreign), { recursive: true });
    for (const path of [pathOf(unknownId), foreign, pathOf('README')]) await writeFile(path, '{}');
    expect(await repair()).toEqual({ queued: 2 });
    await expect
      .poll(() => readdir(dirname(pathOf('README'))), { interval: 5 })
      .toEqual([`${screens[0]}.json`, 'README.json'].toSorted());
    expect(await readFile(foreign, 'utf8')).toBe('{}');
  });
});

const figures = async () => {
  const { text } = await service.send('GET', '/metrics');
  const samples = [...text.matchAll(/^signage_mirror_(\w+) (\S+)$/gm)];
  return Object.fromEntries(samples.map(([, name, value]) => [name, Number(value)]));
};
const ofMirror = async () => {
  const { text } = await service.send('GET', '/readyz?verbose');
  const components = text.trim().split('\n');
  return components.map((line) => JSON.parse(line)).find((one) => one.component === 'mirror');
};

it('copies that wait are in the metrics and in GET /readyz?verbose, and do not affect readiness', async () => {
  const ok = { component: 'mirror', status: 'ok', pending: 0, oldest: null, failures: 0 };
  expect(await figures()).toEqual({ pending: 0, oldest_seconds: 0, failures_total: 0 });
  expect(await ofMirror()).toEqual(ok);
  await writeFile(folder, '');
  await publish(screens[0]!);
  await expect.poll(ofMirror, { interval: 5 }).toEqual({
    component: 'mirror',
    status: 'failing',
    pending: 1,
    oldest: '2026-11-20T12:00:00.000Z',
    failures: 1,
  });
  expect(await figures()).toMatchObject({ pending: 1, failures_total: 1 });
  expect((await service.send('GET', '/readyz')).status).toBe(200);
  service.clock.set(service.clock.now() + 90_000);
  expect(await figures()).toMatchObject({ oldest_seconds: 90 });
});

it('without an object store there is no mirror: 501 not_supported, and no figures', async () => {
  service = await startService();
  const without = manager(service);
  expectProblem(await without.get('/v1/mirror'), 'not_supported');
  expectProblem(await without.post('/v1/mirror/repair'), 'not_supported');
  expect(await figures()).toEqual({});
  expect(await ofMirror()).toBeUndefined();
});
