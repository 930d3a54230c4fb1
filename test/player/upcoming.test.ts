import { afterEach, describe, expect, it } from 'vitest';
import type { ActivePlaylist, PlaylistItem } from '../../src/client/entities.ts';
import { type Clock, hourMs, minuteMs, secondMs, systemClock } from '../../src/domain/clock.ts';
import { type Stage, timerStage } from '../../src/player/stage.ts';
import type { PlayerMemory } from '../../src/player/state.ts';
import { makeVirtualClock } from '../../src/simulator/tv/virtual-clock.ts';
import {
  hangUp,
  json,
  raw,
  type StubService,
  stubService,
} from '../support/network/stub-service.ts';
import { startService } from '../support/service/service.ts';
import { video, virtualTv } from '../support/tv/virtual-tv.ts';
import { type Answer, accepted, memoryWith, playlistOf } from './saved-tv.ts';

const startMs = 1_790_000_000_000;
const start = startMs / 1000;
const config = { syncIntervalMinutes: 1, heartbeatIntervalMinutes: 60, cachePolicy: {} };

/** For long times without a network. */
const rare = { ...config, syncIntervalMinutes: 1440, heartbeatIntervalMinutes: 1440 };

let stub: StubService;
afterEach(() => stub?.close());

const named = (number: number, name: string, duration = 10) => video(number, duration, { name });
const base = [named(1, 'base')];
const lunch = [named(2, 'lunch 1'), named(3, 'lunch 2')];
const dinner = [named(4, 'dinner', 600)];
const span = (fromMinute: number, untilMinute: number, entryId: string | null) => ({
  from: start + fromMinute * 60,
  until: start + untilMinute * 60,
  entryId,
});

const day = (more: object = {}) =>
  playlistOf(base, {
    entryId: null,
    upcoming: [span(-60, 5, null), span(5, 10, 'lunch'), span(10, 600, 'dinner')],
    entries: { lunch, dinner },
    base,
    ...more,
  }) as ActivePlaylist;

interface TvOptions {
  /** The answers to the first fetch of the playlist, the second, …; then the network fails. */
  answers: readonly Answer[];
  /** Difference of the TV's clock and the clock of the service. */
  offMs?: number;
  memory?: PlayerMemory;
  stage?: (timer: Stage) => Stage;
  startAtMs?: number;
}

/** Runs a TV, and records what it shows when by the clock of the service. */
async function tvWith({ answers, offMs = 0, memory, stage, startAtMs = startMs }: TvOptions) {
  const clock = makeVirtualClock({
    speed: Number.POSITIVE_INFINITY,
    startMs: startAtMs + offMs,
    wall: systemClock,
  });
  const left = [...answers];
  let isOffline = left.length === 0;
  stub = await stubService((response, request) => {
    if (isOffline) return hangUp(response, request);
    response.setHeader('date', new Date(clock.now() - offMs).toUTCString());
    if (request.url.endsWith('/config')) return json(200, config)(response, request);
    if (!request.url.endsWith('/playlist')) return accepted(response, request);
    left.shift()?.(response, request);
    isOffline = left.length === 0;
  });
  const shown: [number, string | undefined][] = [];
  const tv = virtualTv({
    url: stub.url,
    clock,
    startMs: startAtMs + offMs,
    memory: memory ?? (await memoryWith({ config: config as never })),
    ...(stage && { stage: stage(timerStage(clock)) }),
    observer: {
      onShow: (item) => void shown.push([(clock.now() - offMs - startMs) / secondMs, nameOf(item)]),
    },
  });
  const plays = () =>
    tv.told.events
      .filter(({ type }) => type === 'impression')
      .map(({ timestamp, creativeId, duration, entryId, playlistId }) => ({
        at: timestamp - offMs / 1000 - start,
        creativeId,
        duration,
        entryId,
        playlistId,
      }));
  return { ...tv, shown, plays };
}

const nameOf = (item: PlaylistItem | undefined) => item?.name;
const near = (shown: [number, string | undefined][], from: number, to: number) =>
  shown.filter(([at]) => at >= from && at < to);

describe('A player with upcoming entries', () => {
  it('switches at each instant without a network, and copies entryId into its impressions', async () => {
    const tv = await tvWith({ answers: [json(200, day(), { etag: '"1"' })] });
    await tv.player.run(undefined, 11 * minuteMs);
    expect(near(tv.shown, 280, 315)).toEqual([
      [280, 'base'],
      [290, 'base'],
      [300, 'lunch 1'],
      [310, 'lunch 2'],
    ]);
    expect(near(tv.shown, 590, 1e9)).toEqual([
      [590, 'lunch 2'],
      [600, 'dinner'],
      [660, undefined],
    ]);
    const played = tv.plays();
    expect(played.filter(({ at }) => at <= 300).map(({ entryId }) => entryId)).toEqual(
      Array.from({ length: 30 }, () => undefined),
    );
    expect(played.slice(30, 60).map(({ entryId }) => entryId)).toEqual(
      Array.from({ length: 30 }, () => 'lunch'),
    );
    expect(played.at(-1)).toMatchObject({ duration: 60, entryId: 'dinner' });
  });

  it.each([
    ['in 1970', -startMs],
    ['an hour slow', -hourMs],
    ['a day fast', 24 * hourMs],
  ])('switches by the clock of the service if its own clock is %s', async (_, offMs) => {
    const tv = await tvWith({ answers: [json(200, day())], offMs });
    await tv.player.run(undefined, 6 * minuteMs);
    expect(near(tv.shown, 295, 305)).toEqual([[300, 'lunch 1']]);
  });

  it('corrects its clock by an answer that the playlist has not changed, and saves that', async () => {
    const memory = await memoryWith({ config: config as never });
    await memory.save({
      ...(await memory.load())!,
      playlist: { answer: day(), etag: '"1"', validUntilMs: 4e12 + 2 * minuteMs },
    });
    const tv = await tvWith({ answers: [raw(304, '', { etag: '"1"' })], memory });
    await tv.player.run(undefined, 2 * minuteMs);
    expect((await memory.load())?.playlist?.validUntilMs).toBe(4e12);
    await stub.close();
    const again = await tvWith({ answers: [], memory, startAtMs: startMs + 2 * minuteMs });
    await again.player.run(undefined, 4 * minuteMs);
    expect(near(again.shown, 295, 305)).toEqual([[300, 'lunch 1']]);
  });

  it('does not go back if a later answer seems to come from before the switch', async () => {
    const late: Answer = (response, request) => {
      response.setHeader('date', new Date(startMs + 299_200).toUTCString());
      raw(304, '', { etag: '"1"' })(response, request);
    };
    const same = raw(304, '', { etag: '"1"' });
    const answers = [json(200, day(), { etag: '"1"' }), same, same, same, same, late];
    const tv = await tvWith({ answers });
    await tv.player.run(undefined, 6 * minuteMs);
    expect(near(tv.shown, 295, 325)).toEqual([
      [300, 'lunch 1'],
      [310, 'lunch 2'],
      [320, 'lunch 1'],
    ]);
  });

  it('is not late because one answer was slow', async () => {
    const delaysMs = [0, 2500];
    stub = await stubService((response, request) => {
      response.setHeader('date', new Date().toUTCString());
      setTimeout(() => json(200, day())(response, request), delaysMs.shift());
    });
    const tv = virtualTv({ url: stub.url, speed: 1, memory: await memoryWith() });
    await tv.player.fetchPlaylist();
    const before = (await tv.memory.load())?.playlist?.validUntilMs ?? 0;
    await tv.player.fetchPlaylist();
    expect((await tv.memory.load())?.playlist?.validUntilMs).toBeLessThanOrEqual(before);
  });

  it('cuts an item at the switch, and has the first item of the next entry ready', async () => {
    const prepared: string[] = [];
    const long = [named(1, 'base', 3600), named(5, 'base 2')];
    const tv = await tvWith({
      answers: [json(200, day({ items: long, base: long }))],
      stage: (timer) => ({
        ...timer,
        async prepare({ name }) {
          prepared.push(String(name));
          return undefined;
        },
      }),
    });
    await tv.player.run(undefined, 5.1 * minuteMs);
    expect(tv.shown).toEqual([
      [0, 'base'],
      [300, 'lunch 1'],
      [306, undefined],
    ]);
    expect(prepared).toEqual(['lunch 1', 'lunch 2']);
    expect(tv.plays()[0]).toMatchObject({ duration: 300 });
  });

  it('switches also between entries with the same item', async () => {
    const same = [named(1, 'base', 3600)];
    const tv = await tvWith({
      answers: [json(200, day({ items: same, base: same, entries: { lunch: same, dinner } }))],
    });
    await tv.player.run(undefined, 6 * minuteMs);
    expect(tv.plays().map(({ duration, entryId }) => [duration, entryId])).toEqual([
      [300, undefined],
      [60, 'lunch'],
    ]);
  });

  it('leaves an item at once if a new answer has it in another entry', async () => {
    const same = [named(1, 'base', 3600)];
    const plain = day({ items: same, base: same, upcoming: [span(-60, 9, null)] });
    const entries = { lunch: same };
    const next = day({ items: same, entryId: 'lunch', entries, upcoming: [span(1, 9, 'lunch')] });
    const tv = await tvWith({ answers: [json(200, plain), json(200, next)] });
    await tv.player.run(undefined, 2 * minuteMs);
    expect(tv.plays().map(({ duration, entryId }) => [duration, entryId])).toEqual([
      [60, undefined],
      [60, 'lunch'],
    ]);
  });

  it('goes on with its entry when a new answer has the same items', async () => {
    const slow = [named(2, 'lunch 1', 25), named(3, 'lunch 2', 25)];
    const entries = { lunch: slow, dinner };
    const next = day({
      id: 'next',
      version: 2,
      entryId: 'lunch',
      items: slow,
      entries,
      upcoming: [span(5, 10, 'lunch'), span(10, 900, 'dinner')],
    });
    const same = raw(304, '', { etag: '"1"' });
    const tv = await tvWith({
      answers: [
        json(200, day({ entries }), { etag: '"1"' }),
        same,
        same,
        same,
        same,
        same,
        json(200, next),
      ],
    });
    // The seventh fetch comes in the middle of the third item.
    await tv.player.run(undefined, 7 * minuteMs);
    expect(near(tv.shown, 300, 395).map(([, name]) => name)).toEqual([
      'lunch 1',
      'lunch 2',
      'lunch 1',
      'lunch 2',
    ]);
    expect(new Set(tv.plays().map(({ playlistId }) => playlistId))).toEqual(
      new Set(['playlist', 'next']),
    );
  });

  it('shows nothing in a gap, and plays again after it, also from its memory', async () => {
    const gap = day({ upcoming: [span(-60, 5, null), span(10, 600, 'dinner')] });
    const memory = await memoryWith({
      config: config as never,
      playlist: { answer: gap, validUntilMs: 4e12 },
    });
    const tv = await tvWith({ answers: [], memory });
    await tv.player.run(undefined, 6 * minuteMs);
    expect(tv.shown.slice(-2)).toEqual([
      [290, 'base'],
      [300, undefined],
    ]);
    expect(tv.player.state).toMatchObject({ playlist: { items: [] } });
    await stub.close();
    const again = await tvWith({ answers: [], memory, startAtMs: startMs + 7 * minuteMs });
    await again.player.run(undefined, 4 * minuteMs);
    expect(again.shown).toEqual([
      [600, 'dinner'],
      [660, undefined],
    ]);
  });

  it('switches at the instants of the service if its time is faster', async () => {
    const service = await startService<Clock>({ clock: systemClock });
    const { code, screenId } = await service.code();
    const at = Math.ceil(Date.now() / 1000) + 2;
    await service.manage('PUT', `/v1/screens/${screenId}/playlist`, { items: base });
    const entries = [{ name: 'lunch', at, until: at + 60, items: lunch }];
    const path = `/v1/screens/${screenId}/schedule`;
    expect((await service.manage('PUT', path, { entries })).status).toBe(200);
    const switchedMs: number[] = [];
    const tv = virtualTv({
      url: service.url,
      speed: 60,
      nextCode: async () => code,
      observer: { onShow: (item) => nameOf(item) === 'lunch 1' && switchedMs.push(Date.now()) },
    });
    await tv.player.run(undefined, 4 * minuteMs);
    expect(switchedMs[0]).toBeGreaterThan(at * secondMs - 100);
    expect(switchedMs[0]).toBeLessThan((at + 2) * secondMs);
  });

  it('goes on with the last entry after two days without a network', async () => {
    const memory = await memoryWith({
      config: rare as never,
      playlist: { answer: day({ validUntil: start + 60 }), validUntilMs: startMs + minuteMs },
    });
    const tv = await tvWith({ answers: [], memory });
    await tv.player.run(undefined, 60 * hourMs);
    expect(tv.player.state).toMatchObject({ playlist: { entryId: 'dinner' } });
    expect(tv.plays().at(-1)).toMatchObject({ at: 60 * 3600, entryId: 'dinner' });
  });
});
