// What people ask an assistant about their screens, as scripts of tool calls.
import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import type { FakeIo } from '../../support/process/fake-io.ts';
import { afterEachFile } from '../../support/runtime/clean-up.ts';
import { impression, item } from '../../support/service/content.ts';
import { adminToken, startService, type TestService } from '../../support/service/service.ts';
import { registerWhenOffered, showClaim } from '../pair/claiming-tv.ts';
import { runTv } from '../tv/run-tv.ts';
import { startMcp } from './mcp-client.ts';

const page = '<!doctype html><title>Menu</title><h1>Menu</h1>';
const clock = systemClock;
const dayMs = 86_400_000;
/** The day of a Friday that is not over, and not today. */
const [friday = ''] = Array.from({ length: 8 }, (_, at) => new Date(clock.now() + (at + 1) * dayMs))
  .filter((day) => day.getUTCDay() === 5)
  .map((day) => day.toISOString().slice(0, 10));

let service: TestService<Clock>;
let mcp: Awaited<ReturnType<typeof startMcp>>;
const secrets: string[] = [adminToken];
const answers: string[] = [];
const ends: (() => Promise<unknown>)[] = [];
afterEachFile(() => Promise.all(ends.map((end) => end())));

/** Runs a simulated TV on a screen until the end of the tests. */
async function simulateTv(screenId: string): Promise<void> {
  const { code } = await service.code(screenId);
  secrets.push(code);
  let stop = () => {};
  let started = () => {};
  const isPlaying = new Promise<void>((resolve) => {
    started = resolve;
  });
  const running = runTv(service.url, ['--code', code, '-o', 'ndjson'], {
    during: async (io: FakeIo) => {
      await io.until(/shown|playing/);
      started();
      await new Promise<void>((resolve) => {
        stop = resolve;
      });
      io.signal('SIGINT');
    },
  });
  ends.push(async () => {
    stop();
    await running;
  });
  await isPlaying;
}

const ask = async (name: string, args: Record<string, unknown> = {}) => {
  const answer = await mcp.call(name, args);
  answers.push(answer.text, JSON.stringify(answer.json ?? null));
  return answer;
};
/** Reads the plan of a change, and confirms it. */
async function change(name: string, args: Record<string, unknown>) {
  const { json } = await ask(name, args);
  return ask(name, { ...args, confirm: json.confirm });
}

beforeAll(async () => {
  service = await startService<Clock>({ clock });
  const { id: venueId } = await service.venue({ name: 'Lobby', timezone: 'Europe/Berlin' });
  const screen = (name: string, more: object = {}) =>
    service.screen({ venueId, name, labels: { role: name.toLowerCase() }, ...more });
  const [window, bar, menu] = [await screen('Window'), await screen('Bar'), await screen('Menu')];
  const put = (id: string, items: object[]) =>
    service.manage('PUT', `/v1/screens/${id}/playlist`, { items });
  await put(window.id, [item({ name: 'spring.mp4' })]);
  await put(menu.id, [item({ name: 'old.mp4', campaign: 'summer' })]);
  await put(menu.id, [item({ name: 'new.mp4', campaign: 'summer' })]);
  await simulateTv(menu.id);
  const dark = await service.tv(window.id);
  secrets.push(dark.apiKey, dark.code);
  const { body: playlist } = await dark.send('GET', 'playlist');
  const [shown] = (await service.manage('GET', `/v1/screens/${menu.id}/playlist`)).body.items;
  await dark.send('POST', 'events', {
    body: [
      impression({
        playlistId: playlist.id,
        campaignId: shown.campaignId,
        creativeId: shown.creativeId,
        timestamp: Math.floor(clock.now() / 1000) - 60,
      }),
      { type: 'app_stopped', timestamp: Math.floor(clock.now() / 1000) - 5 },
    ],
  });
  const schedule = {
    entries: [{ name: 'Happy hour', days: ['fri'], from: '17:00', to: '19:00', items: [item()] }],
  };
  await service.manage('PUT', `/v1/screens/${bar.id}/schedule`, schedule);
  secrets.push(await service.token('admin'));
  mcp = await startMcp(service, adminToken, {
    args: ['--allow-changes'],
    answer: () => 'accept',
  });
});

describe('signage mcp answers', () => {
  it('which screens show nothing?', async () => {
    const { json } = await ask('status');
    const [worst] = json.records;
    expect(worst).toMatchObject({ name: 'Lobby/Window', condition: 'stopped' });
  });

  it('why is the window dark?', async () => {
    const { json } = await ask('doctor', { screen: 'Lobby/Window' });
    const glass = json.records.find(({ check }: { check: string }) => check === 'glass');
    expect(glass).toMatchObject({ status: 'fail', detail: expect.stringContaining('stopped') });
  });

  it('which screens have the label role=bar?', async () => {
    const { json } = await ask('find', { what: 'screens', selector: 'role=bar' });
    expect(json).toMatchObject({ count: 1, records: [{ screen: 'Lobby/Bar' }] });
  });

  it('what venues are there, and in which time zone?', async () => {
    const { json } = await ask('find', { what: 'venues' });
    expect(json.records).toMatchObject([{ name: 'Lobby', timezone: 'Europe/Berlin' }]);
  });

  it('what is on the menu board now?', async () => {
    const { json } = await ask('explain', { screen: 'Lobby/Menu' });
    expect(json.records).toMatchObject([{ layer: 'base', items: [{ name: 'new.mp4' }] }]);
  });

  it('what plays on Friday at half past five?', async () => {
    const { json, text } = await ask('explain', { screen: 'Lobby/Bar', at: `${friday} 17:30` });
    expect(json.records).toMatchObject([{ layer: 'schedule', entryId: 'Happy hour' }]);
    expect(text).toContain('Happy hour');
  });

  it('what does the week of the bar look like?', async () => {
    const { json, text } = await ask('week', { screen: 'Lobby/Bar', from: friday });
    expect(text).toMatch(/Fri .*HHHH/);
    expect(json.records).toContainEqual(expect.objectContaining({ entryId: 'Happy hour' }));
  });

  it('what was on the menu board before?', async () => {
    const { json } = await ask('playlist', { screen: 'Lobby/Menu', history: true });
    expect(json.records.map(({ version }: { version: number }) => version)).toEqual([2, 1]);
  });

  it('did this campaign run?', async () => {
    const { json } = await ask('report', { what: 'impressions', campaign: 'summer' });
    expect(json.records).toMatchObject([{ impressions: 1 }]);
  });

  it('on which days was something played?', async () => {
    const { json, text } = await ask('report', { what: 'impressions', groupBy: 'day' });
    expect(json.records).toMatchObject([{ key: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) }]);
    expect(text).toContain(json.records[0].key);
  });

  it('did the campaign winter run?', async () => {
    const { json } = await ask('report', { what: 'impressions', campaign: 'winter' });
    expect(json).toMatchObject({ code: 'campaign_not_found' });
  });

  it('what happened in the last hour?', async () => {
    const { json } = await ask('notices', { since: '1h', type: 'screen.paired' });
    expect(json.count).toBe(2);
  });

  it('which errors did TVs report today?', async () => {
    const { json } = await ask('events', { type: 'playback_error', since: '1d' });
    expect(json).toMatchObject({ count: 0 });
  });

  it('put this menu up until eight', async () => {
    const until = new Date(clock.now() + 3_600_000).toISOString();
    const args = { screen: 'Lobby/Menu', html: page, until, waitFor: 'playing' };
    const { json } = await change('takeover', args);
    expect(json).toMatchObject({
      state: 'done',
      glass: { reached: true, screens: [{ screen: 'Lobby/Menu', state: 'shown' }] },
    });
  });

  it('take it down again', async () => {
    const { json } = await change('clear_takeover', { screen: 'Lobby/Menu', waitFor: 'playing' });
    expect(json).toMatchObject({ state: 'done', glass: { reached: true } });
  });

  it('go back to the playlist before', async () => {
    const { json } = await change('rollback', { screen: 'Lobby/Menu', version: 'previous' });
    expect(json.results).toMatchObject([{ items: [{ name: 'old.mp4' }] }]);
  });

  it('play breakfast in the lobby from six to eleven', async () => {
    const breakfast = { name: 'Breakfast', from: '06:00', to: '11:00', items: [item()] };
    const args = { venue: 'Lobby', schedule: { entries: [breakfast] } };
    const planned = await ask('set_schedule', args);
    expect(planned.json.week.join('\n')).toMatch(/Mon .*BBBB/);
    const { json } = await ask('set_schedule', { ...args, confirm: planned.json.confirm });
    expect(json).toMatchObject({ state: 'done', undo: [{ arguments: { schedule: null } }] });
  });

  it('pair the TV that shows K7Q2MX', async () => {
    const shown = await showClaim(service);
    secrets.push(shown.token);
    const args = { screen: 'Lobby/Bar', claim: shown.claim };
    const { json } = await ask('pair', args);
    expect(json.plan.replaces).toContainEqual(
      expect.objectContaining({
        reportedByTv: expect.objectContaining({
          deviceInfo: expect.objectContaining({ manufacturer: 'Samsung', model: 'QM55C' }),
        }),
      }),
    );
    const registered = registerWhenOffered(service, shown);
    const done = await mcp.call('pair', { ...args, confirm: json.confirm });
    expect(done.json).toMatchObject({ state: 'done' });
    expect((await registered).screenId).toBe(json.plan.screens[0].id);
  });

  it('which files does nobody use?', async () => {
    const { json } = await ask('media', { unused: true });
    expect(json).toMatchObject({ notes: [] });
  });
});

it('no answer has a secret', () => {
  const all = answers.join('\n');
  expect(answers.length).toBeGreaterThan(40);
  expect(secrets.filter((secret) => all.includes(secret))).toEqual([]);
  expect(all).not.toMatch(/\b(?:dak|mak|clm|tkt|lgn)_[0-9A-Za-z]/);
});
