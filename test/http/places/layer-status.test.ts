// What `GET /v1/status` says of screens with takeovers and schedules.
import { beforeEach, describe, expect, it } from 'vitest';
import { item } from '../../support/service/management.ts';
import { type BoundTv, startService, type TestService } from '../../support/service/service.ts';

const named = (digit: number, name: string) =>
  item({ name, creativeId: `00000000-0000-4000-8000-00000000000${digit}` });
const fire = named(1, 'fire.png');
const exit = named(2, 'exit.png');
const notices = [fire, exit];
const base = [named(3, 'menu.png')];
const lunch = [named(4, 'lunch.png')];

let service: TestService;
let tv: BoundTv;
let path: string;

beforeEach(async () => {
  service = await startService();
  tv = await service.tv();
  path = `/v1/screens/${tv.screenId}`;
});

const now = () => Math.floor(service.clock.now() / 1000);
const wait = (seconds: number) => service.clock.advance(seconds * 1000);
const put = async (what: string, body: unknown) =>
  expect((await service.manage('PUT', `${path}/${what}`, body)).status).toBe(200);
const takeOver = () => put('takeover', { items: notices, until: now() + 7200 });
const schedule = () =>
  put('schedule', {
    entries: [{ name: 'Lunch', at: now() - 10, until: now() + 7200, items: lunch }],
  });
const fetchPlaylist = () => tv.send('GET', 'playlist');
const report = async (...events: object[]) => {
  const body = events.map((event) => ({ timestamp: now(), ...event }));
  const headers = { 'x-device-time': String(service.clock.now()) };
  expect((await tv.send('POST', 'events', { body, headers })).status).toBe(202);
};
const play = ([one]: object[], more = {}) => {
  const { creativeId } = one as { creativeId: string };
  return report({ type: 'play', creativeId, duration: 10, ...more });
};
const fail = (...items: typeof base) =>
  report(
    ...items.map(({ creativeId }) => ({ type: 'playback_error', creativeId, reason: 'http_404' })),
  );
const status = async () =>
  (await service.manage('GET', `/v1/status?screenId=${tv.screenId}`)).body.items[0];

describe('a layer of which all items fail', () => {
  it('is takeover_failed while the TV plays what is beneath', async () => {
    await put('playlist', { items: base });
    await fetchPlaylist();
    await play(base);
    await takeOver();
    await fetchPlaylist();
    wait(1);
    await fail(...notices);
    const reason = {
      code: 'takeover_failed',
      text: 'All of the takeover fails, so that what is beneath plays. "fire.png" from media.example.com fails: HTTP 404. 1 other item fails, too.',
    };
    expect(await status()).toMatchObject({ condition: 'partly_failing', reason });
    for (let minute = 0; minute < 20; minute++) {
      wait(60);
      await play(base);
    }
    expect(await status()).toMatchObject({
      condition: 'partly_failing',
      reason,
      playing: { name: 'menu.png' },
    });
  });

  it('is entry_failed if it is an entry, and an ordinary failure if only some items fail', async () => {
    await put('playlist', { items: base });
    await schedule();
    await fetchPlaylist();
    wait(1);
    await fail(...lunch);
    await play(base);
    expect(await status()).toMatchObject({
      condition: 'partly_failing',
      reason: { code: 'entry_failed', text: expect.stringContaining('All of the entry "Lunch"') },
    });
    await takeOver();
    await fetchPlaylist();
    wait(1);
    await fail(fire);
    await play([exit]);
    expect(await status()).toMatchObject({
      condition: 'partly_failing',
      reason: { code: 'http_404' },
    });
  });

  it('is failing if nothing beneath plays either, or nothing is beneath', async () => {
    await takeOver();
    await fetchPlaylist();
    await fail(...notices);
    wait(240);
    expect(await status()).toMatchObject({ condition: 'failing', reason: { code: 'http_404' } });
    await put('playlist', { items: base });
    await fetchPlaylist();
    await play(base);
    await fail(...notices, ...base);
    wait(240);
    await fail(...notices, ...base);
    expect(await status()).toMatchObject({ condition: 'failing', reason: { code: 'http_404' } });
  });
});

describe('what is on the screen', () => {
  const shown = (version: number, [one]: object[], more = {}) =>
    report({
      type: 'shown',
      version,
      creativeId: (one as { creativeId: string }).creativeId,
      ...more,
    });
  const layerOf = async () => {
    const { layer, playing } = await status();
    return { layer, playing: playing && [playing.name, playing.layer, playing.entryId] };
  };
  const iso = () => new Date(service.clock.now()).toISOString();

  it('is switching until the TV says shown, and then the first picture, at once', async () => {
    await put('playlist', { items: base });
    await fetchPlaylist();
    await shown(1, base);
    const first = iso();
    expect(await status()).toMatchObject({ condition: 'playing', playing: { since: first } });
    expect(await layerOf()).toEqual({
      layer: { name: 'base', entryId: null, state: 'shown', since: first },
      playing: ['menu.png', 'base', null],
    });
    wait(100);
    await takeOver();
    const since = iso();
    await fetchPlaylist();
    wait(4);
    expect(await layerOf()).toEqual({
      layer: { name: 'takeover', entryId: 'takeover', state: 'switching', since },
      playing: ['menu.png', 'base', null],
    });
    await shown(2, notices, { layer: 'takeover', entryId: 'takeover' });
    expect(await layerOf()).toEqual({
      layer: { name: 'takeover', entryId: 'takeover', state: 'shown', since: iso() },
      playing: ['fire.png', 'takeover', 'takeover'],
    });
  });

  it('is switching to a takeover that replaces another, until the TV has met it', async () => {
    await put('playlist', { items: base });
    await takeOver();
    await fetchPlaylist();
    await shown(2, notices, { layer: 'takeover', entryId: 'takeover' });
    wait(10);
    await put('takeover', { items: lunch, until: now() + 7200 });
    expect((await layerOf()).layer).toMatchObject({ state: 'switching', since: iso() });
  });

  it('is shown by a TV that switches before it fetches', async () => {
    await put('playlist', { items: base });
    const entries = [{ name: 'Lunch', at: now() + 60, until: now() + 7200, items: lunch }];
    await put('schedule', { entries });
    await fetchPlaylist();
    await shown(1, base);
    wait(60);
    expect((await layerOf()).layer).toMatchObject({ name: 'entry', state: 'switching' });
    await shown(1, lunch, { layer: 'entry', entryId: 'Lunch' });
    expect(await layerOf()).toMatchObject({
      layer: { name: 'entry', entryId: 'Lunch', state: 'shown' },
      playing: ['lunch.png', 'entry', 'Lunch'],
    });
  });

  it('is shown by a play of its items if the event is lost', async () => {
    await put('playlist', { items: base });
    await takeOver();
    await fetchPlaylist();
    await shown(2, notices, { layer: 'takeover', entryId: 'takeover' });
    await service.manage('DELETE', `${path}/takeover`);
    wait(10);
    await play(notices);
    expect((await layerOf()).layer).toMatchObject({ name: 'base', state: 'switching' });
    await fetchPlaylist();
    await play(notices);
    expect((await layerOf()).layer).toMatchObject({ name: 'base', state: 'switching' });
    wait(10);
    await play(base);
    const since = iso();
    expect(await layerOf()).toMatchObject({
      layer: { name: 'base', state: 'shown', since },
      playing: ['menu.png', 'base', null],
    });
    const { tv: seen } = (await service.manage('GET', `${path}/explain`)).body;
    expect(seen).toMatchObject({ state: 'shown', since });
  });

  it('is failed while the TV plays what is beneath, and names it', async () => {
    await put('playlist', { items: base });
    await schedule();
    await fetchPlaylist();
    await shown(2, base, { layer: 'base', failedLayer: 'entry' });
    expect(await layerOf()).toMatchObject({
      layer: { name: 'entry', entryId: 'Lunch', state: 'failed' },
      playing: ['menu.png', 'base', null],
    });
    expect(await status()).toMatchObject({
      condition: 'partly_failing',
      reason: { code: 'entry_failed' },
    });
  });

  it('is given to TVs that do not report it, and what they play is named with its layer', async () => {
    await put('playlist', { items: base });
    await fetchPlaylist();
    await play(base);
    await schedule();
    expect(await layerOf()).toMatchObject({
      layer: { name: 'entry', entryId: 'Lunch', state: 'switching' },
      playing: ['menu.png', 'base', null],
    });
    await fetchPlaylist();
    expect((await layerOf()).layer).toEqual({
      name: 'entry',
      entryId: 'Lunch',
      state: 'given',
      since: null,
    });
    wait(10);
    await play(lunch);
    expect((await layerOf()).playing).toEqual(['lunch.png', 'entry', 'Lunch']);
    await takeOver();
    expect((await layerOf()).playing).toEqual(['lunch.png', 'entry', 'Lunch']);
  });

  it('is not known after a start of the app, and null without a TV or a playlist', async () => {
    await put('playlist', { items: base });
    await fetchPlaylist();
    await shown(1, base);
    await report({ type: 'app_started' });
    expect((await layerOf()).layer).toMatchObject({ state: 'given' });
    await service.manage('DELETE', `${path}/playlist`);
    expect((await layerOf()).layer).toBeNull();
  });

  it.each([
    ['a version that is none', { version: 'x' }],
    ['no version', {}],
    ['an entryId that is none', { version: 1, entryId: 5 }],
  ])('ignores a shown with %s', async (_, event) => {
    await put('playlist', { items: base });
    await fetchPlaylist();
    await report({ type: 'shown', ...event });
    expect((await layerOf()).layer).toMatchObject({ state: 'given' });
  });
});

it('GET /v1/screens/:id/explain names the layers beneath, and says whether the TV shows what is due', async () => {
  const explain = async (query = '') =>
    (await service.manage('GET', `${path}/explain${query}`)).body;
  await put('playlist', { items: base });
  await schedule();
  await takeOver();
  await fetchPlaylist();
  const beneath = [
    { layer: 'entry', entryId: 'Lunch' },
    { layer: 'base', entryId: null },
  ];
  expect(await explain()).toMatchObject({
    layer: 'takeover',
    beneath,
    tv: { isCurrent: true, state: 'given', since: null },
  });
  const event = { type: 'shown', version: 2, layer: 'takeover', entryId: 'takeover' };
  await report(event);
  const since = new Date(service.clock.now()).toISOString();
  expect(await explain()).toMatchObject({ tv: { state: 'shown', since } });
  const later = `?at=${now() + 9000}`;
  expect(await explain(later)).toMatchObject({ layer: 'base', beneath: [], tv: { state: null } });
});
