// The layer beneath plays if all items of the layer above fail.
import { afterEach, describe, expect, it } from 'vitest';
import type { ActivePlaylist } from '../../src/client/entities.ts';
import { systemClock } from '../../src/domain/clock.ts';
import type { Stage } from '../../src/player/stage.ts';
import { makeVirtualClock } from '../../src/simulator/tv/virtual-clock.ts';
import { json, raw, type StubService, stubService } from '../support/network/stub-service.ts';
import { FakeStage } from '../support/tv/fake-stage.ts';
import { video, virtualTv } from '../support/tv/virtual-tv.ts';
import { accepted, memoryWith, playlistOf } from './saved-tv.ts';

const startMs = 1_790_000_000_000;
const start = startMs / 1000;
const config = { syncIntervalMinutes: 1, heartbeatIntervalMinutes: 60, cachePolicy: {} };

let stub: StubService;
afterEach(() => stub?.close());

const base = [video(1, 10), video(2, 10)];
const entry = [video(3, 10)];
const notice = [video(4, 10), video(5, 10)];
const ofBase = { layer: 'base', entryId: null, items: base };
const ofEntry = { layer: 'entry', entryId: 'Lunch', items: entry, below: ofBase };
const takeover = (below: object | undefined, version = 2) =>
  playlistOf(notice, {
    version,
    entryId: 'takeover',
    upcoming: [
      { from: start, until: start + 3600, entryId: 'takeover' },
      { from: start + 3600, until: start + 86_400, entryId: null },
    ],
    entries: { takeover: notice },
    base,
    below,
  }) as ActivePlaylist;

/** Runs a TV that has a playlist, on a stage on which these items fail. */
async function tvWith(first: ActivePlaylist, failing: readonly number[]) {
  let answer = first;
  const clock = makeVirtualClock({ speed: Number.POSITIVE_INFINITY, startMs, wall: systemClock });
  stub = await stubService((response, request) => {
    response.setHeader('date', new Date(clock.now()).toUTCString());
    if (request.url.endsWith('/config')) return json(200, config)(response, request);
    if (!request.url.endsWith('/playlist')) return accepted(response, request);
    const etag = `"${answer.version}"`;
    const hasIt = request.headers['if-none-match'] === etag;
    return (hasIt ? raw(304, '', { etag }) : json(200, answer, { etag }))(response, request);
  });
  const stage = new FakeStage(clock, startMs);
  for (const number of failing) stage.failures.set(String(number), 'http_404');
  const memory = await memoryWith({
    config: config as never,
    playlist: { answer: first, etag: `"${first.version}"`, validUntilMs: first.validUntil * 1000 },
  });
  const tv = virtualTv({ url: stub.url, memory, startMs, clock, stage: stage as Stage });
  const answerWith = (next: ActivePlaylist) => {
    answer = next;
  };
  const plays = () =>
    tv.told.events
      .filter(({ type }) => type === 'impression')
      .map(({ creativeId, entryId }) => [Number(String(creativeId).at(-1)), entryId ?? null]);
  return { ...tv, stage, answerWith, plays };
}

describe('A player whose takeover fails', () => {
  it('plays the layer beneath, and tries the takeover again without a pause of that', async () => {
    const tv = await tvWith(takeover(ofBase), [4, 5]);
    tv.at(65_000, () => tv.stage.failures.clear());
    await tv.player.run(undefined, 75_000);
    expect(tv.stage.shown.filter((call) => !/ (4|5) /.test(call)).slice(0, 4)).toEqual([
      '0 show 1 for 10',
      '10 show 2 for 10',
      '20 show 1 for 10',
      '30 show 2 for 10',
    ]);
    // Trials after 10 s, after 20 s more, and after 40 s more.
    const trials = tv.stage.calls.filter((call) => call.includes('prepare 4 urgently'));
    expect(trials).toEqual([10, 30, 70].map((at) => `${at} prepare 4 urgently`));
    expect(tv.stage.shown.slice(-2)).toEqual(['70 show 4 for 10', '75 clear']);
    expect(tv.plays().at(-1)?.[1]).toBe('takeover');
    expect(tv.plays().slice(0, 3)).toEqual([
      [1, null],
      [2, null],
      [1, null],
    ]);
    expect(tv.stage.calls.filter((call) => call.endsWith('clear'))).toHaveLength(1);
    expect(tv.told.events.filter(({ type }) => type === 'playback_error')).toHaveLength(2);
  });

  it('lets the visible item of the layer beneath play on', async () => {
    const tv = await tvWith(playlistOf(base) as ActivePlaylist, [4, 5]);
    tv.at(2000, () => tv.answerWith(takeover(ofBase)));
    await tv.player.run(undefined, 85_000);
    const turns = Array.from({ length: 9 }, (_, turn) => `${turn}0 show ${1 + (turn % 2)} for 10`);
    expect(tv.stage.shown).toEqual([...turns, '85 clear'].map((call) => call.replace(/^00/, '0')));
    expect(tv.stage.calls.filter((call) => call.includes('prepare 4 urgently'))).not.toEqual([]);
    expect(tv.plays()).toHaveLength(9);
  });

  it('plays the base if the entry fails as well, and is dark only if all fails', async () => {
    const tv = await tvWith(takeover(ofEntry), [3, 4, 5]);
    await tv.player.run(undefined, 9000);
    expect(tv.plays()).toEqual([[1, null]]);
    const dark = await tvWith(takeover(ofEntry), [1, 2, 3, 4, 5]);
    await dark.player.run(undefined, 9000);
    expect(dark.plays()).toEqual([]);
    expect(dark.told.shown.at(-1)).toBeUndefined();
  });

  it('plays the entry beneath with its entryId', async () => {
    const tv = await tvWith(takeover(ofEntry), [4, 5]);
    await tv.player.run(undefined, 9000);
    expect(tv.plays()).toEqual([[3, 'Lunch']]);
  });

  it('falls back to the base if an entry fails that begins without a network', async () => {
    const day = playlistOf(base, {
      entryId: null,
      upcoming: [
        { from: start, until: start + 15, entryId: null },
        { from: start + 15, until: start + 3600, entryId: 'Lunch' },
      ],
      entries: { Lunch: entry },
      base,
    }) as ActivePlaylist;
    const tv = await tvWith(day, [3]);
    await tv.player.run(undefined, 45_000);
    expect(new Set(tv.plays().map(([number]) => number))).toEqual(new Set([1, 2]));
    expect(tv.plays().length).toBeGreaterThanOrEqual(4);
  });

  it.each([
    ['no object', 'base'],
    ['an object without items', { layer: 'base', entryId: null }],
    ['items that are none', { layer: 'base', entryId: null, items: [1] }],
  ])('is dark if below is %s', async (_, below) => {
    const tv = await tvWith(takeover(below as object), [4, 5]);
    await tv.player.run(undefined, 9000);
    expect(tv.plays()).toEqual([]);
  });
});

describe('A player reports with shown', () => {
  const reports = ({ told }: Awaited<ReturnType<typeof tvWith>>) =>
    told.events
      .filter(({ type }) => type === 'shown')
      .map(({ timestamp, creativeId, type: _, playlistId: __, seq: ___, ...others }) => [
        timestamp - start,
        Number(String(creativeId).at(-1)),
        others,
      ]);

  it('each switch of layer and version at its first picture, once, and at once', async () => {
    const tv = await tvWith(playlistOf(base) as ActivePlaylist, []);
    tv.at(65_000, () => tv.answerWith(takeover(ofEntry)));
    tv.at(125_000, () => tv.answerWith(playlistOf(base, { version: 3 }) as ActivePlaylist));
    await tv.player.run(undefined, 200_000);
    const found = reports(tv);
    expect(found.map(([, ...others]) => others)).toEqual([
      [1, { version: 1, layer: 'base' }],
      [4, { version: 2, layer: 'takeover', entryId: 'takeover' }],
      [1, { version: 3, layer: 'base' }],
    ]);
    for (const { events } of tv.told.sent)
      for (const event of events)
        if (event.type === 'shown')
          expect(events.at(-1)?.timestamp).toBeLessThanOrEqual(event.timestamp + 1);
  });

  it('a new version that goes on with the visible item, at once', async () => {
    const long = [video(1, 600)];
    const tv = await tvWith(playlistOf(long) as ActivePlaylist, []);
    tv.at(30_000, () =>
      tv.answerWith(playlistOf([...long, video(2, 10)], { version: 2 }) as never),
    );
    await tv.player.run(undefined, 100_000);
    expect(reports(tv).map(([, ...others]) => others)).toEqual([
      [1, { version: 1, layer: 'base' }],
      [1, { version: 2, layer: 'base' }],
    ]);
  });

  it('that a layer failed and the one beneath plays, and when the failed one plays', async () => {
    const tv = await tvWith(playlistOf(base) as ActivePlaylist, [4, 5]);
    tv.at(2000, () => tv.answerWith(takeover(ofBase)));
    tv.at(90_000, () => tv.stage.failures.clear());
    await tv.player.run(undefined, 200_000);
    expect(reports(tv).map(([, ...others]) => others)).toEqual([
      [1, { version: 1, layer: 'base' }],
      [expect.anything(), { version: 2, layer: 'base', failedLayer: 'takeover' }],
      [4, { version: 2, layer: 'takeover', entryId: 'takeover' }],
    ]);
  });

  it('nothing while nothing is visible, and all again after that', async () => {
    const tv = await tvWith(playlistOf(base) as ActivePlaylist, [1, 2]);
    tv.at(15_000, () => tv.stage.failures.clear());
    await tv.player.run(undefined, 40_000);
    expect(reports(tv)).toEqual([[20, 1, { version: 1, layer: 'base' }]]);
  });
});
