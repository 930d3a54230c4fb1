// Preconditions of changes (docs/protocol.md §5.10): two callers never overwrite each other
// unseen.
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { expectProblem, item, type Manager, manager } from '../../support/service/management.ts';
import { adminToken, startService, type TestService } from '../../support/service/service.ts';

const playlist = (name: string) => ({
  items: [item({ creativeUrl: `https://media.example.com/${name}.mp4` })],
});

const takeover = (name: string) => ({
  ...playlist(name),
  until: Math.floor(service.clock.now() / 1000) + 3600,
});

let service: TestService;
let admin: Manager;
let venueId: string;
let count = 0;

beforeAll(async () => {
  service = await startService();
  // Platform tokens name their tenant, because a test creates others.
  const { tenantId } = (await manager(service).get('/v1/me')).body;
  admin = manager(service, adminToken, tenantId);
  service.tenantId = tenantId;
  venueId = (await admin.venue('Revisions')).id;
});

const newScreen = () => admin.screen(venueId, `Screen ${++count}`);
const send = (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
  admin.send(method, path, { headers, ...(body === undefined ? {} : { body }) });
const etagOf = async (path: string) => {
  const answer = await admin.get(path);
  expect(answer.status, answer.text).toBe(200);
  return answer.headers.get('etag') ?? '';
};

/** One changeable record of each kind, and two changes of it. */
const kinds: Record<
  string,
  { make(): Promise<string>; method: string; change(name: string): unknown }
> = {
  tenant: {
    make: async () => `/v1/tenants/${(await manager(service).tenant(`Tenant ${++count}`)).id}`,
    method: 'PATCH',
    change: (name) => ({ name: `Tenant ${name} ${count}` }),
  },
  venue: {
    make: async () => `/v1/venues/${(await admin.venue(`Venue ${++count}`)).id}`,
    method: 'PATCH',
    change: (name) => ({ labels: { name } }),
  },
  screen: {
    make: async () => `/v1/screens/${(await newScreen()).id}`,
    method: 'PATCH',
    change: (name) => ({ labels: { name } }),
  },
  playlist: {
    async make() {
      const path = `/v1/screens/${(await newScreen()).id}/playlist`;
      await admin.put(path, playlist('first'));
      return path;
    },
    method: 'PUT',
    change: playlist,
  },
  takeover: {
    async make() {
      const path = `/v1/screens/${(await newScreen()).id}/takeover`;
      await admin.put(path, takeover('first'));
      return path;
    },
    method: 'PUT',
    change: takeover,
  },
  config: {
    async make() {
      const path = `/v1/screens/${(await newScreen()).id}/config`;
      await admin.put(path, { syncIntervalMinutes: 7, nested: { b: 1, a: 2 } });
      return path;
    },
    method: 'PUT',
    change: (name) => ({ syncIntervalMinutes: 9, name }),
  },
};

describe.each(Object.entries(kinds))('a %s', (_, { make, method, change }) => {
  it('has one strong ETag in the answers to a change and to a read', async () => {
    const path = await make();
    const etag = await etagOf(path);
    expect(etag).toMatch(/^"[\w.-]+"$/);
    const changed = await send(method, path, { 'If-Match': etag }, change('one'));
    expect(changed.status, changed.text).toBe(200);
    expect(changed.headers.get('etag')).not.toBe(etag);
    expect(await etagOf(path)).toBe(changed.headers.get('etag'));
  });

  it('412 for a change of a former revision or a weak ETag, and keeps the other change', async () => {
    const path = await make();
    const etag = await etagOf(path);
    await send(method, path, {}, change('theirs'));
    const theirs = await admin.get(path);
    for (const former of [etag, `W/${theirs.headers.get('etag')}`])
      expectProblem(
        await send(method, path, { 'If-Match': former }, change('ours')),
        'precondition_failed',
      );
    expect((await admin.get(path)).text).toBe(theirs.text);
  });

  it('412 for a deletion of another revision, 204 for that of the current one', async () => {
    const path = await make();
    const etag = await etagOf(path);
    expectProblem(await send('DELETE', path, { 'If-Match': '"other"' }), 'precondition_failed');
    expect(await etagOf(path)).toBe(etag);
    expect((await send('DELETE', path, { 'If-Match': etag })).status).toBe(204);
  });
});

it.each(['playlist', 'takeover', 'config'])(
  'PUT of a %s with If-None-Match: * creates it only where there is none',
  async (kind) => {
    const path = `/v1/screens/${(await newScreen()).id}/${kind}`;
    const { change } = kinds[kind]!;
    const put = (headers: Record<string, string>, name: string) =>
      send('PUT', path, headers, change(name));
    expectProblem(await put({ 'If-Match': '*' }, 'none'), 'precondition_failed');
    expect((await put({ 'If-None-Match': '*' }, 'first')).status).toBe(200);
    const first = await admin.get(path);
    for (const condition of ['*', '*, *'])
      expectProblem(await put({ 'If-None-Match': condition }, 'second'), 'precondition_failed');
    expect((await admin.get(path)).text).toBe(first.text);
  },
);

it('counts a takeover that has ended as none', async () => {
  const path = await kinds.takeover!.make();
  const etag = await etagOf(path);
  service.clock.advance(3_600_000);
  expectProblem(await send('DELETE', path, { 'If-Match': etag }), 'precondition_failed');
  const again = await send('PUT', path, { 'If-None-Match': '*' }, takeover('second'));
  expect(again.status, again.text).toBe(200);
});

it('keeps the ETag of a screen when its state changes, and gives no 304 for it', async () => {
  const { id } = await newScreen();
  const etag = await etagOf(`/v1/screens/${id}`);
  await service.tv(id);
  const read = await send('GET', `/v1/screens/${id}`, { 'If-None-Match': etag });
  expect(read.status).toBe(200);
  expect(read.body.state).toBe('active');
  expect(read.headers.get('etag')).toBe(etag);
});

it('has an ETag for a token, and 412 for the deletion of another revision', async () => {
  const { body } = await admin.post('/v1/tokens', { name: `Token ${++count}`, role: 'viewer' });
  const path = `/v1/tokens/${body.id}`;
  const etag = await etagOf(path);
  expectProblem(await send('DELETE', path, { 'If-Match': '"other"' }), 'precondition_failed');
  expect((await send('DELETE', path, { 'If-Match': etag })).status).toBe(204);
});

it('loses nothing of two operators who change one record 30 times at once', async () => {
  const { id } = await newScreen();
  const path = `/v1/screens/${id}`;
  const operator = async (name: string) => {
    for (let n = 0; n < 15; ) {
      const { body, headers } = await admin.get(path);
      const plusOne = (label: string) => String(Number(body.labels[label] ?? 0) + 1);
      const labels = { ...body.labels, [name]: plusOne(name), sum: plusOne('sum') };
      const ifMatch = { 'If-Match': headers.get('etag') ?? '' };
      const answer = await send('PATCH', path, ifMatch, { labels });
      if (answer.status === 200) n++;
      else expectProblem(answer, 'precondition_failed');
    }
  };
  await Promise.all([operator('one'), operator('other')]);
  expect((await admin.get(path)).body.labels).toEqual({ one: '15', other: '15', sum: '30' });
});

it('gives a playlist another ETag than a lost one with the same version, after a restore', async () => {
  const folder = await temporaryFolder();
  const dataOf = (name: string) => ({ store: join(folder, name) });
  const valid = { validUntil: 4_102_444_800 };
  const first = await startService(dataOf('data'));
  const tv = await first.tv();
  const path = `/v1/screens/${tv.screenId}/playlist`;
  await first.close();
  await cp(join(folder, 'data'), join(folder, 'backup'), { recursive: true });

  const lost = await startService(dataOf('data'));
  const published = await lost.manage('PUT', path, { ...playlist('lost'), ...valid });
  const device = { key: tv.apiKey };
  const served = await lost.send('GET', `/devices/${tv.screenId}/playlist`, device);
  await lost.close();

  const restored = await startService(dataOf('backup'));
  restored.clock.advance(1000);
  const version = published.body.version;
  const next = await restored.manage('PUT', path, { ...playlist('next'), ...valid });
  expect(next.body.version).toBe(version);
  const headers = { 'If-None-Match': served.headers.get('etag') ?? '' };
  const again = await restored.send('GET', `/devices/${tv.screenId}/playlist`, {
    ...device,
    headers,
  });
  expect(again.status).toBe(200);
  expect(again.text).toContain('next.mp4');
  const overwrite = await manager(restored).send('PUT', path, {
    headers: { 'If-Match': published.headers.get('etag') ?? '' },
    body: { ...playlist('unseen'), ...valid },
  });
  expectProblem(overwrite, 'precondition_failed');
  await restored.close();
});
