// `POST /v1/identify` and `POST /v1/reload`, and what TVs get (docs/protocol.md §2.9).
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import {
  auditOf,
  expectInvalid,
  type Manager,
  manager,
  unknownId,
} from '../../support/service/management.ts';
import {
  type Answer,
  type BoundTv,
  startService,
  type TestService,
} from '../../support/service/service.ts';
import { heldDevices } from '../../support/tv/held-devices.ts';

let service: TestService;
let admin: Manager;

const identify = (body: object, caller = admin) => caller.post('/v1/identify', body);
const reload = (body: object, caller = admin) => caller.post('/v1/reload', body);
const changes = async (tv: BoundTv, after?: string): Promise<Answer['body']> =>
  (await tv.send('GET', `changes${after === undefined ? '' : `?after=${after}`}`)).body;
const seconds = () => Math.floor(service.clock.now() / 1000);

/** Two TVs in one venue, and one in another. */
async function threeTvs(): Promise<[left: BoundTv, right: BoundTv, other: BoundTv]> {
  const left = await service.tv();
  const { venueId } = left;
  const right = await service.tv((await service.screen({ venueId })).id);
  return [left, right, await service.tv()];
}

describe.each(['the embedded store', 'PostgreSQL'])('signals for TVs, on %s', (storeName) => {
  beforeAll(async () => {
    const database = storeName === 'PostgreSQL' ? { store: await freshDatabase() } : {};
    service = await startService(database);
    admin = manager(service);
  });

  it('a venue is identified, with the names, until the time is over; the cursor moves once', async () => {
    const [left, right, other] = await threeTvs();
    const { cursor: before } = await changes(left);
    const { status, body } = await identify({ venueIds: [left.venueId], seconds: 60 });
    expect([status, body]).toEqual([
      200,
      {
        since: new Date(service.clock.now()).toISOString(),
        identifyUntil: seconds() + 60,
        notFound: [],
      },
    ]);
    const [screen, venue] = await Promise.all([
      admin.get(`/v1/screens/${left.screenId}`),
      admin.get(`/v1/venues/${left.venueId}`),
    ]);
    const during = await changes(left, before);
    expect(during).toMatchObject({
      identifyUntil: seconds() + 60,
      screen: { name: screen.body.name, venue: { name: venue.body.name } },
    });
    expect(during.cursor).not.toBe(before);
    expect(during.cursor).toMatch(/^[\w.-]{16,64}$/);
    expect((await changes(right)).identifyUntil).toBe(seconds() + 60);
    expect(await changes(other)).not.toHaveProperty('identifyUntil');
    for (const later of [60, 600]) {
      service.clock.advance(later * 1000);
      const after = await changes(left, during.cursor);
      expect(after.cursor).toBe(during.cursor);
      expect(after).not.toHaveProperty('identifyUntil');
      expect(after).not.toHaveProperty('screen');
    }
    expect((await changes(left)).cursor).toBe(before);
  });

  it('the latest of a screen and its venue counts; 0 seconds end it at once', async () => {
    const [left, right] = await threeTvs();
    await identify({ screenIds: [left.screenId], seconds: 600 });
    service.clock.advance(1000);
    await identify({ venueIds: [left.venueId], seconds: 30 });
    expect((await changes(left)).identifyUntil).toBe(seconds() + 30);
    const { cursor } = await changes(left);
    service.clock.advance(1000);
    const { body } = await identify({ screenIds: [left.screenId], seconds: 0 });
    expect(body.identifyUntil).toBeNull();
    const ended = await changes(left, cursor);
    expect(ended.cursor).not.toBe(cursor);
    expect(ended).not.toHaveProperty('identifyUntil');
    expect((await changes(right)).identifyUntil).toBe(seconds() + 29);
    // What was set before must not come back when the later one has ended.
    service.clock.advance(590_000);
    expect(await changes(left)).not.toHaveProperty('identifyUntil');
  });

  it('a reload is announced for 10 minutes, and a later one replaces it', async () => {
    const [left, right] = await threeTvs();
    const first = (await reload({ screenIds: [left.screenId] })).body;
    const got = await changes(left);
    expect(got.reloadId).toBe(first.reloadId);
    expect(await changes(right)).not.toHaveProperty('reloadId');
    service.clock.advance(1000);
    const second = (await reload({ venueIds: [left.venueId] })).body;
    const { reloadId, cursor } = await changes(left, got.cursor);
    expect(reloadId).toBe(second.reloadId);
    expect(cursor).not.toBe(got.cursor);
    service.clock.advance(600_000);
    const after = await changes(left, cursor);
    expect(after).not.toHaveProperty('reloadId');
    expect(after.cursor).toBe(cursor);
  });

  it('neither changes playlist and config, nor what TVs keep of them', async () => {
    const [tv] = await threeTvs();
    const { cursor: _, ...before } = await changes(tv);
    await identify({ screenIds: [tv.screenId], seconds: 60 });
    await reload({ screenIds: [tv.screenId] });
    expect(await changes(tv)).toMatchObject(before);
  });

  it('a signal of a clock that ran fast is not sent after the correction', async () => {
    const [tv] = await threeTvs();
    const now = service.clock.now();
    service.clock.set(now + 3_600_000);
    await identify({ screenIds: [tv.screenId], seconds: 600 });
    service.clock.set(now);
    expect(await changes(tv)).not.toHaveProperty('identifyUntil');
  });

  it('names the ids without a record, and those of strangers in the same way', async () => {
    const [left, , other] = await threeTvs();
    const body = { name: 'x', role: 'installer', venueIds: [left.venueId] };
    const name = crypto.randomUUID();
    const { token } = (await admin.post('/v1/tokens', { ...body, name })).body;
    const bound = manager(service, token);
    const gone = await service.screen();
    await service.manage('DELETE', `/v1/screens/${gone.id}`);
    const strangers = Array.from({ length: 996 }, () => crypto.randomUUID());
    const screenIds = [left.screenId, other.screenId, unknownId, gone.id, ...strangers];
    const entries = await auditOf(admin, async () => {
      const notFound = screenIds.slice(1);
      expect((await identify({ screenIds, seconds: 9 }, bound)).body.notFound).toEqual(notFound);
      const venueIds = [other.venueId, unknownId];
      expect((await reload({ venueIds }, bound)).body.notFound).toEqual(venueIds);
    });
    expect(entries.map(({ action, subject }) => [action, subject.id])).toEqual([
      ['identify.set', left.screenId],
    ]);
    expect(await changes(other)).not.toHaveProperty('identifyUntil');
    expect(await changes(other)).not.toHaveProperty('reloadId');
  });

  it('records each in the audit trail, with the actor and the end', async () => {
    const [tv] = await threeTvs();
    const entries = await auditOf(admin, async () => {
      await identify({ venueIds: [tv.venueId], seconds: 60 });
      await identify({ venueIds: [tv.venueId], seconds: 0 });
      await reload({ screenIds: [tv.screenId, tv.screenId] });
    });
    expect(entries).toMatchObject([
      {
        action: 'identify.set',
        subject: { kind: 'venue', id: tv.venueId },
        details: { until: new Date((seconds() + 60) * 1000).toISOString() },
      },
      { action: 'identify.set', details: { until: null } },
      { action: 'reload.set', subject: { kind: 'screen', id: tv.screenId } },
    ]);
    expect(entries).toHaveLength(3);
  });

  it.each([-1, 601, 1e9, 0.5, Number.NaN, '60', undefined])('400 for %s seconds', async (given) => {
    const [tv] = await threeTvs();
    const answer = await identify({ screenIds: [tv.screenId], seconds: given });
    expectInvalid(answer, '/seconds');
    expect(await changes(tv)).not.toHaveProperty('identifyUntil');
  });

  it.each([
    [{}, '/screenIds'],
    [{ screenIds: [] }, '/screenIds'],
    [{ screenIds: Array.from({ length: 1001 }, () => unknownId) }, '/screenIds'],
    [{ screenIds: [unknownId], venueIds: [unknownId] }, '/screenIds'],
    [{ venueIds: ['Lobby'] }, '/venueIds/0'],
  ])('400 for the selection %j', async (selection, path) => {
    expectInvalid(await reload(selection), path);
  });

  it('a deleted screen leaves nothing behind, and housekeeping deletes what is over', async () => {
    const [tv] = await threeTvs();
    await identify({ screenIds: [tv.screenId], seconds: 600 });
    await identify({ venueIds: [tv.venueId], seconds: 600 });
    const rows = async () => {
      const { token } = (
        await admin.post('/v1/tokens', { name: crypto.randomUUID(), role: 'backup' })
      ).body;
      const { text } = await manager(service, token).send('POST', '/v1/backup');
      return [...text.matchAll(/"id":"(?:screen|venue)\/([^"]+)","tenantId":"[^"]+","identify"/g)]
        .map(([, id]) => id)
        .filter((id) => id === tv.screenId || id === tv.venueId);
    };
    expect(await rows()).toHaveLength(2);
    await service.manage('DELETE', `/v1/screens/${tv.screenId}?force=true`);
    expect(await rows()).toEqual([tv.venueId]);
    service.clock.advance(600_000);
    await expect.poll(rows).toEqual([]);
  });
});

it.each(['the embedded store', 'PostgreSQL'])(
  'a signal wakes the held requests of its TVs, and no others, on %s',
  async (storeName) => {
    const database = storeName === 'PostgreSQL' ? { store: await freshDatabase() } : {};
    const real = await startService({ clock: systemClock, ...database });
    const [tv, other] = [await real.tv(), await real.tv()];
    const hold = async (one: BoundTv) => {
      const { cursor } = (await one.send('GET', 'changes')).body;
      let isHeld = true;
      const answer = one.send('GET', `changes?after=${cursor}&waitSeconds=20`).finally(() => {
        isHeld = false;
      });
      return { answer, isHeld: () => isHeld };
    };
    const [held, untouched] = [await hold(tv), await hold(other)];
    await expect.poll(() => heldDevices(real)).toBe(2);
    const { body } = await manager(real).post('/v1/identify', {
      venueIds: [tv.venueId],
      seconds: 1,
    });
    const answer = await held.answer;
    expect(answer.body.identifyUntil).toBe(body.identifyUntil);
    // Its end wakes nobody.
    const next = `changes?after=${answer.body.cursor}&waitSeconds=2`;
    const startedMs = Date.now();
    expect((await tv.send('GET', next)).body.cursor).toBe(answer.body.cursor);
    expect(Date.now() - startedMs).toBeGreaterThan(1500);
    await sleep(1);
    expect(untouched.isHeld()).toBe(true);
  },
);
