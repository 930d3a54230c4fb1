import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type Clock,
  hourMs,
  minuteMs,
  secondMs,
  systemClock,
  systemRandom,
} from '../../src/domain/clock.ts';
import { json, problem, type StubService } from '../support/network/stub-service.ts';
import { startService, type TestService } from '../support/service/service.ts';
import { config } from '../support/service/tv-place.ts';
import { video, virtualTv } from '../support/tv/virtual-tv.ts';
import { type Answer, tvStub } from './saved-tv.ts';

let service: TestService<Clock>;
beforeAll(async () => {
  service = await startService<Clock>({ clock: systemClock });
});

let stub: StubService | undefined;
afterEach(() => stub?.close());

const stubWith = async (answers: Parameters<typeof tvStub>[0]) => {
  stub = await tvStub(answers);
  return stub.url;
};

const gaps = (tv: ReturnType<typeof virtualTv>, operation: string) => {
  const times = tv.told.answers
    .filter((one) => one.operation === operation)
    .map(({ sinceStartMs }) => sinceStartMs);
  return times.slice(1).map((time, at) => (time - (times[at] ?? 0)) / 1000);
};

describe('The intervals of a player', () => {
  it('follow its config: playlist and config at the sync interval with ETags, heartbeats at the other', async () => {
    const { code, screenId } = await service.code();
    await service.manage('PUT', `/v1/screens/${screenId}/config`, {
      syncIntervalMinutes: 10,
      heartbeatIntervalMinutes: 2,
    });
    const tv = virtualTv({ url: service.url, nextCode: async () => code });
    await tv.player.run(undefined, 31 * minuteMs);
    expect(tv.pace('getDeviceConfig')).toEqual(['0 200', '10 304', '20 304', '30 304']);
    expect(tv.pace('getPlaylist')).toEqual(['0 404', '10 404', '20 404', '30 404']);
    const beats = tv.told.events
      .filter(({ type }) => type === 'heartbeat')
      .map(({ timestamp }) => timestamp);
    expect(beats).toHaveLength(15);
    expect(new Set(beats.slice(1).map((at, place) => at - (beats[place] ?? 0)))).toEqual(
      new Set([120]),
    );
    // app_started at once, then with each heartbeat, and app_stopped.
    expect(tv.told.acknowledged).toHaveLength(17);
  });

  it('follow a changed config as soon as it is fetched', async () => {
    const { code, screenId } = await service.code();
    const tv = virtualTv({ url: service.url, nextCode: async () => code });
    const change = { syncIntervalMinutes: 2, heartbeatIntervalMinutes: 5 };
    tv.at(3 * minuteMs, () => service.manage('PUT', `/v1/screens/${screenId}/config`, change));
    await tv.player.run(undefined, 12 * minuteMs);
    expect(tv.pace('getDeviceConfig')).toEqual(['0 200', '5 200', '7 304', '9 304', '11 304']);
    const beats = tv.told.events
      .filter(({ type }) => type === 'heartbeat')
      .map(({ timestamp }) => timestamp);
    expect(beats.slice(1).map((at, place) => at - (beats[place] ?? 0))).toEqual([60, 60, 60, 360]);
  });

  it('have at most 10 % jitter, so that a fleet drifts apart', async () => {
    const url = await stubWith({});
    const tvs = Array.from({ length: 3 }, () =>
      virtualTv({ url, nextCode: async () => 'ABCD2345', random: systemRandom }),
    );
    await Promise.all(tvs.map(({ player }) => player.run(undefined, 2 * hourMs)));
    const all = tvs.map((tv) => gaps(tv, 'getPlaylist'));
    for (const gap of all.flat()) {
      expect(gap).toBeGreaterThanOrEqual(270);
      expect(gap).toBeLessThanOrEqual(330);
    }
    expect(new Set(all.flat()).size).toBeGreaterThan(30);
  });

  it.each([
    ['0 minutes', 0],
    ['nothing at all', null],
    ['a year', 525_600],
  ])('stay within the valid range if the config says %s', async (_, minutes) => {
    const url = await stubWith({
      config: json(200, {
        ...config,
        syncIntervalMinutes: minutes ?? Number.NaN,
        heartbeatIntervalMinutes: minutes,
      }),
    });
    const tv = virtualTv({ url, nextCode: async () => 'ABCD2345' });
    await tv.player.run(undefined, 10 * minuteMs);
    expect(tv.told.answers.length).toBeLessThan(50);
    expect(tv.told.events.length).toBeLessThan(15);
  });
});

describe('A player whose calls fail', () => {
  it('backs off from one or two seconds up to the sync interval', async () => {
    const url = await stubWith({ playlist: problem(500, 'playlist_fetch_failed', 'No.') });
    const tv = virtualTv({ url, nextCode: async () => 'ABCD2345', random: systemRandom });
    await tv.player.run(undefined, hourMs);
    const waits = gaps(tv, 'getPlaylist');
    const most = [2, 4, 8, 16, 32, 64, 128, 256, 300, 300];
    for (const [at, longest] of most.entries()) {
      expect(waits[at]).toBeGreaterThanOrEqual(longest / 2);
      expect(waits[at]).toBeLessThanOrEqual(longest);
    }
    // The other calls are not affected.
    expect(gaps(tv, 'getDeviceConfig').length).toBeGreaterThanOrEqual(10);
    expect(tv.told.acknowledged.length).toBeGreaterThan(50);
  });

  it('resets the backoff after a success', async () => {
    let down = 0;
    const failing: Answer = (response, request) =>
      (++down % 4 === 0 ? json(200, config) : problem(503, 'unavailable', 'No.'))(
        response,
        request,
      );
    const url = await stubWith({ config: failing });
    const tv = virtualTv({ url, nextCode: async () => 'ABCD2345' });
    await tv.player.run(undefined, 12 * minuteMs);
    expect(gaps(tv, 'getDeviceConfig').map((gap) => Math.round(gap * 10) / 10)).toEqual([
      1.5, 3, 6, 300, 1.5, 3, 6, 300, 1.5, 3, 6,
    ]);
  });

  it('honours Retry-After, in seconds of the service', async () => {
    const url = await stubWith({
      playlist: problem(500, 'playlist_fetch_failed', 'No.', {}, { 'retry-after': '90' }),
    });
    const tv = virtualTv({ url, nextCode: async () => 'ABCD2345' });
    await tv.player.run(undefined, 10 * minuteMs);
    expect(Math.min(...gaps(tv, 'getPlaylist'))).toBeGreaterThanOrEqual(90);
    expect(gaps(tv, 'getPlaylist')[0]).toBeLessThan(92);
    // A TV at speed 1000 waits a thousand times as many simulated seconds.
    const fast = virtualTv({ url, nextCode: async () => 'ABCD2345', speed: 1000 });
    await fast.player.run(undefined, 500 * secondMs);
    expect(gaps(fast, 'getPlaylist')).toEqual([]);
  });

  it('caps a Retry-After of a year', async () => {
    const rare = { ...config, syncIntervalMinutes: 1440, heartbeatIntervalMinutes: 1440 };
    const url = await stubWith({
      config: json(200, rare),
      playlist: problem(503, 'unavailable', 'No.', {}, { 'retry-after': '31536000' }),
    });
    const tv = virtualTv({ url, nextCode: async () => 'ABCD2345' });
    await tv.player.run(undefined, 25 * hourMs);
    expect(tv.pace('getPlaylist')).toHaveLength(2);
  });

  it.each([404, 405, 418])(
    'retries only at the sync interval after a permanent error %i',
    async (status) => {
      const url = await stubWith({
        events: problem(status, status === 404 ? 'not_found' : 'strange', 'No.'),
      });
      const tv = virtualTv({ url, nextCode: async () => 'ABCD2345' });
      await tv.player.run(undefined, 21 * minuteMs);
      expect(tv.pace('postEvents').map((one) => one.split(' ')[0])).toEqual([
        '0',
        '5',
        '10',
        '15',
        '20',
        '21',
      ]);
      expect(tv.told.dropped).toEqual([]);
    },
  );

  it('keeps playlist, config and events after a 5xx', async () => {
    const { code, screenId } = await service.code();
    const items = [video(1, 10)];
    await service.manage('PUT', `/v1/screens/${screenId}/playlist`, { items });
    let isIll = false;
    const ill = await stubWith({
      playlist: problem(500, 'playlist_fetch_failed', 'No.'),
      config: problem(502, 'x', 'No.'),
      events: problem(503, 'unavailable', 'No.'),
    });
    const wire: Parameters<typeof virtualTv>[0]['wire'] = (send) => (url, parts) =>
      send(isIll ? url.replace(service.url, ill) : url, parts);
    const tv = virtualTv({ url: service.url, wire, nextCode: async () => code });
    tv.at(minuteMs, () => {
      isIll = true;
    });
    await tv.player.run(undefined, hourMs);
    expect(tv.told.shown.filter((one) => one)).toHaveLength(360);
    expect(tv.player.state).toMatchObject({
      screenId,
      playlist: { items },
      config: { syncIntervalMinutes: 5 },
    });
    expect(tv.told.unpaired).toEqual([]);
  });
});
