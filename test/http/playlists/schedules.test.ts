import { beforeEach, describe, expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs } from '../../../src/domain/clock.ts';
import {
  auditOf,
  expectInvalid,
  expectProblem,
  item,
  manager,
} from '../../support/service/management.ts';
import { type BoundTv, startService, type TestService } from '../../support/service/service.ts';
import { serveBelieving } from '../../support/stores/believed-clock.ts';
import { heldDevices } from '../../support/tv/held-devices.ts';

const [base, breakfast, lunch, notice] = ['base', 'breakfast', 'lunch', 'notice'].map((title) => [
  item({ title }),
]) as [object[], object[], object[], object[]];
const entries = [
  { name: 'Breakfast', from: '06:00', to: '11:00', items: breakfast },
  { name: 'Lunch', from: '11:00', to: '15:00', items: lunch },
];

let service: TestService;
let venueId: string;
let tv: BoundTv;
let screenPath: string;
/** Midnight of the day after the start, in UTC. */
let midnight: number;

const at = (time: number) => service.clock.set(time);
const seconds = (time: number) => time / 1000;
const playlist = async (etag?: string) =>
  tv.send('GET', 'playlist', etag === undefined ? {} : { headers: { 'if-none-match': etag } });
const set = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  service.manage('PUT', path, body, { headers });
const setSchedule = (given: unknown = entries) => set(`${screenPath}/schedule`, { entries: given });
const publish = (items = base) => set(`${screenPath}/playlist`, { items });

beforeEach(async () => {
  service = await startService({}, serveBelieving);
  const venue = await service.venue({ timezone: 'UTC' });
  venueId = venue.id;
  tv = await service.tv((await service.screen({ venueId })).id);
  screenPath = `/v1/screens/${tv.screenId}`;
  midnight = (Math.floor(service.clock.now() / dayMs) + 1) * dayMs;
  at(midnight);
});

describe('a schedule', () => {
  it('plays its entries at their times, and the playlist otherwise; each switch makes a version', async () => {
    await publish();
    const before = await playlist();
    expect(before.body).toMatchObject({ version: 1, entryId: null, items: base });
    for (const member of ['upcoming', 'entries', 'base'])
      expect(before.body).not.toHaveProperty(member);
    expect((await setSchedule()).body).toEqual({ entries });
    const scheduled = await playlist();
    expect(scheduled.body).toMatchObject({ version: 1, entryId: null, items: base, base });
    expect(scheduled.body.entries).toEqual({ Breakfast: breakfast, Lunch: lunch });
    expect(scheduled.body.upcoming.slice(1, 4)).toEqual([
      {
        from: seconds(midnight + 6 * hourMs),
        until: seconds(midnight + 11 * hourMs),
        entryId: 'Breakfast',
      },
      {
        from: seconds(midnight + 11 * hourMs),
        until: seconds(midnight + 15 * hourMs),
        entryId: 'Lunch',
      },
      {
        from: seconds(midnight + 15 * hourMs),
        until: seconds(midnight + 30 * hourMs),
        entryId: null,
      },
    ]);
    expect(scheduled.body.upcoming.at(-1).until).toBeGreaterThanOrEqual(
      seconds(midnight + 2 * dayMs),
    );
    const seen: unknown[] = [];
    for (const hour of [5.99, 6, 10.99, 11, 15, 30, 54]) {
      at(midnight + hour * hourMs);
      const { version, entryId, items } = (await playlist()).body;
      seen.push([version, entryId, items]);
    }
    expect(seen).toEqual([
      [1, null, base],
      [2, 'Breakfast', breakfast],
      [2, 'Breakfast', breakfast],
      [3, 'Lunch', lunch],
      [4, null, base],
      [5, 'Breakfast', breakfast],
      [5, 'Breakfast', breakfast],
    ]);
  });

  it('of an entry with base is the playlist, while entries below it would play', async () => {
    await publish();
    const given = [{ name: 'Break', from: '08:00', to: '9:00', base: true }, ...entries];
    const stored = [{ ...given[0], to: '09:00' }, ...entries];
    expect((await setSchedule(given)).body).toEqual({ entries: stored });
    at(midnight + 8.5 * hourMs);
    expect((await playlist()).body).toMatchObject({ entryId: null, items: base });
    at(midnight + 7 * hourMs);
    const { upcoming, entries: sent } = (await playlist()).body;
    expect(sent).not.toHaveProperty('Break');
    expect(upcoming.slice(0, 3)).toMatchObject([
      { entryId: 'Breakfast' },
      { entryId: null, from: seconds(midnight + 8 * hourMs) },
      { entryId: 'Breakfast', from: seconds(midnight + 9 * hourMs) },
    ]);
    const explained = `${screenPath}/explain?at=${seconds(midnight + 8.5 * hourMs)}`;
    const layer = async () => (await service.manage('GET', explained)).body.layer;
    expect(await layer()).toBe('base');
    // The past knows it, too.
    at(midnight + 12 * hourMs);
    await service.manage('DELETE', `${screenPath}/schedule`);
    expect(await layer()).toBe('base');
  });

  it('without entries plays the playlist of the screen, whatever its venue has', async () => {
    await publish();
    await set(`/v1/venues/${venueId}/schedule`, { entries });
    at(midnight + 7 * hourMs);
    expect((await playlist()).body).toMatchObject({ entryId: 'Breakfast' });
    expect((await setSchedule([])).body).toEqual({ entries: [] });
    expect((await playlist()).body).toMatchObject({ entryId: null, items: base });
    expect((await service.manage('GET', `${screenPath}/explain`)).body).toMatchObject({
      layer: 'base',
      schedule: { level: 'screen' },
    });
    expectInvalid(await set(`/v1/venues/${venueId}/schedule`, { entries: [] }), '/entries');
    await service.manage('DELETE', `${screenPath}/schedule`);
    expect((await playlist()).body).toMatchObject({ entryId: 'Breakfast' });
  });

  it('is read as people write it', async () => {
    const given = [{ days: 'Mo-We', from: '9:00', to: '24:00', items: lunch }];
    const stored = [{ days: ['mon', 'tue', 'wed'], from: '09:00', to: '00:00', items: lunch }];
    expect((await setSchedule(given)).body).toEqual({ entries: stored });
  });

  it('answers 304 until a switch, a change, or the daily move of the window', async () => {
    await publish();
    await setSchedule();
    const first = await playlist();
    let etag = first.headers.get('etag') as string;
    const changed: number[] = [];
    for (let minute = 0; minute < 24 * 60; minute += 10) {
      at(midnight + minute * minuteMs);
      const answer = await playlist(etag);
      if (answer.status === 304) continue;
      changed.push(minute / 60);
      etag = answer.headers.get('etag') as string;
    }
    expect(changed).toEqual(expect.arrayContaining([6, 11, 15]));
    // The window moves at a time of day that follows from the id, perhaps together with a switch.
    expect(changed.length).toBeLessThanOrEqual(4);
    const lastKnown = (answer: typeof first) => answer.body.upcoming.at(-1).from;
    at(midnight + dayMs);
    expect(lastKnown(await playlist())).toBe(lastKnown(first) + dayMs / 1000);
  });

  it('is known by a held request at the instant', async () => {
    await publish();
    await setSchedule();
    at(midnight + 6 * hourMs - 5000);
    const { cursor } = (await tv.send('GET', 'changes')).body;
    let isHeld = true;
    const held = tv.send('GET', `changes?after=${cursor}&waitSeconds=50`).finally(() => {
      isHeld = false;
    });
    await expect.poll(() => heldDevices(service)).toBe(1);
    await service.clock.advanceAsync(4900);
    expect(isHeld).toBe(true);
    await service.clock.advanceAsync(100);
    const answer = (await held).body;
    const fetched = await playlist();
    expect(answer.playlist).toEqual({ version: 2, etag: fetched.headers.get('etag') });
  });

  it('of the venue holds for screens without one of their own', async () => {
    await publish();
    await set(`/v1/venues/${venueId}/schedule`, { entries: [{ name: 'All day', items: lunch }] });
    expect((await playlist()).body).toMatchObject({ version: 2, entryId: 'All day' });
    await setSchedule();
    expect((await playlist()).body).toMatchObject({ version: 3, entryId: null, items: base });
    await service.manage('DELETE', `${screenPath}/schedule`);
    expect((await playlist()).body).toMatchObject({ version: 4, entryId: 'All day' });
    await service.manage('DELETE', `/v1/venues/${venueId}/schedule`);
    const back = (await playlist()).body;
    expect(back).toMatchObject({ version: 5, entryId: null, items: base });
    expect(back).not.toHaveProperty('upcoming');
  });

  it('follows a new time zone of the venue', async () => {
    await publish();
    await setSchedule();
    at(midnight + 5.5 * hourMs);
    expect((await playlist()).body.entryId).toBeNull();
    await service.manage('PATCH', `/v1/venues/${venueId}`, { timezone: 'Europe/Berlin' });
    expect((await playlist()).body.entryId).toBe('Breakfast');
  });

  it('without a playlist below: empty items while something will play, else 404', async () => {
    await setSchedule([
      {
        at: seconds(midnight + hourMs),
        until: new Date(midnight + 2 * hourMs).toISOString(),
        items: lunch,
      },
    ]);
    expect((await playlist()).body).toMatchObject({
      version: 1,
      items: [],
      upcoming: [
        {
          from: seconds(midnight + hourMs),
          until: seconds(midnight + 2 * hourMs),
          entryId: 'entry-1',
        },
        { from: seconds(midnight + 2 * hourMs), entryId: 'nothing' },
      ],
      entries: { 'entry-1': lunch, nothing: [] },
    });
    at(midnight + hourMs);
    expect((await playlist()).body).toMatchObject({ version: 2, items: lunch });
    at(midnight + 2 * hourMs);
    expectProblem(await playlist(), 'playlist_not_found');
    await publish();
    expect((await playlist()).body).toMatchObject({ version: 3, entryId: null, items: base });
  });

  it('tells of fewer entries if they would take more than 64 KiB', async () => {
    const many = (title: string) => Array.from({ length: 300 }, () => item({ title }));
    await setSchedule([
      { name: 'One', from: '06:00', to: '11:00', items: many('one') },
      { name: 'Two', from: '11:00', to: '15:00', items: many('two') },
    ]);
    const { upcoming, entries: told } = (await playlist()).body;
    expect(Object.keys(told)).toEqual(['One']);
    expect(upcoming).toHaveLength(1);
    at(midnight + 12 * hourMs);
    expect((await playlist()).body).toMatchObject({ entryId: 'Two', items: { length: 300 } });
  });

  it('neither fills the history nor confuses a rollback', async () => {
    await publish(notice);
    await publish(base);
    await setSchedule();
    for (let day = 0; day < 30; day++)
      for (const hour of [6, 11, 15]) {
        at(midnight + day * dayMs + hour * hourMs);
        await playlist();
      }
    expect((await playlist()).body).toMatchObject({ version: 92, entryId: null });
    expect((await service.manage('GET', `${screenPath}/playlists`)).body.items).toMatchObject([
      { version: 2 },
      { version: 1 },
    ]);
    const body = { screenIds: [tv.screenId], action: 'rollback' };
    expect((await service.manage('POST', '/v1/publications', body)).body.results).toEqual([
      { screenId: tv.screenId, version: 93, changed: true, playing: true },
    ]);
    expect((await playlist()).body).toMatchObject({ version: 93, items: notice });
  });

  it('says whether a publication plays', async () => {
    await setSchedule();
    expect((await publish()).body).toMatchObject({ version: 1, playing: true });
    at(midnight + 6 * hourMs);
    expect((await playlist()).body.version).toBe(2);
    expect((await publish(lunch)).body).toMatchObject({ version: 3, playing: false });
    expect((await playlist()).body).toMatchObject({ version: 2, entryId: 'Breakfast' });
    const body = { screenIds: [tv.screenId], action: 'publish', items: base };
    expect((await service.manage('POST', '/v1/publications', body)).body.results).toMatchObject([
      { version: 4, playing: false },
    ]);
  });

  it('is what the status compares TVs with', async () => {
    await publish();
    await setSchedule();
    const status = async () =>
      (await service.manage('GET', `/v1/status?screenId=${tv.screenId}`)).body.items[0];
    at(midnight + 6 * hourMs);
    await playlist();
    expect(await status()).toMatchObject({
      playlist: { version: 2 },
      device: { lastPlaylistVersion: 2 },
    });
    await publish(lunch);
    expect(await status()).toMatchObject({ playlist: { version: 2 } });
  });

  it('is no version for the status until a TV has met it', async () => {
    const status = async () =>
      (await service.manage('GET', `/v1/status?screenId=${tv.screenId}`)).body.items[0].playlist;
    await setSchedule([{ at: seconds(midnight), until: seconds(midnight + hourMs), items: lunch }]);
    expect(await status()).toBeNull();
    expect((await tv.send('GET', 'changes')).body.playlist.version).toBe(1);
    expect(await status()).toMatchObject({ version: 1, status: 'active', validUntil: null });
    at(midnight + 2 * hourMs);
    expect(await status()).toBeNull();
    await setSchedule();
    const validUntil = seconds(midnight + 5 * hourMs);
    await set(`${screenPath}/playlist`, { items: base, validUntil });
    expect(await status()).toMatchObject({ version: 2, validUntil });
    at(midnight + 6 * hourMs);
    expect(await status()).toMatchObject({ version: 1, status: 'active', validUntil: null });
  });

  it('makes one version for many requests at the instant', async () => {
    await publish();
    await setSchedule();
    at(midnight + 6 * hourMs);
    const answers = await Promise.all(Array.from({ length: 8 }, () => playlist()));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]?.body).toMatchObject({ version: 2, entryId: 'Breakfast' });
  });

  it('keeps half-open dates, and forgets replaced schedules after 90 days', async () => {
    const dated = [
      { dates: { from: '2020-01-01' }, items: lunch },
      { dates: { until: '2030-01-01' }, items: lunch },
    ];
    expect((await setSchedule(dated)).body).toEqual({ entries: dated });
    await setSchedule();
    const explain = async () =>
      (await service.manage('GET', `${screenPath}/explain?at=${seconds(midnight)}`)).body.schedule;
    at(midnight + 1000);
    await setSchedule(dated);
    expect(await explain()).not.toBeNull();
    at(midnight + 91 * dayMs);
    await setSchedule();
    await setSchedule(dated);
    expect(await explain()).toBeNull();
  });

  it('has a revision', async () => {
    const { etag } = Object.fromEntries((await setSchedule()).headers);
    expect((await service.manage('GET', `${screenPath}/schedule`)).headers.get('etag')).toBe(etag);
    const path = `${screenPath}/schedule`;
    const changed = { entries: [entries[0]] };
    expect((await set(path, changed, { 'if-match': etag as string })).status).toBe(200);
    expectProblem(
      await set(path, { entries }, { 'if-match': etag as string }),
      'precondition_failed',
    );
    expectProblem(await set(path, { entries }, { 'if-none-match': '*' }), 'precondition_failed');
  });

  it('needs the time zone of the venue, and keeps it', async () => {
    expectProblem(
      await (async () => {
        await setSchedule();
        return service.manage('PATCH', `/v1/venues/${venueId}`, { timezone: null });
      })(),
      'timezone_in_use',
    );
    const other = await service.screen();
    const path = `/v1/screens/${other.id}/schedule`;
    expectProblem(await set(path, { entries }), 'timezone_required');
    const inInstants = { at: seconds(midnight), until: seconds(midnight + hourMs), items: lunch };
    expect((await set(path, { entries: [inInstants] })).status).toBe(200);
  });

  it.each([
    ['entries/0/items', [{ from: '06:00', to: '07:00' }]],
    ['entries/0/to', [{ from: '06:00', items: lunch }]],
    ['entries/0/from', [{ to: '06:00', items: lunch }]],
    ['entries/0/from', [{ from: '25:00', to: '06:00', items: lunch }]],
    ['entries/0/days', [{ days: [], items: lunch }]],
    ['entries/0/dates/from', [{ dates: { from: '2026-02-30' }, items: lunch }]],
    [
      'entries/0/dates/until',
      [{ dates: { from: '2026-02-02', until: '2026-02-01' }, items: lunch }],
    ],
    ['entries/0/until', [{ at: 5, items: lunch }]],
    ['entries/0/until', [{ at: 5, until: 5, items: lunch }]],
    ['entries/0/until', [{ until: 5, items: lunch }]],
    ['entries/0/until', [{ at: 5, until: Number.MAX_SAFE_INTEGER, items: lunch }]],
    ['entries/0/until', [{ from: '06:00', until: '11:00', items: lunch }], 'write from and to'],
    ['entries/0/at', [{ at: '6:00', until: 5, items: lunch }], 'is a time of day'],
    ['entries/0/days', [{ at: 5, until: 6, days: ['mon'], items: lunch }]],
    [
      'entries/1/name',
      [
        { name: 'A', items: lunch },
        { name: 'A', items: lunch },
      ],
    ],
    ['entries/0/name', [{ name: 'takeover', items: lunch }]],
    ['entries/1/name', [{ items: lunch }, { name: 'entry-1', items: lunch }]],
    ['entries/0/colour', [{ items: lunch, colour: 'red' }]],
    ['entries/0/base', [{ items: lunch, base: true }]],
    ['entries/0/base', [{ base: false }]],
  ])('400 names /%s', async (path, given, why = '') => {
    const answer = await setSchedule(given);
    expectInvalid(answer, `/${path}`);
    expect(answer.body.errors[0].message).toContain(why);
    expectProblem(await service.manage('GET', `${screenPath}/schedule`), 'schedule_not_found');
  });

  it('is whole in a backup, with an entry that plays the playlist of the screen', async () => {
    const base = { name: 'Break', from: '08:00', to: '09:00', base: true };
    await setSchedule([base, { name: 'Lunch', from: '11:00', to: '15:00', items: lunch }]);
    const { status, text } = await service.manage('POST', '/v1/backup');
    expect([status, text.trimEnd().split('\n').length > 5]).toEqual([200, true]);
    expect(text).toContain('Lunch');
  });

  it('leaves the trail of its changes, but not of its switches', async () => {
    const left = await auditOf(manager(service), async () => {
      await setSchedule();
      await setSchedule();
      at(midnight + 7 * hourMs);
      await playlist();
      await service.manage('DELETE', `${screenPath}/schedule`);
      await service.manage('DELETE', `${screenPath}/schedule`);
    });
    expect(left.map(({ action }) => action)).toEqual(['schedule.set', 'schedule.clear']);
  });
});

describe('a takeover', () => {
  const takeOver = (until: number, items = notice) =>
    set(`${screenPath}/takeover`, { items, until: seconds(until) });

  it('plays above everything, and ends by itself', async () => {
    await publish();
    await setSchedule();
    at(midnight + 6 * hourMs);
    await playlist();
    const until = midnight + 6.5 * hourMs;
    expect((await takeOver(until)).body).toEqual({
      items: notice,
      until: seconds(until),
      since: new Date(midnight + 6 * hourMs).toISOString(),
    });
    const taken = (await playlist()).body;
    expect(taken).toMatchObject({ version: 3, entryId: 'takeover', items: notice });
    expect(taken.upcoming.slice(0, 2)).toEqual([
      { from: seconds(midnight + 6 * hourMs), until: seconds(until), entryId: 'takeover' },
      { from: seconds(until), until: seconds(midnight + 11 * hourMs), entryId: 'Breakfast' },
    ]);
    at(until);
    expect((await playlist()).body).toMatchObject({ version: 4, entryId: 'Breakfast' });
    expectProblem(await service.manage('GET', `${screenPath}/takeover`), 'takeover_not_found');
  });

  it('plays on a screen without a playlist, and leaves it without one', async () => {
    await takeOver(midnight + hourMs);
    const { body } = await playlist();
    expect(body).toMatchObject({ version: 1, items: notice });
    const ids = body.upcoming.map(({ entryId }: { entryId: string }) => entryId);
    expect(ids).toEqual(['takeover', 'nothing']);
    expect(body.entries).toEqual({ takeover: notice, nothing: [] });
    await service.manage('DELETE', `${screenPath}/takeover`);
    expectProblem(await playlist(), 'playlist_not_found');
    await publish();
    expect((await playlist()).body).toMatchObject({ version: 2, items: base });
  });

  it('of many screens comes with one call', async () => {
    const other = await service.tv((await service.screen({ venueId })).id);
    const until = seconds(midnight + hourMs);
    const body = { venueId, action: 'takeover', items: notice, until };
    const { results } = (await service.manage('POST', '/v1/publications', body)).body;
    expect(results).toHaveLength(2);
    for (const result of results)
      expect(result).toMatchObject({ version: null, changed: true, playing: false });
    for (const one of [tv, other])
      expect((await one.send('GET', 'playlist')).body.entryId).toBe('takeover');
    expectInvalid(
      await service.manage('POST', '/v1/publications', { ...body, until: undefined }),
      '/until',
    );
    expectInvalid(
      await service.manage('POST', '/v1/publications', { ...body, until: seconds(midnight) }),
      '/until',
    );
  });

  it('that has ended is removed without a trace in the trail', async () => {
    await takeOver(midnight + hourMs);
    at(midnight + hourMs);
    const left = await auditOf(manager(service), () =>
      service.manage('DELETE', `${screenPath}/takeover`),
    );
    expect(left).toEqual([]);
  });

  it('400 for an end in the past, or far away, and stores nothing', async () => {
    for (const until of [seconds(midnight), Number.MAX_SAFE_INTEGER, 'soon', '18:00'])
      expectInvalid(await set(`${screenPath}/takeover`, { items: notice, until }), '/until');
    expectProblem(await playlist(), 'playlist_not_found');
  });
});

describe('GET /v1/screens/:id/explain', () => {
  const explain = async (query = '') =>
    (await service.manage('GET', `${screenPath}/explain${query}`)).body;

  it('says which layer plays, since when, and what the TV has', async () => {
    expect(await explain()).toMatchObject({
      layer: 'none',
      entryId: null,
      version: null,
      schedule: null,
      base: null,
      tv: { deviceId: tv.deviceId, version: null, isCurrent: false },
    });
    await publish();
    await setSchedule();
    at(midnight + 7 * hourMs);
    expect(await explain()).toMatchObject({ layer: 'schedule', version: null });
    await playlist();
    expect(await explain()).toMatchObject({
      layer: 'schedule',
      entryId: 'Breakfast',
      since: new Date(midnight + 6 * hourMs).toISOString(),
      until: new Date(midnight + 11 * hourMs).toISOString(),
      version: 2,
      schedule: { level: 'screen', timezone: 'UTC' },
      base: { version: 1, status: 'active' },
      tv: { version: 2, isCurrent: true },
      config: { syncIntervalMinutes: { value: 5, source: 'default' } },
    });
    expect(await explain(`?at=${seconds(midnight + 12 * hourMs)}`)).toMatchObject({
      layer: 'schedule',
      entryId: 'Lunch',
      version: null,
    });
    await set(`${screenPath}/takeover`, { items: notice, until: seconds(midnight + 8 * hourMs) });
    expect(await explain()).toMatchObject({ layer: 'takeover', entryId: 'takeover' });
  });

  it('knows the playlist of an earlier time', async () => {
    at(midnight + hourMs);
    await publish();
    at(midnight + 2 * hourMs);
    await publish(lunch);
    const baseAt = async (hour: number) =>
      (await explain(`?at=${seconds(midnight + hour * hourMs)}`)).base;
    expect(await baseAt(0.5)).toBeNull();
    expect(await baseAt(1.5)).toMatchObject({ version: 1, status: 'active' });
    expect(await baseAt(2.5)).toMatchObject({ version: 2 });
  });

  it('knows a schedule that was replaced, and where the config comes from', async () => {
    await publish();
    await setSchedule();
    at(midnight + 7 * hourMs);
    await service.manage('DELETE', `${screenPath}/schedule`);
    await set(`/v1/venues/${venueId}/config`, { syncIntervalMinutes: 9 });
    expect(await explain()).toMatchObject({
      layer: 'base',
      config: {
        syncIntervalMinutes: { value: 9, source: 'venue' },
        heartbeatIntervalMinutes: { source: 'default' },
      },
    });
    expect(await explain(`?at=${seconds(midnight + 6.5 * hourMs)}`)).toMatchObject({
      layer: 'schedule',
      entryId: 'Breakfast',
    });
    expectInvalid(await service.manage('GET', `${screenPath}/explain?at=soon`), 'query.at');
  });
});
