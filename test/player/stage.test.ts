import { afterEach, describe, expect, it } from 'vitest';
import type { PlaylistItem } from '../../src/client/entities.ts';
import { minuteMs, systemClock } from '../../src/domain/clock.ts';
import { makeVirtualClock } from '../../src/simulator/tv/virtual-clock.ts';
import {
  json,
  problem,
  raw,
  type StubService,
  stubService,
} from '../support/network/stub-service.ts';
import { FakeStage } from '../support/tv/fake-stage.ts';
import { video, virtualTv } from '../support/tv/virtual-tv.ts';
import { type Answer, accepted, memoryWith, playlistOf } from './saved-tv.ts';

const startMs = 1_790_000_000_000;
const config = { syncIntervalMinutes: 1, heartbeatIntervalMinutes: 60, cachePolicy: {} };
const playlist = (version: number, items: PlaylistItem[], validUntil = startMs / 1000 + 86_400) =>
  playlistOf(items, { version, validUntil });
type Playlist = ReturnType<typeof playlist>;

let stub: StubService;
afterEach(() => stub?.close());

/** Answers with a playlist, or with 304 if the TV has it. */
const answerOf =
  (one: Playlist): Answer =>
  (response, request) => {
    const etag = `"${one.version}"`;
    const hasIt = request.headers['if-none-match'] === etag;
    return (hasIt ? raw(304, '', { etag }) : json(200, one, { etag }))(response, request);
  };

/** Creates a TV that has this playlist. */
async function tvWith(first: Playlist) {
  let answer = answerOf(first);
  const clock = makeVirtualClock({ speed: Number.POSITIVE_INFINITY, startMs, wall: systemClock });
  stub = await stubService((response, request) => {
    response.setHeader('date', new Date(clock.now()).toUTCString());
    if (request.url.endsWith('/config')) return json(200, config)(response, request);
    if (request.url.endsWith('/playlist')) return answer(response, request);
    return accepted(response, request);
  });
  const stage = new FakeStage(clock, startMs);
  const memory = await memoryWith({
    config: config as never,
    playlist: { answer: first, etag: `"${first.version}"`, validUntilMs: first.validUntil * 1000 },
  });
  const tv = virtualTv({ url: stub.url, memory, startMs, clock, stage });
  const answerWith = (next: Answer) => {
    answer = next;
  };
  const events = (type: string) => tv.told.events.filter((event) => event.type === type);
  return { ...tv, stage, answerWith, events };
}

describe('The stage of a player', () => {
  it('is asked to prepare the next item while one is shown', async () => {
    const tv = await tvWith(playlist(1, [video(1, 10), video(2, 20)]));
    await tv.player.run(undefined, 35_000);
    expect(tv.stage.calls).toEqual([
      '0 show 1 for 10',
      '0 prepare 2',
      '10 show 2 for 20',
      '10 prepare 1',
      '30 show 1 for 10',
      '30 prepare 2',
      '35 clear',
    ]);
  });

  it('does not lose the preparation of an item whose turn comes before it is ready', async () => {
    const tv = await tvWith(playlist(1, [video(1, 10), video(2, 20)]));
    tv.stage.prepareMs = 15_000;
    await tv.player.run(undefined, 12_000);
    expect(tv.stage.calls).toEqual([
      '0 show 1 for 10',
      '0 prepare 2',
      '10 show 2 for 20',
      '10 prepare 1',
      '12 abandon 1',
      '12 clear',
    ]);
  });

  it('skips an item that cannot be prepared, and tries it again each round', async () => {
    const tv = await tvWith(playlist(1, [video(1, 10), video(2, 20), video(3, 10)]));
    tv.stage.failures.set('2', 'http_404');
    await tv.player.run(undefined, 25_000);
    expect(tv.stage.calls).toEqual([
      '0 show 1 for 10',
      '0 prepare 2',
      '0 prepare 3',
      '10 show 3 for 10',
      '10 prepare 1',
      '20 show 1 for 10',
      '20 prepare 2',
      '20 prepare 3',
      '25 clear',
    ]);
    expect(tv.events('playback_error')).toEqual([
      {
        type: 'playback_error',
        timestamp: startMs / 1000,
        creativeId: video(2, 20).creativeId,
        reason: 'http_404',
        seq: expect.any(Number),
      },
    ]);
    expect(
      tv.events('impression').map(({ creativeId, duration }) => [creativeId, duration]),
    ).toEqual([
      [video(1, 0).creativeId, 10],
      [video(3, 0).creativeId, 10],
      [video(1, 0).creativeId, 5],
    ]);
  });

  it('reports an item without a campaign as a `play`', async () => {
    const tv = await tvWith(playlist(1, [video(1, 10, { campaignId: null }), video(2, 20)]));
    await tv.player.run(undefined, 30_000);
    const [play] = tv.events('play');
    expect(play).toEqual({
      type: 'play',
      timestamp: startMs / 1000 + 10,
      playlistId: 'playlist',
      creativeId: video(1, 10).creativeId,
      duration: 10,
      plannedDuration: 10,
      seq: expect.any(Number),
    });
    expect(tv.events('impression').map(({ duration }) => duration)).toEqual([20]);
  });

  it('reports an item that goes on failing every 15 minutes', async () => {
    const tv = await tvWith(playlist(1, [video(1, 10), video(2, 20)]));
    tv.stage.failures.set('2', 'codec');
    await tv.player.run(undefined, 40 * minuteMs);
    const minutes = tv
      .events('playback_error')
      .map(({ timestamp }) => Math.floor((timestamp - startMs / 1000) / 60));
    expect(minutes).toEqual([0, 15, 30]);
  });

  it('shows nothing for 10 seconds after a round in which every item failed', async () => {
    const tv = await tvWith(playlist(1, [video(1, 10), video(2, 20)]));
    tv.stage.prepare = undefined as never;
    tv.stage.failures.set('1', 'unreachable').set('2', 'stalled');
    await tv.player.run(undefined, 15_000);
    expect(tv.stage.shown).toEqual([
      '0 show 1 for 10',
      '0 show 2 for 20',
      '0 clear',
      '10 show 1 for 10',
      '10 show 2 for 20',
      '10 clear',
      '15 clear',
    ]);
    expect(tv.events('playback_error').map(({ reason }) => reason)).toEqual([
      'unreachable',
      'stalled',
    ]);
    expect(tv.events('impression')).toEqual([]);
  });

  it('reports a stage that throws, and goes on', async () => {
    const tv = await tvWith(playlist(1, [video(1, 10), video(2, 20)]));
    const { show } = tv.stage;
    tv.stage.show = async (item, ...rest) => {
      if (item.creativeId === video(1, 0).creativeId) throw new Error('A bug of the stage.');
      return show.call(tv.stage, item, ...rest);
    };
    await tv.player.run(undefined, 5000);
    expect(tv.stage.shown).toEqual(['0 show 2 for 20', '5 clear']);
    expect(tv.told.failures.map(({ message }) => message)).toContain('A bug of the stage.');
    expect(tv.events('playback_error').map(({ reason }) => reason)).toEqual(['stalled']);
  });
});

describe('When a new version comes, an item', () => {
  const first = playlist(1, [video(1, 300), video(2, 300)]);
  /** The TV fetches the new answer after about a minute. */
  async function shownWith(answer: Answer, prepareMs = 0) {
    const tv = await tvWith(first);
    tv.stage.prepareMs = prepareMs;
    tv.at(30_000, () => tv.answerWith(answer));
    await tv.player.run(undefined, 6 * minuteMs);
    return tv;
  }

  it('plays to its end if the version still names it', async () => {
    const next = playlist(2, [video(3, 100), video(1, 200)]);
    const tv = await shownWith(answerOf(next));
    expect(tv.stage.shown).toEqual(['0 show 1 for 300', '300 show 3 for 100', '360 clear']);
    expect(tv.stage.calls).toContain('60 prepare 3');
  });

  it('leaves as soon as the first item of the version is ready', async () => {
    const next = playlist(2, [video(3, 1000), video(2, 200)]);
    const tv = await shownWith(answerOf(next), 20_000);
    expect(tv.stage.shown).toEqual(['0 show 1 for 300', '80 show 3 for 1000', '360 clear']);
    expect(tv.stage.calls).toContain('60 prepare 3 urgently');
    expect(tv.events('impression').map(({ duration }) => duration)).toEqual([80, 280]);
  });

  it('leaves at once if the stage prepares nothing', async () => {
    const next = playlist(2, [video(3, 1000)]);
    const tv = await tvWith(first);
    tv.stage.prepare = undefined as never;
    tv.at(30_000, () => tv.answerWith(answerOf(next)));
    await tv.player.run(undefined, 2 * minuteMs);
    expect(tv.stage.shown).toEqual(['0 show 1 for 300', '60 show 3 for 1000', '120 clear']);
  });

  it('stays while no item of the version can be prepared', async () => {
    const next = playlist(2, [video(3, 1000)]);
    const tv = await tvWith(first);
    tv.stage.failures.set('3', 'unreachable');
    tv.at(30_000, () => tv.answerWith(answerOf(next)));
    await tv.player.run(undefined, 302_000);
    expect(tv.stage.shown).toEqual([
      '0 show 1 for 300',
      '300 show 3 for 1000',
      '300 clear',
      '302 clear',
    ]);
  });

  it('leaves if the version names its creative with another URL', async () => {
    const next = playlist(2, [video(1, 300, { creativeUrl: 'https://media.example.com/1b.mp4' })]);
    const tv = await shownWith(answerOf(next));
    expect(tv.stage.shown[1]).toBe('60 show 1b for 300');
  });

  it('leaves at once when the playlist is withdrawn', async () => {
    const tv = await shownWith(problem(404, 'playlist_not_found', 'No.'), 20_000);
    expect(tv.stage.shown.slice(0, 2)).toEqual(['0 show 1 for 300', '60 clear']);
  });

  it('leaves at once when the device is revoked', async () => {
    const tv = await shownWith(problem(401, 'device_key_revoked', 'No.'), 20_000);
    expect(tv.stage.shown).toEqual(['0 show 1 for 300', '60 clear']);
  });

  it('leaves when the playlist ends, also if a new version brought the end forward', async () => {
    const next = playlist(2, first.items, startMs / 1000 + 100);
    const tv = await shownWith(answerOf(next));
    expect(tv.stage.shown.slice(0, 2)).toEqual(['0 show 1 for 300', '100 clear']);
  });
});
