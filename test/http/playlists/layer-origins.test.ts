// Layers above all origins, and while the store fails.
import { expect, it } from 'vitest';
import { dayMs, hourMs } from '../../../src/domain/clock.ts';
import type { OnDemandPlaylists } from '../../../src/origin/origin.ts';
import { serveOn } from '../../../src/serve.ts';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { expectProblem, item, manager } from '../../support/service/management.ts';
import { someFile, upload } from '../../support/service/media.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { type FaultyStore, faultyStore } from '../../support/stores/faulty-store.ts';

const named = (name: string) => [item({ name })];

async function onFaultyStore() {
  let store!: FaultyStore;
  const open: typeof openStore = async (...options) => {
    store = faultyStore(await openStore(...options));
    return store;
  };
  const service = await startService({}, (options = {}) => serveOn(open, options));
  return { service, store };
}

async function tvWith(service: TestService) {
  const tv = await service.tv();
  const path = `/v1/screens/${tv.screenId}`;
  const now = Math.ceil(service.clock.now() / 1000);
  return {
    path,
    now,
    put: (what: string, body: unknown) => service.manage('PUT', `${path}/${what}`, body),
    async playlist() {
      const { status, headers, body } = await tv.send('GET', 'playlist');
      const { version, entryId, items } = body;
      const etag = headers.get('etag');
      return { status, version, entryId, name: items?.[0]?.name, etag };
    },
  };
}

it('an on-demand source overrides the schedule, and a takeover the source', async () => {
  let source: object | null = { items: named('source') };
  const onDemand = (async () => source) as OnDemandPlaylists;
  const service = await startService({ onDemand, onDemandTtlSeconds: 0 });
  const { path, put, playlist, now } = await tvWith(service);
  const entry = { name: 'Entry', at: now - 10, until: now + 1e6, items: named('entry') };
  await put('schedule', { entries: [entry] });
  expect(await playlist()).toMatchObject({ version: 1, entryId: null, name: 'source' });
  await put('takeover', { items: named('notice'), until: now + 60 });
  expect(await playlist()).toMatchObject({ version: 2, entryId: 'takeover', name: 'notice' });
  const explain = async () => (await service.manage('GET', `${path}/explain`)).body;
  expect(await explain()).toMatchObject({ layer: 'takeover' });
  service.clock.advance(61_000);
  expect(await playlist()).toMatchObject({ version: 3, entryId: null, name: 'source' });
  expect(await explain()).toMatchObject({ layer: 'on-demand' });
  source = { items: named('other') };
  expect(await playlist()).toMatchObject({ version: 4, name: 'other' });
  source = null;
  await playlist();
  service.clock.advance(dayMs + 1);
  await playlist();
  expect(await playlist()).toMatchObject({ version: 5, entryId: 'Entry', name: 'entry' });
});

it('what is due plays under the last version while the store cannot record a switch', async () => {
  const { service, store } = await onFaultyStore();
  const { put, playlist, now } = await tvWith(service);
  await put('playlist', { items: named('base') });
  const entry = { name: 'Entry', at: now + 60, until: now + 120, items: named('entry') };
  await put('schedule', { entries: [entry] });
  const before = await playlist();
  service.clock.advance(60_000);
  store.faultOfWrites = 'error';
  const unrecorded = await playlist();
  expect(unrecorded).toMatchObject({ version: 1, entryId: 'Entry', name: 'entry' });
  expect(unrecorded.etag).not.toBe(before.etag);
  store.faultOfWrites = 'no';
  expect(await playlist()).toMatchObject({ version: 2, entryId: 'Entry' });
});

it('layers that change before a switch to an entry is recorded play at once, without a version of the entry', async () => {
  let beforeWrite: (() => Promise<unknown>) | undefined;
  const open: typeof openStore = async (...options) => {
    const store = await openStore(...options);
    return decorateStore(store, {
      async write(change) {
        const before = beforeWrite;
        beforeWrite = undefined;
        await before?.();
        return store.write(change);
      },
    });
  };
  const service = await startService({}, (options = {}) => serveOn(open, options));
  const { put, playlist, now } = await tvWith(service);
  await put('playlist', { items: named('base') });
  const entry = { name: 'Entry', at: now + 10, until: now + 60, items: named('entry') };
  await put('schedule', { entries: [entry] });
  expect(await playlist()).toMatchObject({ version: 1, entryId: null, name: 'base' });
  service.clock.advance(10_000);
  beforeWrite = () => put('takeover', { items: named('notice'), until: now + 15 });
  expect(await playlist()).toMatchObject({ version: 2, entryId: 'takeover', name: 'notice' });
});

it('an entry without a playlist below plays while the store fails; without reads, the TV plays on', async () => {
  const { service, store } = await onFaultyStore();
  const { put, playlist, now } = await tvWith(service);
  const entries = [1, 2].map((n) => ({
    name: `Entry ${n}`,
    at: now + 60 * n,
    until: now + 60 * n + 60,
    items: named(`entry ${n}`),
  }));
  await put('schedule', { entries });
  service.clock.advance(61_000);
  store.faultOfWrites = 'error';
  expect(await playlist()).toMatchObject({ version: 1, entryId: 'Entry 1' });
  store.faultOfWrites = 'no';
  expect(await playlist()).toMatchObject({ version: 1, entryId: 'Entry 1' });
  service.clock.advance(60_000);
  store.faultOfWrites = 'error';
  expect(await playlist()).toMatchObject({ version: 1, entryId: 'Entry 2' });
  store.fault = 'error';
  expect(await playlist()).toMatchObject({ status: 500 });
});

it('keeps the files of schedules and takeovers, and lets those of ended takeovers go', async () => {
  const service = await startService();
  const admin = manager(service);
  const { put, now, path } = await tvWith(service);
  const [one, other] = [
    (await upload(admin, someFile(1))).body,
    (await upload(admin, someFile(2))).body,
  ];
  const showing = (file: { url: string }) => [
    item({ creativeUrl: file.url, creativeType: 'image' }),
  ];
  const entries = [{ at: now, until: now + 1e6, items: showing(one) }];
  await put('schedule', { entries });
  await put('takeover', { items: showing(other), until: now + 60 });
  const usedBy = async (file: { id: string }) =>
    (await admin.get(`/v1/media/${file.id}`)).body.usedBy;
  const remove = (file: { id: string }) => admin.delete(`/v1/media/${file.id}`);
  expect([await usedBy(one), await usedBy(other)]).toEqual([1, 1]);
  expectProblem(await remove(one), 'media_in_use');
  expectProblem(await remove(other), 'media_in_use');
  service.clock.advance(hourMs);
  await expect.poll(() => usedBy(other)).toBe(0);
  expect((await remove(other)).status).toBe(204);
  await admin.delete(`${path}/schedule`);
  expect((await remove(one)).status).toBe(204);
  const unknown = { url: `/media/${'0'.repeat(64)}.png` };
  expectProblem(
    await put('schedule', { entries: [{ ...entries[0], items: showing(unknown) }] }),
    'media_not_found',
  );
});

it('keeps the files of the schedule of a venue without screens', async () => {
  const service = await startService();
  const admin = manager(service);
  const file = (await upload(admin, someFile(1))).body;
  const { id } = await service.venue();
  const items = [item({ creativeUrl: file.url, creativeType: 'image' })];
  const set = await admin.put(`/v1/venues/${id}/schedule`, {
    entries: [{ at: 1, until: 2, items }],
  });
  expect(set.status, set.text).toBe(200);
  const refused = await admin.delete(`/v1/media/${file.id}`);
  expectProblem(refused, 'media_in_use');
  expect(refused.body.detail).toContain('The schedule of a venue names this file');
});

it('gives TVs absolute URLs of files, now and later', async () => {
  const service = await startService();
  const admin = manager(service);
  const tv = await service.tv();
  const { url } = (await upload(admin, someFile(1))).body;
  const now = Math.ceil(service.clock.now() / 1000);
  const items = [item({ creativeUrl: `${service.url}${url}`, creativeType: 'image' })];
  const path = `/v1/screens/${tv.screenId}/schedule`;
  const set = await admin.put(path, {
    entries: [{ name: 'A', at: now + 60, until: now + 90, items }],
  });
  expect(set.body.entries[0].items[0].creativeUrl).toBe(url);
  const { body } = await tv.send('GET', 'playlist');
  expect(body.entries.A[0].creativeUrl).toBe(`${service.url}${url}`);
});
