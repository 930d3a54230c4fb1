import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { startProxy } from '../../support/network/intervening-proxy.ts';
import { item } from '../../support/service/content.ts';
import { adminToken, startService } from '../../support/service/service.ts';
import { startMcp } from './mcp-client.ts';

const page = (text: string) => `<!doctype html><title>Menu</title><h1>${text}</h1>`;
const takeover = { screen: 'Lobby/Window', html: page('Fire'), until: '2h' };
const entries = [{ name: 'Lunch', from: '11:00', to: '14:00', base: true }];

async function start(options: Parameters<typeof startMcp>[2] = {}) {
  const service = await startService<Clock>({ clock: systemClock });
  const venue = await service.venue({ name: 'Lobby', timezone: 'Europe/Berlin' });
  const screen = await service.screen({ venueId: venue.id, name: 'Window' });
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'menu.html'), page('Menu'));
  const more = options.args ?? [];
  const mcp = await startMcp(service, adminToken, {
    cwd,
    ...options,
    args: ['--allow-changes', ...more],
  });
  const path = `/v1/screens/${screen.id}`;
  const read = async (what: string) => (await service.manage('GET', `${path}/${what}`)).body;
  const change = async (name: string, args: Record<string, unknown>) => {
    const { json } = await mcp.call(name, args);
    return mcp.call(name, { ...args, confirm: json.confirm });
  };
  return { service, venue, screen, cwd, path, read, change, mcp };
}

const accepting = { answer: () => 'accept' as const };
const show = { screen: 'Lobby/Window', files: ['menu.html'] };

describe('a tool that changes something', () => {
  it('answers with a plan, and changes nothing', async () => {
    const { mcp, read } = await start(accepting);
    const { json, isError } = await mcp.call('show', { ...show, validUntil: '2h' });
    expect(isError).toBe(false);
    expect(json).toMatchObject({
      state: 'planned',
      plan: {
        screens: [{ screen: 'Lobby/Window', hasTv: false }],
        count: 1,
        tvs: 0,
        replaces: [{ of: 'playlist of Lobby/Window', now: 'no playlist' }],
        after: ['menu.html, 10 s'],
        ends: expect.stringMatching(/^20/),
      },
    });
    expect(await read('playlist')).toMatchObject({ code: 'playlist_not_found' });
    expect(mcp.asked).toEqual([]);
  });

  it('makes what the plan showed once the user accepts, and names its undo', async () => {
    const { mcp, change, read } = await start(accepting);
    const { json } = await change('show', { ...show, validUntil: '2h' });
    expect(mcp.asked).toEqual([expect.stringMatching(/menu\.html.*Lobby\/Window/s)]);
    expect(json).toMatchObject({ state: 'done' });
    expect(await read('playlist')).toMatchObject({ version: 1, items: [{ name: 'menu.html' }] });
    const [{ tool, arguments: args }] = json.undo;
    await change(tool, args);
    expect(await read('playlist')).toMatchObject({ code: 'playlist_not_found' });
  });

  it('asks with escaped names, which cannot add lines to the question', async () => {
    const { service, screen, mcp, change } = await start(accepting);
    const name = 'Win\u202edow\u2028Screens (0)';
    await service.manage('PATCH', `/v1/screens/${screen.id}`, { name });
    await change('show', { ...show, screen: screen.id });
    expect(mcp.asked).toEqual([expect.stringContaining('Win')]);
    expect(mcp.asked[0]).not.toMatch(/[\u202e\u2028]/);
  });

  it.each(['decline', 'cancel'] as const)('changes nothing when the user says %s', async (said) => {
    const { change, read } = await start({ answer: () => said });
    const { isError, json } = await change('takeover', takeover);
    expect(isError).toBe(true);
    expect(json).toMatchObject({
      code: 'declined',
      next: expect.stringContaining('signage takeover set Lobby/Window page.html --until'),
    });
    expect(await read('takeover')).toMatchObject({ code: 'takeover_not_found' });
  });

  it('changes nothing for a client that cannot ask, unless --allow-unattended', async () => {
    const asking = await start();
    expect((await asking.change('show', show)).json).toMatchObject({ code: 'declined' });
    expect(await asking.read('playlist')).toMatchObject({ code: 'playlist_not_found' });
    const unattended = await start({ args: ['--allow-unattended'] });
    expect((await unattended.change('show', show)).json).toMatchObject({ state: 'done' });
    expect((await unattended.change('takeover', takeover)).json).toMatchObject({
      code: 'declined',
    });
  });

  it('asks about more than 5 screens even with --allow-unattended', async () => {
    const { service, venue, change, read } = await start({ args: ['--allow-unattended'] });
    for (let at = 0; at < 5; at++) await service.screen({ venueId: venue.id, name: `S${at}` });
    const { json } = await change('show', { venue: 'Lobby', files: ['menu.html'] });
    expect(json).toMatchObject({ code: 'declined' });
    expect(await read('playlist')).toMatchObject({ code: 'playlist_not_found' });
  });

  it('asks clients of 2026-07-28, too', async () => {
    const { mcp, change, read } = await start({ ...accepting, pin: '2026-07-28' });
    expect((await change('takeover', takeover)).json).toMatchObject({ state: 'done' });
    expect(mcp.asked).toHaveLength(1);
    expect(await read('takeover')).toMatchObject({ items: [{ name: 'page.html' }] });
  });

  it('takes the token of a plan once, and only with its arguments', async () => {
    const { mcp } = await start({ args: ['--allow-unattended'] });
    const { json } = await mcp.call('show', show);
    const { confirm } = json;
    const other = await mcp.call('show', { ...show, duration: '20s', confirm });
    expect(other.json).toMatchObject({ message: expect.stringContaining('of other arguments') });
    const elsewhere = await mcp.call('rollback', { screen: 'Lobby/Window', version: 1, confirm });
    expect(elsewhere.isError).toBe(true);
    expect((await mcp.call('show', { ...show, confirm })).json).toMatchObject({ state: 'done' });
    expect((await mcp.call('show', { ...show, confirm })).isError).toBe(true);
    expect((await mcp.call('show', { ...show, confirm: 'guessed' })).isError).toBe(true);
  });
});

describe('a plan that is out of date', () => {
  const unattended = { args: ['--allow-unattended'], ...accepting };

  it.each<[string, string, Record<string, unknown>, string, string, object, RegExp]>([
    ['the playlist', 'show', show, 'PUT', 'playlist', { items: [] }, /was no playlist\. Now: ver/],
    ['the takeover', 'takeover', takeover, 'PUT', 'takeover', {}, /takeover of .* was no takeover/],
    [
      'the schedule',
      'set_schedule',
      { screen: 'Lobby/Window', schedule: { entries } },
      'PUT',
      'schedule',
      { entries: [] },
      /was no schedule\. Now: a schedule/,
    ],
  ])('changes nothing, and names %s', async (_, tool, args, method, what, body, message) => {
    const { mcp, service, path, read } = await start(unattended);
    const { json } = await mcp.call(tool, args);
    const until = Math.floor(systemClock.now() / 1000) + 600;
    const item = { creativeId: crypto.randomUUID(), creativeUrl: 'https://m.example/a.png' };
    const items = [{ ...item, creativeType: 'image', duration: 5 }];
    const sent = what === 'schedule' ? body : { items, ...(what === 'takeover' && { until }) };
    expect((await service.manage(method, `${path}/${what}`, sent)).status).toBeLessThan(300);
    const before = await read(what);
    const late = await mcp.call(tool, { ...args, confirm: json.confirm });
    expect(late.json).toMatchObject({
      code: 'precondition_failed',
      message: expect.stringMatching(message),
    });
    expect(await read(what)).toEqual(before);
  });

  it.each([
    ['one screen', { screen: 'Lobby/Window' }],
    ['a venue', { venue: 'Lobby' }],
  ])('replaces no takeover that somebody sets while it is made, for %s', async (_, of) => {
    const { service, path, read } = await start(unattended);
    const until = Math.floor(systemClock.now() / 1000) + 600;
    const { items } = (await service.manage('PUT', `${path}/takeover`, { items: [item()], until }))
      .body;
    await service.manage('DELETE', `${path}/takeover`);
    const front = await startProxy(service.url, {
      async before(line) {
        if (/^(?:PUT .*takeover|POST .*publications)/.test(line))
          await service.manage('PUT', `${path}/takeover`, { items, until });
      },
    });
    const mcp = await startMcp(front, adminToken, { args: ['--allow-changes'], ...accepting });
    const args = { ...of, html: page('Fire'), until: '2h' };
    const { json } = await mcp.call('takeover', args);
    const late = await mcp.call('takeover', { ...args, confirm: json.confirm });
    expect(late.isError).toBe(true);
    expect(late.text).toMatch(/precondition_failed|takeover was changed.*"undo":\[\]/);
    expect(await read('takeover')).toMatchObject({ items, until });
  });

  it('changes nothing when a file has other content', async () => {
    const { mcp, cwd, read } = await start(unattended);
    const { json } = await mcp.call('show', show);
    await writeFile(join(cwd, 'menu.html'), page('Another'));
    const late = await mcp.call('show', { ...show, confirm: json.confirm });
    expect(late.json).toMatchObject({ message: expect.stringContaining('files') });
    expect(await read('playlist')).toMatchObject({ code: 'playlist_not_found' });
  });

  it('changes nothing when other screens match', async () => {
    const { mcp, service, venue, read } = await start(unattended);
    const args = { venue: 'Lobby', files: ['menu.html'] };
    const { json } = await mcp.call('show', args);
    await service.screen({ venueId: venue.id, name: 'New' });
    const late = await mcp.call('show', { ...args, confirm: json.confirm });
    expect(late.json).toMatchObject({ message: expect.stringContaining('Now: 2') });
    expect(await read('playlist')).toMatchObject({ code: 'playlist_not_found' });
  });
});

it('reads no file outside the root folder, also through links and documents', async () => {
  const { mcp, cwd } = await start(accepting);
  const outside = join(await temporaryFolder(), 'other.html');
  await writeFile(outside, page('Secret'));
  await symlink(outside, join(cwd, 'link.html'));
  const screen = 'Lobby/Window';
  const items = [{ file: outside, duration: 5 }];
  for (const [tool, args] of [
    ['show', { files: [outside] }],
    ['show', { files: ['link.html'] }],
    ['show', { files: ['../'] }],
    ['publish', { playlist: { items } }],
    ['set_schedule', { schedule: { entries: [{ ...entries[0], base: undefined, items }] } }],
    ['set_schedule', { schedule: { entries: [{ name: 'A', playlist: outside }] } }],
    ['takeover', { files: [outside], until: '1h' }],
    ['takeover', { playlist: { items }, until: '1h' }],
  ] as const)
    expect(await mcp.call(tool, { screen, ...args }), tool).toMatchObject({
      isError: true,
      json: { code: 'usage' },
    });
});

it('offers no tool that changes something without --allow-changes, and refuses its name', async () => {
  const service = await startService<Clock>({ clock: systemClock });
  const { client } = await startMcp(service, adminToken, accepting);
  for (const name of ['show', 'takeover', 'pair', 'rollback'])
    await expect(client.callTool({ name, arguments: { screen: 'x' } })).rejects.toThrow(name);
});

it('changes only the venue of --venue, because its token can do no more', async () => {
  const { service, change } = await start({ ...accepting, args: ['--venue', 'Lobby'] });
  const other = await service.screen({ name: 'Elsewhere' });
  expect((await change('show', show)).json).toMatchObject({ state: 'done' });
  expect((await change('show', { ...show, screen: other.id })).json).toMatchObject({
    code: 'screen_not_found',
  });
});
