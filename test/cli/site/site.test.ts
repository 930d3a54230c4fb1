import { readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import type { TestService } from '../../support/service.ts';
import { hangUp, json, problem, stubService } from '../../support/stub-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type Cli, runCli, startCli } from '../run-cli.ts';

const fixture = fileURLToPath(new URL('../../../fixtures/sites/aurora.yaml', import.meta.url));

let service: TestService<Clock>;
let cli: Cli;
let as: (role: string) => Promise<Cli>;
beforeEach(async () => {
  ({ service, cli, as } = await startCli());
});

const site = (venues: unknown, more: object = {}) =>
  JSON.stringify({ version: 1, ...more, venues });
const apply = (text: string, ...more: string[]) =>
  cli(['apply', '-f', '-', '-o', 'json', ...more], { stdin: text });
const diff = (text: string, ...more: string[]) =>
  cli(['diff', '-f', '-', '-o', 'json', ...more], { stdin: text });
const list = async (path: string) => (await service.manage('GET', path)).body.items;
const venueNamed = async (name: string) =>
  (await list('/v1/venues')).find((one: { name: string }) => one.name === name);
const screenNamed = async (name: string) =>
  (await list('/v1/screens')).find((one: { name: string }) => one.name === name);
/** Returns the audit entries so far. No new entry means no change. */
const changes = async () => (await list('/v1/audit?limit=200')).length;
const item = (n: number, more: object = {}) => ({
  creativeId: `c1a0e5d2-47b3-4c68-9f2a-0000000005${String(n).padStart(2, '0')}`,
  creativeUrl: `https://media.example.com/${n}.jpg`,
  creativeType: 'image',
  duration: 10,
  ...more,
});
const results = (run: { json: { name: string; result: string }[] }) =>
  Object.fromEntries(run.json.map(({ name, result }) => [name, result]));

describe('signage apply', () => {
  it('creates what a site file describes', async () => {
    const run = await cli(['apply', '-f', fixture, '-o', 'json']);
    expect(run.code).toBe(0);
    expect(run.json).toHaveLength(7);
    expect(run.json[1]).toMatchObject({
      kind: 'screen',
      name: 'Aurora Café/Entrance',
      result: 'created',
      changed: ['name', 'labels', 'playlist'],
      error: null,
    });
    expect(run.stderr).toBe('Applied 7 records: 7 created.\n');
    expect(await venueNamed('Aurora Café')).toMatchObject({
      address: 'Lange Straße 12, 10115 Berlin',
      timezone: 'Europe/Berlin',
      labels: { brand: 'aurora' },
    });
    const board = await screenNamed('Menu board');
    const menu = JSON.parse(readFileSync(join(fixture, '../playlists/menu.json'), 'utf8'));
    expect((await service.manage('GET', `/v1/screens/${board.id}/playlist`)).body).toMatchObject(
      menu,
    );
    expect((await service.manage('GET', `/v1/screens/${board.id}/config`)).body).toEqual({
      syncIntervalMinutes: 1,
    });
    expect((await service.manage('GET', `/v1/venues/${board.venueId}/config`)).body).toEqual({
      syncIntervalMinutes: 2,
      cachePolicy: { maxSizeGB: 4 },
    });
    expect(
      (await service.manage('GET', `/v1/screens/${(await screenNamed('Bar')).id}/playlist`)).body
        .items,
    ).toHaveLength(2);
    expect(
      (await service.manage('GET', `/v1/screens/${(await screenNamed('Terrace')).id}/playlist`))
        .status,
    ).toBe(404);
  });

  it('changes nothing the second time, and says so', async () => {
    await cli(['apply', '-f', fixture]);
    const before = await changes();
    const again = await cli(['apply', '-f', fixture]);
    expect(again).toMatchObject({
      code: 0,
      stderr: 'Nothing to change: 7 records compared.\n',
    });
    expect(again.stdout).toMatch(/^unchanged +screen +Aurora Café\/Menu board/m);
    expect(await changes()).toBe(before);
  });

  it('treats equivalent media URLs as equal', async () => {
    const text = (creativeUrl: string) =>
      site([
        {
          name: 'Lobby',
          screens: [{ name: 'Main', playlist: { items: [item(1, { creativeUrl })] } }],
        },
      ]);
    const written = text('HTTPS://Media.example.com\\a b.jpg');
    expect((await apply(written)).code).toBe(0);
    for (const same of [written, text('https://media.example.com/a%20b.jpg')]) {
      expect(await diff(same)).toMatchObject({ code: 0, json: [] });
      expect((await apply(same)).stderr).toContain('Nothing to change');
    }
    expect((await apply(text('https://tom:secret@media.example.com/'))).stderr).toContain(
      'must not contain a user name or password',
    );
  });

  it('treats a media URL stored by an earlier version as equal', async () => {
    const times = { createdAt: '2026-11-20T12:00:00.000Z', updatedAt: '2026-11-20T12:00:00.000Z' };
    const venue = {
      id: 'v',
      tenantId: 't',
      name: 'Lobby',
      address: null,
      timezone: null,
      labels: {},
      ...times,
    };
    const screen = {
      id: 's',
      tenantId: 't',
      venueId: 'v',
      name: 'Main',
      labels: {},
      state: 'active',
      deviceId: null,
      provisioningCode: null,
    };
    const written = item(1, { creativeUrl: 'https://media.example.com/a b.jpg' });
    const playlist = {
      id: 'p',
      tenantId: 't',
      screenId: 's',
      status: 'active',
      version: 1,
      validUntil: null,
      items: [written],
    };
    const pages = [venue, { ...screen, ...times }].map((one) =>
      json(200, { items: [one], nextCursor: null }),
    );
    const stub = await stubService(...pages, json(200, playlist));
    const env = { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x' };
    const stdin = site([
      { name: 'Lobby', screens: [{ name: 'Main', playlist: { items: [written] } }] },
    ]);
    const run = await runCli(['diff', '-f', '-', '-o', 'json'], { stdin, env });
    await stub.close();
    expect(run).toMatchObject({ code: 0, json: [] });
  });

  it('finds a record by a name that is no longer valid', async () => {
    const times = { createdAt: '2026-11-20T12:00:00.000Z', updatedAt: '2026-11-20T12:00:00.000Z' };
    const venue = {
      id: 'v',
      tenantId: 't',
      name: 'Lob\u200bby',
      address: 'There',
      timezone: null,
      labels: {},
      ...times,
    };
    const stub = await stubService(
      json(200, { items: [venue], nextCursor: null }),
      json(200, { items: [], nextCursor: null }),
      json(200, venue),
    );
    const env = { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x' };
    const stdin = site([{ name: 'Lob\u200bby', address: 'Here' }]);
    const run = await runCli(['apply', '-f', '-', '-o', 'json'], { stdin, env });
    await stub.close();
    expect(run.json).toMatchObject([{ id: 'v', result: 'updated', changed: ['address'] }]);
    expect((await apply(stdin)).json).toMatchObject([
      { result: 'failed', error: expect.stringContaining('invisible') },
    ]);
  });

  it('sends only reads the second time, with 40 screens', async () => {
    const screens = Array.from({ length: 40 }, (_, n) => ({
      name: `Screen ${n}`,
      labels: { n: `${n}` },
      playlist: { items: [item(n % 3)] },
      config: { syncIntervalMinutes: 2 + (n % 5) },
    }));
    const text = site([{ name: 'Big', screens }]);
    expect((await apply(text)).code).toBe(0);
    const before = await changes();
    const { code, json: rows, stderr } = await apply(text, '--verbose');
    expect(code).toBe(0);
    expect(rows.every((row: { result: string }) => row.result === 'unchanged')).toBe(true);
    const requests = stderr.split('\n').filter((line) => /^[A-Z]+ \//.test(line));
    expect(requests.filter((line) => !line.startsWith('GET '))).toEqual([]);
    // Venues, their screens, and for each screen its playlist and config, once.
    expect(requests).toHaveLength(2 + 2 * 40);
    expect(await changes()).toBe(before);
  });

  it('changes what differs, and keeps what the file does not name', async () => {
    const venue = await service.venue({
      name: 'Lobby',
      address: 'Old Street',
      timezone: 'Europe/London',
      labels: { region: 'west', floor: '1' },
    });
    const screen = await service.screen({ venueId: venue.id, name: 'main', labels: { a: '1' } });
    await service.manage('PUT', `/v1/screens/${screen.id}/playlist`, { items: [item(1)] });
    await service.manage('PUT', `/v1/screens/${screen.id}/config`, { syncIntervalMinutes: 3 });
    const run = await apply(
      site([
        {
          name: 'Lobby',
          address: null,
          labels: { region: 'east' },
          screens: [{ name: 'Main', config: { syncIntervalMinutes: 4 } }],
        },
      ]),
    );
    expect(run.json).toMatchObject([
      {
        name: 'Lobby',
        result: 'updated',
        changed: ['address', 'labels.region', 'labels.floor'],
        id: venue.id,
      },
      {
        name: 'Lobby/Main',
        result: 'updated',
        changed: ['name', 'config.syncIntervalMinutes'],
        id: screen.id,
      },
    ]);
    expect(await venueNamed('Lobby')).toMatchObject({
      address: null,
      timezone: 'Europe/London',
      labels: { region: 'east' },
    });
    expect(await screenNamed('Main')).toMatchObject({ id: screen.id, labels: { a: '1' } });
    expect((await service.manage('GET', `/v1/screens/${screen.id}/playlist`)).body.version).toBe(1);
  });

  it('removes playlist and config when the file says null', async () => {
    const screen = await service.screen({
      venueId: (await service.venue({ name: 'Lobby' })).id,
      name: 'Main',
      labels: { a: '1' },
    });
    await service.manage('PUT', `/v1/screens/${screen.id}/playlist`, { items: [item(1)] });
    await service.manage('PUT', `/v1/screens/${screen.id}/config`, { syncIntervalMinutes: 3 });
    const text = site([
      { name: 'Lobby', screens: [{ name: 'Main', playlist: null, config: null, labels: null }] },
    ]);
    expect((await apply(text)).json[1].changed).toEqual(['labels.a', 'config', 'playlist']);
    expect((await service.manage('GET', `/v1/screens/${screen.id}/playlist`)).status).toBe(404);
    expect((await service.manage('GET', `/v1/screens/${screen.id}/config`)).status).toBe(404);
    expect((await apply(text)).stderr).toContain('Nothing to change');
  });

  it('sets the config of the tenant, and rejects a file for another tenant', async () => {
    const run = await apply(
      site([], { tenant: { name: 'Default', config: { syncIntervalMinutes: 9 } } }),
    );
    expect(run.json).toMatchObject([
      { kind: 'tenant', name: 'default', result: 'updated', changed: ['config'] },
    ]);
    expect(
      (await apply(site([], { tenant: { config: { syncIntervalMinutes: 9 } } }))).stderr,
    ).toContain('Nothing to change');
    const other = await cli(['apply', '-f', '-'], {
      stdin: site([{ name: 'New' }], { tenant: { name: 'acme' } }),
    });
    expect(other).toMatchObject({ code: 2, stdout: '' });
    expect(other.stderr).toContain('The files are for the tenant "acme", but this is "default".');
    expect(await list('/v1/venues')).toEqual([]);
  });

  it('--dry-run prints the plan and changes nothing', async () => {
    await service.venue({ name: 'Aurora Café' });
    const before = await changes();
    const run = await cli(['apply', '-f', fixture, '--dry-run', '-o', 'json']);
    expect(run.code).toBe(0);
    expect(results(run)).toMatchObject({
      'Aurora Café': 'update',
      'Aurora Café/Entrance': 'create',
      'Aurora Riverside': 'create',
    });
    expect(run.stderr).toContain('Nothing was changed');
    expect(await changes()).toBe(before);
  });

  it('continues after a failed record, and exits with 9', async () => {
    const past = { items: [item(1)], validUntil: 1_600_000_000 };
    const run = await apply(
      site([
        {
          name: 'Lobby',
          screens: [
            { name: 'A', playlist: past },
            { name: 'B', playlist: { items: [item(2)] } },
          ],
        },
      ]),
    );
    expect(run.code).toBe(9);
    expect(results(run)).toEqual({ Lobby: 'created', 'Lobby/A': 'failed', 'Lobby/B': 'created' });
    expect(run.json[1].error).toContain('/validUntil: must be in the future');
    expect(run.stderr).toBe('Applied 3 records: 2 created, 1 failed.\n');
    const mended = await apply(
      site([{ name: 'Lobby', screens: [{ name: 'A', playlist: { items: [item(1)] } }] }]),
    );
    expect(results(mended)).toEqual({ Lobby: 'unchanged', 'Lobby/A': 'updated' });
  });

  it('shows hostile text from the service escaped', async () => {
    const stub = await stubService(
      json(200, { items: [], nextCursor: null }),
      problem(409, 'name_taken', 'no\u001b[2J'),
    );
    const env = { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x' };
    const { code, stdout } = await runCli(['apply', '-f', '-'], {
      stdin: site([{ name: 'Lobby', screens: [{ name: 'A' }] }]),
      env,
    });
    await stub.close();
    expect(code).toBe(9);
    expect(stdout).toContain('no\\u001b[2J');
    expect(stdout).toContain('Its venue could not be created.');
    expect(stdout).not.toContain('\u001b');
  });

  it('uses a record that somebody else has just created', async () => {
    const now = '2026-11-20T12:00:00.000Z';
    const times = { createdAt: now, updatedAt: now };
    const venue = {
      id: 'v',
      tenantId: 't',
      name: 'Lobby',
      address: 'There',
      timezone: null,
      labels: {},
      ...times,
    };
    const none = json(200, { items: [], nextCursor: null });
    const stub = await stubService(
      none,
      problem(409, 'name_taken', 'taken', { existingId: 'v' }),
      json(200, venue),
      json(200, { ...venue, address: 'Here' }),
    );
    const env = { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x' };
    const run = await runCli(['apply', '-f', '-', '-o', 'json'], {
      stdin: site([{ name: 'Lobby', address: 'Here' }]),
      env,
    });
    await stub.close();
    expect(run.json).toMatchObject([
      { name: 'Lobby', id: 'v', result: 'updated', changed: ['address'] },
    ]);
    expect(stub.heard.map(({ method, url }) => `${method} ${url.split('?')[0]}`).slice(1)).toEqual([
      'POST /v1/venues',
      'GET /v1/venues/v',
      'PATCH /v1/venues/v',
    ]);
  });

  it('two concurrent runs both succeed', async () => {
    const screens = Array.from({ length: 20 }, (_, n) => ({
      name: `S${n}`,
      playlist: { items: [item(n)] },
    }));
    const text = site([{ name: 'Lobby', screens }]);
    const runs = await Promise.all([apply(text), apply(text)]);
    expect(runs.map(({ code }) => code)).toEqual([0, 0]);
    expect(await list('/v1/screens')).toHaveLength(20);
    expect((await diff(text)).code).toBe(0);
  });

  it('can be interrupted, and continues in the next run', async () => {
    const screens = Array.from({ length: 60 }, (_, n) => ({
      name: `S${n}`,
      playlist: { items: [item(n)] },
    }));
    const text = site([{ name: 'Lobby', screens }]);
    const run = await cli(['apply', '-f', '-', '-o', 'json', '--verbose'], {
      stdin: text,
      during: async (io) => {
        await io.until(/POST \/v1\/screens → 201/);
        io.signal('SIGINT');
      },
    });
    expect(run.code).toBe(130);
    expect(run.stderr).toMatch(/Interrupted after \d+ of 61 records\. Run the same command again/);
    const there = (await list('/v1/screens?limit=200')).length;
    expect(there).toBeGreaterThan(0);
    expect(there).toBeLessThan(60);
    const next = await apply(text);
    expect(next.code).toBe(0);
    expect(next.json).toHaveLength(61);
    expect((await diff(text)).code).toBe(0);
  });

  it('7 when the service becomes unreachable, after printing the results so far', async () => {
    const none = json(200, { items: [], nextCursor: null });
    const stub = await stubService(none, hangUp);
    const run = await runCli(['apply', '-f', '-', '-o', 'json'], {
      stdin: site([{ name: 'A' }]),
      env: { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x' },
    });
    await stub.close();
    expect(run).toMatchObject({ code: 7, stdout: '[]\n' });
    expect(run.stderr).toContain('Stopped after 0 of 1 record.');
  });

  it('4 for a viewer', async () => {
    const run = await (await as('viewer'))(['apply', '-f', fixture]);
    expect(run.code).toBe(4);
    expect(await list('/v1/venues')).toEqual([]);
  });

  it('shows its progress on a terminal', async () => {
    const { stderr } = await cli(['apply', '-f', fixture], { tty: true });
    expect(stderr).toContain('\r\u001b[KReading current records');
    expect(stderr).toMatch(/Applying: \d of 7/);
  });
});

describe('signage apply --prune', () => {
  const text = site([{ name: 'Lobby', screens: [{ name: 'Kept' }] }]);
  beforeEach(async () => {
    const { id: venueId } = await service.venue({ name: 'Lobby' });
    for (const name of ['Kept', 'Surplus']) await service.screen({ venueId, name });
    await service.screen({
      venueId: (await service.venue({ name: 'Other' })).id,
      name: 'Elsewhere',
    });
  });
  const names = async () =>
    [...(await list('/v1/venues')), ...(await list('/v1/screens'))]
      .map(({ name }) => name)
      .toSorted();

  it('deletes nothing without --prune', async () => {
    expect((await apply(text)).code).toBe(0);
    expect(await names()).toEqual(['Elsewhere', 'Kept', 'Lobby', 'Other', 'Surplus']);
  });

  it('requires --yes without a terminal, before any change', async () => {
    const run = await apply(site([{ name: 'Lobby', screens: [{ name: 'New' }] }]), '--prune');
    expect(run.code).toBe(2);
    expect(run.stderr).toContain(
      'Delete 2 screens that the files do not name (Lobby/Kept, Lobby/Surplus)?',
    );
    expect(run.stderr).toContain('--yes');
    expect(await names()).toEqual(['Elsewhere', 'Kept', 'Lobby', 'Other', 'Surplus']);
  });

  it('deletes unnamed screens in named venues', async () => {
    const run = await apply(text, '--prune', '--yes');
    expect(run.json.at(-1)).toMatchObject({
      kind: 'screen',
      name: 'Lobby/Surplus',
      result: 'deleted',
    });
    expect(await names()).toEqual(['Elsewhere', 'Kept', 'Lobby', 'Other']);
    expect((await apply(text, '--prune')).stderr).toContain('Nothing to change');
  });

  it('deletes unnamed venues if the file has a tenant entry', async () => {
    const run = await apply(
      site([{ name: 'Lobby', screens: [{ name: 'Kept' }] }], { tenant: {} }),
      '--prune',
      '--yes',
    );
    expect(results(run)).toMatchObject({
      'Lobby/Surplus': 'deleted',
      'Other/Elsewhere': 'deleted',
      Other: 'deleted',
    });
    expect(await names()).toEqual(['Kept', 'Lobby']);
  });

  it('asks on a terminal, and changes nothing on "no"', async () => {
    const run = await cli(
      ['apply', '-f', fixture, '-f', await file('site.json', text), '--prune'],
      {
        tty: true,
        keys: [[/Delete 1 screen/, 'n\r']],
      },
    );
    expect(run.code).toBe(5);
    expect(await names()).toEqual(['Elsewhere', 'Kept', 'Lobby', 'Other', 'Surplus']);
  });

  it('never deletes an active screen without --force', async () => {
    const surplus = await screenNamed('Surplus');
    const tv = await service.tv(surplus.id);
    const planned = await apply(text, '--prune', '--dry-run');
    expect(planned.json.at(-1)).toMatchObject({
      result: 'delete',
      error: expect.stringContaining('--force'),
    });
    const run = await apply(text, '--prune');
    expect(run.code).toBe(9);
    expect(run.json.at(-1)).toMatchObject({
      name: 'Lobby/Surplus',
      result: 'failed',
      error: expect.stringContaining('active'),
    });
    expect((await tv.send('GET', 'config')).status).toBe(200);
    expect((await apply(text, '--prune', '--force', '--yes')).code).toBe(0);
    expect((await tv.send('GET', 'config')).status).toBe(401);
  });

  it('keeps a venue whose screen is kept, and reports why', async () => {
    await service.tv((await screenNamed('Elsewhere')).id);
    const run = await apply(
      site([{ name: 'Lobby', screens: [{ name: 'Kept' }, { name: 'Surplus' }] }], { tenant: {} }),
      '--prune',
      '--yes',
    );
    expect(run.code).toBe(9);
    expect(results(run)).toMatchObject({ 'Other/Elsewhere': 'failed', Other: 'failed' });
  });
});

async function file(name: string, text: string, folder?: string): Promise<string> {
  const path = join(folder ?? (await temporaryFolder()), name);
  await writeFile(path, text);
  return path;
}

describe('site files', () => {
  const refused = async (text: string) => {
    const run = await cli(['apply', '-f', await file('site.yaml', text)]);
    expect(run.stdout).toBe('');
    expect(await list('/v1/venues')).toEqual([]);
    expect(run.code).toBe(6);
    return run.stderr.replaceAll(/\S*\/site.yaml/g, 'site.yaml');
  };

  it.each([
    [
      'an unknown entry',
      'version: 1\nvenues:\n  - name: A\n    adress: here\n',
      'line 4: venues[0].adress: is not a known entry',
    ],
    [
      'a missing entry',
      'version: 1\nvenues:\n  - address: here\n',
      'line 3: venues[0].name: is missing',
    ],
    ['another version', 'version: 2\n', 'line 1: version: must be 1'],
    ['no version', 'venues: []\n', 'version: is missing'],
    [
      'a number as a label',
      'version: 1\nvenues:\n  - name: A\n    labels:\n      floor: 2\n',
      'line 5: venues[0].labels.floor: must be a string: put it in quotes, "2"',
    ],
    [
      'a bad time zone',
      'version: 1\nvenues:\n  - name: A\n    timezone: Berlin/Mitte\n',
      'line 4: venues[0].timezone: must be an IANA time zone',
    ],
    [
      'a bad name',
      'version: 1\nvenues:\n  - name: a/b\n',
      'line 3: venues[0].name: must not contain "/"',
    ],
    [
      'a bad config',
      'version: 1\nvenues:\n  - name: A\n    config: { syncIntervalMinutes: 0 }\n',
      'line 4: venues[0].config.syncIntervalMinutes: must be 1 to 1440',
    ],
    [
      'a bad item',
      'version: 1\nplaylists:\n  p:\n    items:\n      - creativeType: image\n',
      'line 5: playlists.p.items[0].creativeId: is missing',
    ],
    [
      'a bad item of a screen',
      'version: 1\nvenues:\n  - name: A\n    screens:\n      - name: S\n        playlist:\n          items: []\n',
      'line 7: venues[0].screens[0].playlist.items: must have 1 to 500 items',
    ],
    [
      'a list for a playlist',
      'version: 1\nvenues:\n  - name: A\n    screens:\n      - name: S\n        playlist: []\n',
      'line 6: venues[0].screens[0].playlist: must be the name',
    ],
    [
      'an unknown playlist',
      'version: 1\nvenues:\n  - name: A\n    screens:\n      - name: S\n        playlist: p\n',
      'line 6: venues[0].screens[0].playlist: names the playlist "p"',
    ],
    [
      'a missing file',
      'version: 1\nvenues:\n  - name: A\n    screens:\n      - name: S\n        playlist: { file: none.json }\n',
      'venues[0].screens[0].playlist.file: No such file: ',
    ],
    [
      'a venue twice',
      'version: 1\nvenues:\n  - name: A\n  - name: a\n',
      'line 4: venues[1].name: is a duplicate of site.yaml, line 3',
    ],
    [
      'a screen twice',
      'version: 1\nvenues:\n  - name: A\n    screens:\n      - name: S\n      - name: s\n',
      'line 6: venues[0].screens[1].name: is a duplicate of',
    ],
    ['no YAML', 'version: 1\nvenues: [\n', 'is not valid YAML or JSON'],
    [
      'an entry twice',
      'version: 1\nversion: 1\n',
      'line 2, column 1: is not valid YAML or JSON: Map keys must be unique\n',
    ],
    [
      'an entry twice, in JSON',
      '{ "version": 1,\n  "venues": [], "venues": [] }',
      'line 2, column 17: is not valid YAML or JSON: Map keys must be unique\n',
    ],
    [
      'a mistake, in JSON',
      '{ "version": 1,\n  "venues": [{ "name": 1 }] }',
      'line 2: venues[0].name: must be a string',
    ],
    ['nothing', '# nothing\n', 'the file is empty'],
    ['a list', '- a\n', 'line 1: the document: must be a map with version: 1'],
  ])('report %s, by its position', async (_, text, complaint) => {
    expect(await refused(text)).toContain(complaint);
  });

  it('report all errors at once, each with its document', async () => {
    const stderr = await refused(
      'version: 1\nvenues:\n  - name: ""\n---\nversion: 1\nvenues:\n  - name: A\n    labels: 1\n',
    );
    expect(stderr).toContain('site.yaml, document 1, line 3: venues[0].name: must not be empty\n');
    expect(stderr).toContain('site.yaml, document 2, line 8: venues[0].labels');
  });

  it('report all syntax errors by line, each once', async () => {
    const stderr = await refused('a: 1\na: 2\nb: [1\nc: d: e\n---\nq: "x');
    const at = [...stderr.matchAll(/site\.yaml, line (\d+), column (\d+): is not valid/g)];
    expect(at.map(([, line, column]) => `${line}:${column}`)).toEqual(['2:1', '4:1', '4:4', '6:6']);
    expect(stderr).toContain('There are 4 mistakes:\n');
  });

  it('report all syntax errors of a playlist file', async () => {
    const folder = await temporaryFolder();
    await file('p.yaml', 'a: 1\na: 2\na: 3\n', folder);
    const site = 'version: 1\nplaylists:\n  p: { file: p.yaml }\n  q: { file: p.yaml }\n';
    const { code, stderr } = await cli(['diff', '-f', await file('site.yaml', site, folder)]);
    expect(code).toBe(6);
    expect(stderr.match(/p\.yaml, line \d, column 1: is not valid/g)).toHaveLength(2);
  });

  it('report errors in playlist files by their position', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'playlists'));
    await file('playlists/p.json', '{\n  "items": [\n    {}\n  ]\n}', folder);
    const { code, stderr } = await cli([
      'diff',
      '-f',
      await file('site.yaml', 'version: 1\nplaylists:\n  p: { file: playlists/p.json }\n', folder),
    ]);
    expect(code).toBe(6);
    expect(stderr).toContain('playlists/p.json, line 3: items[0].creativeId: is missing');
  });

  describe('that name playlist files', () => {
    const siteOf = (named: string) =>
      JSON.stringify({
        version: 1,
        venues: [{ name: 'A', screens: [{ name: 'S', playlist: { file: named } }] }],
      });
    const playlist = JSON.stringify({ items: [item(1)] });
    let inside: string;
    let outside: string;
    beforeEach(async () => {
      [inside, outside] = [await temporaryFolder(), await temporaryFolder()];
      await mkdir(join(inside, 'lists'));
      await file('p.json', playlist, inside);
      await file('lists/p.json', playlist, inside);
      await file('p.json', playlist, outside);
      await file('..p.json', playlist, inside);
      await symlink(join(outside, 'p.json'), join(inside, 'link.json'));
      await symlink(outside, join(inside, 'linked'));
      await symlink(join(inside, 'p.json'), join(inside, 'lists', 'own.json'));
    });

    it.each(['p.json', './lists/../p.json', 'lists/p.json', 'lists/own.json', '..p.json'])(
      'read %s in their folder',
      async (named) => {
        const run = await cli(['apply', '-f', await file('site.json', siteOf(named), inside)]);
        expect(run).toMatchObject({ code: 0, stderr: 'Applied 2 records: 2 created.\n' });
      },
    );

    it('read a file in their folder by its absolute path, also where the folder itself is a link', async () => {
      await file('site.json', siteOf(join(inside, 'p.json')), inside);
      const link = join(await temporaryFolder(), 'site');
      await symlink(inside, link);
      expect((await cli(['apply', '-f', join(link, 'site.json')])).code).toBe(0);
    });

    it.each<[how: string, named: () => string]>([
      ['..', () => `../${basename(outside)}/p.json`],
      ['an absolute path', () => join(outside, 'p.json')],
      ['a symbolic link', () => 'link.json'],
      ['a folder that is a symbolic link', () => 'linked/p.json'],
    ])('6 for a playlist file outside the folder, by %s, naming the flag', async (_, named) => {
      const text = await file('site.json', siteOf(named()), inside);
      const before = await changes();
      for (const command of ['apply', 'diff']) {
        const run = await cli([command, '-f', text]);
        expect([run.code, run.stdout]).toEqual([6, '']);
        expect(run.stderr).toContain('venues[0].screens[0].playlist.file: ');
        expect(run.stderr).toContain(
          `${basename(named())} is outside the folder of the site file. To read it, give --allow-outside`,
        );
      }
      expect(await changes()).toBe(before);
      expect((await cli(['diff', '-f', text, '--allow-outside'])).code).toBe(9);
      expect((await cli(['apply', '-f', text, '--allow-outside'])).code).toBe(0);
    });

    it('6 for a file outside the folder of one of two site files', async () => {
      const own = await file(
        'own.json',
        JSON.stringify({ version: 1, playlists: { p: { file: 'p.json' } } }),
        outside,
      );
      const other = await file('site.json', siteOf(join(outside, 'p.json')), inside);
      const run = await cli(['apply', '-f', own, '-f', other]);
      expect(run).toMatchObject({
        code: 6,
        stderr: expect.stringContaining('is outside the folder'),
      });
    });
  });

  it('support anchors, and playlists of other files', async () => {
    const folder = await temporaryFolder();
    const screens = Array.from(
      { length: 150 },
      (_, n) => `      - { <<: *usual, name: S${n} }\n`,
    ).join('');
    const venues = await file(
      'venues.yaml',
      `version: 1\nvenues:\n  - name: A\n    screens:\n      - &usual { name: First, labels: { a: b }, playlist: shared }\n${screens}`,
      folder,
    );
    const playlists = await file(
      'playlists.yaml',
      JSON.stringify({ version: 1, playlists: { shared: { items: [item(1)] } } }),
      folder,
    );
    const run = await cli(['apply', '-f', venues, '-f', playlists]);
    expect(run.stderr).toBe('Applied 152 records: 152 created.\n');
    expect(await screenNamed('S7')).toMatchObject({ labels: { a: 'b' } });
  });

  it('2 for missing or unreadable files, and for stdin twice', async () => {
    expect((await cli(['apply'])).stderr).toContain('Give a site file with -f');
    expect((await cli(['diff'])).code).toBe(2);
    expect((await cli(['apply', '-f', '/nowhere/site.yaml'])).code).toBe(2);
    expect((await cli(['apply', '-f', '-', '-f', '-'], { stdin: '{}' })).code).toBe(2);
    expect((await cli(['apply', '-f', fixture, '--force'])).code).toBe(2);
  });
});

describe('signage diff', () => {
  it('9 with a row for each difference', async () => {
    await cli(['apply', '-f', fixture]);
    const venue = await venueNamed('Aurora Riverside');
    const screen = await screenNamed('Entrance');
    await service.manage('PATCH', `/v1/venues/${venue.id}`, {
      address: 'Elsewhere',
      labels: { region: null, extra: 'x' },
    });
    const playlist = (await service.manage('GET', `/v1/screens/${screen.id}/playlist`)).body;
    await service.manage('PUT', `/v1/screens/${screen.id}/playlist`, {
      items: playlist.items.map((one: object, at: number) =>
        at === 1 ? { ...one, duration: 99 } : one,
      ),
    });
    const before = await changes();
    const run = await cli(['diff', '-f', fixture, '-o', 'json']);
    expect(run.code).toBe(9);
    expect(
      run.json.map(({ change, name, member, from, to }: Record<string, unknown>) => [
        change,
        name,
        member,
        from,
        to,
      ]),
    ).toEqual([
      ['update', 'Aurora Café/Entrance', 'playlist.items[1].duration', 99, 10],
      ['update', 'Aurora Riverside', 'address', 'Elsewhere', '8 Quay Street, Bristol BS1 4XX'],
      ['update', 'Aurora Riverside', 'labels.extra', 'x', null],
      ['update', 'Aurora Riverside', 'labels.region', null, 'west'],
    ]);
    expect(run.stderr).toBe('2 records to change: 2 to update.\n');
    expect(await changes()).toBe(before);
  });

  it('shows creations and deletions', async () => {
    const { id: venueId } = await service.venue({ name: 'Aurora Riverside' });
    await service.screen({ venueId, name: 'Old' });
    const run = await cli(['diff', '-f', fixture, '--prune']);
    expect(run.code).toBe(9);
    expect(run.stdout).toMatch(/^create +screen +Aurora Café\/Entrance +playlist +- +2 items$/m);
    expect(run.stdout).toMatch(/^delete +screen +Aurora Riverside\/Old +name/m);
    expect((await cli(['diff', '-f', fixture])).stdout).not.toContain('delete');
    expect(
      (await cli(['diff', '-f', fixture, '-o', 'name'])).stdout
        .split('\n')
        .filter((name) => name === 'Aurora Café/Entrance'),
    ).toHaveLength(1);
  });

  it('0 when nothing differs, also for a viewer', async () => {
    await cli(['apply', '-f', fixture]);
    expect(await (await as('viewer'))(['diff', '-f', fixture])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'Nothing differs: 7 records compared.\n',
    });
  });
});

describe('signage export', () => {
  it('writes a file that diff finds equal', async () => {
    await cli(['apply', '-f', fixture]);
    await service.manage(
      'PUT',
      `/v1/tenants/${(await venueNamed('Aurora Café')).tenantId}/config`,
      { heartbeatIntervalMinutes: 2 },
    );
    const { code, stdout } = await cli(['export']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^version: 1\ntenant:\n {2}config:/);
    expect(stdout.match(/good-morning.mp4/g)).toHaveLength(1);
    expect(await cli(['diff', '-f', '-', '--prune'], { stdin: stdout })).toMatchObject({
      code: 0,
      stdout: '',
    });
    const other = await startCli();
    expect((await other.cli(['apply', '-f', '-'], { stdin: stdout })).code).toBe(0);
    expect((await other.cli(['export'])).stdout).toBe(stdout);
  });

  it('exports only named venues, and supports json', async () => {
    await cli(['apply', '-f', fixture]);
    const { json: exported } = await cli(['export', '--venue', 'Aurora Riverside', '-o', 'json']);
    expect(exported).toMatchObject({
      version: 1,
      venues: [
        {
          name: 'Aurora Riverside',
          screens: [{ name: 'Bar', playlist: { items: [{}, {}] } }, { name: 'Terrace' }],
        },
      ],
    });
    expect(exported).not.toHaveProperty('tenant');
    expect((await cli(['export', '--jq', '.venues[].name'])).stdout).toBe(
      'Aurora Café\nAurora Riverside\n',
    );
  });

  it('escapes control characters without losing them', async () => {
    const item9 = item(9, { title: 'a\u202eb: "x"\n' });
    const { id } = await service.screen({
      venueId: (await service.venue({ name: 'Lobby', address: 'A\u2028B' })).id,
      name: 'Main',
    });
    await service.manage('PUT', `/v1/screens/${id}/playlist`, { items: [item9] });
    const { stdout } = await cli(['export']);
    expect(stdout).not.toMatch(/[\u202e\u2028]/);
    expect((await cli(['diff', '-f', '-'], { stdin: stdout })).code).toBe(0);
  });

  it('3 for an unknown venue, 2 for table output', async () => {
    expect((await cli(['export', '--venue', 'None'])).code).toBe(3);
    expect((await cli(['export', '-o', 'table'])).code).toBe(2);
  });
});
