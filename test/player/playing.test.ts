import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, hourMs, minuteMs, secondMs, systemClock } from '../../src/domain/clock.ts';
import { json } from '../support/network/stub-service.ts';
import { startService, type TestService } from '../support/service/service.ts';
import { video, virtualTv } from '../support/tv/virtual-tv.ts';
import { playlistOf, tvStub } from './saved-tv.ts';

let service: TestService<Clock>;
beforeAll(async () => {
  service = await startService<Clock>({ clock: systemClock });
});

const a = video(1, 10);
const b = video(2, 20, { campaignId: undefined });
const c = video(3, 30);
const numberOf = (item: { creativeId: string } | undefined) =>
  item ? Number(item.creativeId.at(-1)) : undefined;

/** Creates a TV on its own screen with these items. */
async function tvWith(items: object[] | undefined, more: object = {}, publication: object = {}) {
  const { code, screenId } = await service.code();
  const publish = (list: object[], rest: object = {}) =>
    service.manage('PUT', `/v1/screens/${screenId}/playlist`, { items: list, ...rest });
  if (items) expect((await publish(items, publication)).status).toBe(200);
  await service.manage('PUT', `/v1/screens/${screenId}/config`, { syncIntervalMinutes: 1 });
  const tv = virtualTv({ url: service.url, nextCode: async () => code, ...more });
  const stored = async () => {
    const { body } = await service.manage(
      'GET',
      `/v1/events?screenId=${screenId}&order=asc&limit=200`,
    );
    return body.items.map((one: { event: unknown }) => one.event);
  };
  return {
    ...tv,
    screenId,
    publish,
    withdraw: () => service.manage('DELETE', `/v1/screens/${screenId}/playlist`),
    stored,
  };
}

const impressions = ({ told }: Awaited<ReturnType<typeof tvWith>>) =>
  told.events.filter(({ type }) => type === 'impression');

describe('The playback of a player', () => {
  it('shows the items in order, each for its duration, in a loop', async () => {
    const tv = await tvWith([a, b, c], { startMs: Date.UTC(2026, 0, 1) });
    await tv.player.run(undefined, 130 * secondMs);
    expect(tv.told.shown.map(numberOf)).toEqual([1, 2, 3, 1, 2, 3, 1, undefined]);
    // An item without a campaign is shown without an impression.
    const start = Date.UTC(2026, 0, 1) / 1000;
    expect(
      impressions(tv).map(({ timestamp, creativeId, duration }) => [
        timestamp - start,
        numberOf({ creativeId: String(creativeId) }),
        duration,
      ]),
    ).toEqual([
      [10, 1, 10],
      [60, 3, 30],
      [70, 1, 10],
      [120, 3, 30],
      [130, 1, 10],
    ]);
    const { id } = (await service.manage('GET', `/v1/screens/${tv.screenId}/playlist`)).body;
    expect(impressions(tv)[0]).toMatchObject({ playlistId: id, campaignId: a.campaignId });
    expect(await tv.stored()).toEqual(tv.told.events);
  });

  it('is dark without a playlist, and starts as soon as there is one', async () => {
    const tv = await tvWith(undefined);
    tv.at(150 * secondMs, () => tv.publish([a]));
    await tv.player.run(undefined, 4.5 * minuteMs);
    expect(tv.told.phases).toEqual(['registering', 'dark', 'playing', 'dark']);
    expect(tv.pace('getPlaylist')).toEqual(['0 404', '1 404', '2 404', '3 200', '4 304']);
    expect(tv.told.failures).toEqual([]);
    expect(tv.told.events[0]).toMatchObject({ type: 'app_started' });
  });

  it('switches to a new playlist after the current item, starting at its first', async () => {
    const tv = await tvWith([c, b]);
    tv.at(40 * secondMs, () => tv.publish([a, c]));
    // The TV fetches it at 60 s, in the middle of the third item.
    await tv.player.run(undefined, 125 * secondMs);
    expect(tv.told.shown.map(numberOf)).toEqual([3, 2, 3, 1, 3, 1, undefined]);
    expect(impressions(tv).map(({ duration }) => duration)).toEqual([30, 30, 10, 30, 5]);
  });

  it('stops in the middle of an item when the playlist is withdrawn, and reports the seconds played', async () => {
    const tv = await tvWith([video(1, 40)]);
    tv.at(50 * secondMs, tv.withdraw);
    await tv.player.run(undefined, 3 * minuteMs);
    expect(impressions(tv).map(({ duration }) => duration)).toEqual([40, 20]);
    expect(tv.told.shown.map(numberOf)).toEqual([1, 1, undefined]);
    expect(tv.player.state).toMatchObject({ phase: 'dark', playlist: undefined });
  });

  it('ends at validUntil by the clock of the service, even if the TV’s clock is wrong', async () => {
    const validUntil = Math.floor(Date.now() / 1000) + 3600;
    // A TV with an empty clock battery starts in 1970. The network fails after its first calls.
    let calls = 0;
    const wire =
      (send: (url: string, parts: never) => Promise<never>) => (url: string, parts: never) =>
        ++calls > 6 ? Promise.reject(new Error('no network')) : send(url, parts);
    const tv = await tvWith([video(1, 600)], { startMs: 0, wire }, { validUntil });
    await tv.player.run(undefined, 2 * hourMs);
    const played = impressions(tv).map(({ duration }) => Number(duration));
    const total = played.reduce((sum, one) => sum + one, 0);
    expect(total).toBeGreaterThan(3590);
    expect(total).toBeLessThanOrEqual(3601);
    expect(played.slice(0, 5)).toEqual([600, 600, 600, 600, 600]);
    // The saved playlist has expired, but is not deleted while the network is down.
    expect(tv.player.state).toMatchObject({
      phase: 'offline',
      showing: undefined,
      playlist: { items: [{ duration: 600 }] },
    });
  });

  it('scales validUntil with the speed of the TV', async () => {
    const validUntil = Math.floor(Date.now() / 1000) + 60;
    const tv = await tvWith([video(1, 600)], { speed: 10_000 }, { validUntil });
    await tv.player.register((await service.code(tv.screenId)).code);
    await tv.player.fetchPlaylist();
    const leftMs = (tv.player.state.validUntilMs ?? 0) - tv.clock.now();
    expect(leftMs / 10_000).toBeGreaterThan(50 * secondMs);
    expect(leftMs / 10_000).toBeLessThan(62 * secondMs);
  });

  it('skips items without a valid duration', async () => {
    const odd = [
      video(1, -5),
      video(2, 10),
      { ...video(3, 1), duration: 'long' },
      { ...video(4, 1), duration: null },
    ];
    const playlist = playlistOf(odd as never);
    const stub = await tvStub({ playlist: (...call) => json(200, playlist)(...call) });
    const tv = virtualTv({ url: stub.url, nextCode: async () => 'ABCD2345' });
    await tv.player.run(undefined, 35 * secondMs);
    expect(tv.told.shown.map(numberOf)).toEqual([2, 2, 2, 2, undefined]);
    playlist.items.length = 1;
    const dark = virtualTv({ url: stub.url, nextCode: async () => 'ABCD2345' });
    await dark.player.run(undefined, 35 * secondMs);
    expect(dark.told.shown).toEqual([]);
  });
});
