import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import type { OnDemandPlaylists } from '../../../src/origin/origin.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { item } from '../../support/service/content.ts';
import { auditOf, expectProblem, type Manager, manager } from '../../support/service/management.ts';
import { type BoundTv, startService, type TestService } from '../../support/service/service.ts';

/** The next result of the source. Each test sets it. */
let nextResult: () => unknown;
let asked: string[] = [];
const onDemand = (async ({ id }) => {
  asked.push(id);
  return nextResult();
}) as OnDemandPlaylists;

const refresh = (caller: Manager, { screenId }: BoundTv) =>
  caller.post(`/v1/screens/${screenId}/playlist/refresh`);

async function versionFor(tv: BoundTv): Promise<string> {
  const { status, headers } = await tv.send('GET', 'playlist');
  return `${status} ${headers.get('x-source')} ${headers.get('x-playlist-version')}`;
}

/** A result of the source that the test releases. */
function heldResult() {
  let release = (_content: unknown) => {};
  const result = new Promise<unknown>((resolve) => {
    release = resolve;
  });
  return { result, release };
}

describe('POST playlist/refresh', () => {
  let service: TestService<Clock>;
  let other: TestService<Clock>;
  let admin: Manager;
  let tv: BoundTv;
  const first = { items: [item()] };
  const second = { items: [item()] };

  beforeAll(async () => {
    const options = { clock: systemClock, onDemand, onDemandTtlSeconds: 3600 };
    const store = await freshDatabase();
    service = await startService({ ...options, store });
    other = await startService({ ...options, store });
    admin = manager(service);
  });
  beforeEach(async () => {
    nextResult = () => first;
    tv = await service.tv();
    expect(await versionFor(tv)).toBe('200 on-demand 1');
    asked = [];
  });

  it('200 with the next version, which TVs get from then on, and an audit entry', async () => {
    nextResult = () => second;
    expect(await versionFor(tv)).toBe('200 on-demand 1');
    const entries = await auditOf(admin, async () => {
      const answer = await refresh(admin, tv);
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body).toEqual({ version: 2, changed: true });
    });
    expect(await versionFor(tv)).toBe('200 on-demand 2');
    expect(asked).toEqual([tv.screenId]);
    expect(entries.map(({ action }) => action)).toEqual(['playlist.publish', 'playlist.refresh']);
    expect(entries[1]).toMatchObject({
      actor: { kind: 'token' },
      subject: { kind: 'screen', id: tv.screenId },
      details: { version: 2, changed: true },
    });
  });

  it('200 without a change for the same content', async () => {
    expect((await refresh(admin, tv)).body).toEqual({ version: 1, changed: false });
    expect(asked).toEqual([tv.screenId]);
  });

  it('tells TVs that are held on changes, on each instance', async () => {
    const elsewhere = { ...tv, send: other.send };
    const changes = (query: string) =>
      elsewhere.send('GET', `/devices/${tv.screenId}/changes${query}`, { key: tv.apiKey });
    const { cursor } = (await changes('')).body;
    const held = changes(`?after=${cursor}&waitSeconds=50`);
    nextResult = () => second;
    await refresh(admin, tv);
    expect((await held).body.playlist.version).toBe(2);
  });

  it('other instances do not serve their cached answer', async () => {
    const path = `/devices/${tv.screenId}/playlist`;
    const fromOther = async () =>
      (await other.send('GET', path, { key: tv.apiKey })).headers.get('x-playlist-version');
    expect(await fromOther()).toBe('1');
    nextResult = () => second;
    await refresh(admin, tv);
    expect(await fromOther()).toBe('2');
    expect(await fromOther()).toBe('2');
    expect(await versionFor(tv)).toBe('200 on-demand 2');
  });

  it('an older answer in flight on an instance does not replace the refreshed one', async () => {
    const fresh = await service.tv();
    const held = heldResult();
    nextResult = () => held.result;
    const path = `/devices/${fresh.screenId}/playlist`;
    const slow = other.send('GET', path, { key: fresh.apiKey });
    await expect.poll(() => asked.length, { interval: 5 }).toBe(1);
    nextResult = () => second;
    expect((await refresh(admin, fresh)).body).toEqual({ version: 1, changed: true });
    held.release(first);
    expect((await slow).headers.get('x-playlist-version')).toBe('1');
    expect((await slow).body.items).toEqual(second.items);
    expect(await versionFor(fresh)).toBe('200 on-demand 1');
    const later = await other.send('GET', path, { key: fresh.apiKey });
    expect(later.body.items).toEqual(second.items);
  });

  it('409 when the service has the playlist from a manager', async () => {
    await admin.put(`/v1/screens/${tv.screenId}/playlist`, second);
    nextResult = () => null;
    expectProblem(await refresh(admin, tv), 'not_supported');
  });

  it('200 with the kept playlist when the source has none any more', async () => {
    nextResult = () => null;
    expect((await refresh(admin, tv)).body).toEqual({ version: 1, changed: false });
  });

  it('404 when neither the source nor the store has one', async () => {
    const fresh = await service.tv();
    nextResult = () => null;
    expectProblem(await refresh(admin, fresh), 'playlist_not_found');
  });

  it('500 with the reason when the source fails; TVs keep what they have', async () => {
    nextResult = () => ({ items: [] });
    const answer = await refresh(admin, tv);
    expectProblem(answer, 'playlist_fetch_failed');
    expect(answer.body.detail).toContain('/items: must have 1 to 500 items');
    expect(answer.headers.get('retry-after')).toBe('5');
    expect(await versionFor(tv)).toBe('200 on-demand 1');
  });

  it('500 without the words of the source when its function throws', async () => {
    nextResult = () => {
      throw new Error('password of the database: hunter2');
    };
    const entries = await auditOf(admin, async () => {
      const answer = await refresh(admin, tv);
      expectProblem(answer, 'playlist_fetch_failed');
      expect(answer.text).not.toContain('hunter2');
    });
    expect(entries).toEqual([]);
  });

  it('401 when the token is deleted while the source is asked', async () => {
    const token = await admin.newToken({ name: crypto.randomUUID(), role: 'operator' });
    const held = heldResult();
    nextResult = () => held.result;
    const answer = refresh(manager(service, token.token), tv);
    await expect.poll(() => asked.length, { interval: 5 }).toBe(1);
    await admin.delete(`/v1/tokens/${token.id}`);
    held.release(second);
    expectProblem(await answer, 'credential_invalid');
  });
});

it('POST playlist/refresh for a screen of another tenant: 404, and the source is not called', async () => {
  const service = await startService({ onDemand });
  const tv = await service.tv();
  const admin = manager(service);
  const stranger = await admin.in((await admin.tenant('Other')).id).as('operator');
  asked = [];
  expectProblem(await refresh(stranger, tv), 'screen_not_found');
  expect(asked).toEqual([]);
});

it('POST playlist/refresh without an on-demand source: 409, also for a published playlist', async () => {
  const service = await startService();
  const admin = manager(service);
  const tv = await service.tv();
  expectProblem(await refresh(admin, tv), 'not_supported');
  await admin.put(`/v1/screens/${tv.screenId}/playlist`, { items: [item()] });
  expectProblem(await refresh(admin, tv), 'not_supported');
});
