// What all commands for several screens have in common.
import { writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { item } from '../../support/content.ts';
import type { TestService } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type Cli, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;
let file: string;
let count = 0;

beforeAll(async () => {
  ({ cli, service } = await startCli());
  file = `${await temporaryFolder()}/spring.json`;
  await writeFile(file, JSON.stringify([item()]));
});

/** Creates a venue with some screens. Returns its name and the ids. */
async function site(screens: number) {
  const venue = `Site ${++count}`;
  const { id: venueId } = await service.venue({ name: venue });
  const ids: string[] = [];
  for (let at = 1; at <= screens; at++)
    ids.push((await service.screen({ venueId, name: `S${at}`, labels: { site: venue } })).id);
  return { venue, ids };
}

const status = async (id: string | undefined) =>
  (await service.manage('GET', `/v1/screens/${id}/playlist`)).status;

describe('a change of several screens', () => {
  it.each([
    ['y\r', 0, 200],
    ['n\r', 5, 404],
    ['\r', 5, 404],
  ])('asks at a terminal, with the number of screens: %j exits %i', async (keys, code, found) => {
    const { venue, ids } = await site(7);
    const run = await cli(['playlist', 'publish', '--venue', venue, '-f', file], {
      tty: true,
      keys: [[/Publish on 7 screens: "Site \d+\/S1", .*, and 2 more\?/s, keys]],
    });
    expect([run.code, await status(ids[6])]).toEqual([code, found]);
  });

  it.each([
    ['--yes at a terminal', ['--yes'], true],
    ['--dry-run at a terminal', ['--dry-run'], true],
    ['no terminal', [], false],
  ])('does not ask with %s', async (_, words, tty) => {
    const { venue } = await site(2);
    const line = ['playlist', 'publish', '--venue', venue, '-f', file, ...words];
    const run = await cli(line, { tty });
    expect(run.code).toBe(0);
    expect(run.stderr).not.toContain('?');
  });

  it('2 for a destructive command without a terminal and --yes', async () => {
    const { venue, ids } = await site(2);
    const run = await cli(['screen', 'delete', '--venue', venue]);
    expect(run.code).toBe(2);
    expect(run.stderr).toMatch(/Delete 2 screens: .* give --yes/);
    expect((await service.manage('GET', `/v1/screens/${ids[0]}`)).status).toBe(200);
  });

  it('shows a progress bar at a terminal, and then all results and their number', async () => {
    const { venue } = await site(30);
    const line = ['playlist', 'publish', '--venue', venue, '-f', file, '--yes'];
    const { stdout, stderr } = await cli(line, { tty: true, columns: 60 });
    const erase = '\r\u001b[K';
    expect(stderr).toMatch(/\[#* *\] \d+ of 30/);
    expect(stderr).toContain(`${erase}[`);
    expect(stderr.endsWith(`${erase}30 published.\n`)).toBe(true);
    expect(stdout.match(/published/g)).toHaveLength(30);
  });

  it.each([
    ['NO_COLOR', { NO_COLOR: '1' }, /ESC\[\d*m/],
    ['TERM=dumb', { TERM: 'dumb' }, /ESC|\r/],
  ])('writes no other escapes with %s', async (_, env, unwanted) => {
    const { venue } = await site(2);
    const line = ['playlist', 'publish', '--venue', venue, '-f', file, '--yes'];
    const { stdout, stderr } = await cli(line, { tty: true, env });
    expect((stdout + stderr).replaceAll('\u001b', 'ESC')).not.toMatch(unwanted);
  });
});

describe('a selection without screens', () => {
  it.each([
    ['playlist publish', ['-f', '-'], JSON.stringify([item()])],
    ['playlist withdraw', ['--yes']],
    ['screen update', ['--label', 'a=b']],
    ['screen delete', ['--yes']],
    ['device revoke', ['--yes']],
    ['code create', []],
    ['config set', ['volume=1']],
    ['config get', []],
    ['config unset', ['--yes']],
    ['report impressions', []],
  ])('3 for signage %s, 0 with --allow-none', async (command, words, stdin = '') => {
    const line = [...command.split(' '), '--selector', 'flor=0', ...words];
    const refused = await cli(line, { stdin });
    expect([refused.code, refused.stdout]).toEqual([3, '']);
    expect(refused.stderr).toContain('No screen matches --selector "flor=0".');
    expect(refused.stderr).toContain('signage screen list');
    const allowed = await cli([...line, '--allow-none'], { stdin });
    expect(allowed).toMatchObject({ code: 0, stderr: 'No screen matches.\n' });
  });
});

describe('--selector', () => {
  const selected = (label: string, ...words: string[]) => [...words, '--selector', label];
  const results = ({ ndjson }: Awaited<ReturnType<Cli>>) => ndjson.map(({ result }) => result);

  /** Creates a venue with one screen with a TV, and one without. */
  async function mixed() {
    const { venue, ids } = await site(2);
    const label = `site=${venue}`;
    const tv = await service.tv(ids[0] ?? '');
    return { venue, ids, label, tv };
  }

  it('code create makes a code for each screen without a TV', async () => {
    const { venue, ids, label } = await mixed();
    const run = await cli(selected(label, 'code', 'create', '-o', 'ndjson'));
    expect(run.code).toBe(0);
    expect(run.ndjson).toEqual([
      {
        name: `${venue}/S1`,
        id: ids[0],
        result: 'paired',
        code: null,
        expiresAt: null,
        error: null,
      },
      {
        name: `${venue}/S2`,
        id: ids[1],
        result: 'created',
        code: expect.stringMatching(/^[A-Z0-9]{8}$/),
        expiresAt: expect.any(String),
        error: null,
      },
    ]);
    const status = await cli(['code', 'status', run.ndjson[1].code, '-o', 'json']);
    expect(status.json).toMatchObject({ screenId: ids[1], status: 'pending' });
    const table = await cli(selected(label, 'code', 'create'));
    expect(table.stdout).toMatch(/^NAME +RESULT +CODE +EXPIRES AT +ERROR\n/);
  });

  it('config set, get and unset work on each screen', async () => {
    const { ids, label } = await mixed();
    const set = selected(label, 'config', 'set', 'volume=0.5', 'a.b=1', '-o', 'ndjson');
    expect(results(await cli(set))).toEqual(['changed', 'changed']);
    expect(results(await cli(set))).toEqual(['unchanged', 'unchanged']);
    const unset = selected(label, 'config', 'unset', '-o', 'ndjson');
    expect(results(await cli([...unset, '--key', 'volume']))).toEqual(['removed', 'removed']);
    expect(results(await cli([...unset, '--key', 'volume']))).toEqual(['unchanged', 'unchanged']);
    await service.manage('DELETE', `/v1/screens/${ids[1]}/config`);
    const stored = await cli(selected(label, 'config', 'get', '-o', 'ndjson'));
    expect(stored.ndjson.map(({ result, config }) => [result, config])).toEqual([
      ['stored', { a: { b: 1 } }],
      ['none', null],
    ]);
    const replace = selected(label, 'config', 'set', 'x=1', '--replace', '-o', 'ndjson');
    expect(results(await cli(replace))).toEqual(['replaced', 'replaced']);
    expect((await cli(unset)).code).toBe(2);
    expect(results(await cli([...unset, '--yes']))).toEqual(['removed', 'removed']);
  });

  it('config unset removes the keys that a screen has', async () => {
    const { ids, label } = await mixed();
    await service.manage('PUT', `/v1/screens/${ids[0]}/config`, { a: 1, c: 2 });
    await service.manage('PUT', `/v1/screens/${ids[1]}/config`, { c: 2 });
    const keys = ['--key', 'a', '--key', 'b', '-o', 'ndjson'];
    const run = await cli(selected(label, 'config', 'unset', ...keys));
    expect([run.code, results(run)]).toEqual([0, ['removed', 'unchanged']]);
    for (const id of ids)
      expect((await service.manage('GET', `/v1/screens/${id}/config`)).body).toEqual({ c: 2 });
  });

  it.each([
    ['a level', ['config', 'set', 'a=1', '--level', 'venue'], /leave out --level venue/],
    ['a name as well', ['config', 'get', 'Lobby'], /but not both/],
    ['another group', ['report', 'impressions', '--group-by', 'day'], /--group-by day/],
  ])('2 with %s', async (_, words, message) => {
    const run = await cli(selected('a=b', ...words));
    expect([run.code, run.stdout]).toEqual([2, '']);
    expect(run.stderr).toMatch(message);
  });

  it('wait screen waits until all screens have a TV', async () => {
    const { ids, label } = await mixed();
    const wait = selected(label, 'wait', 'screen', '-o', 'ndjson');
    const late = await cli([...wait, '--timeout', '1s']);
    expect(late.code).toBe(8);
    expect(late.stderr).toMatch(/still missing are 1 of 2 screens, such as \S+Site \d+\/S2/);
    await service.tv(ids[1] ?? '');
    const run = await cli(wait);
    expect([run.code, run.ndjson.map(({ id }) => id)]).toEqual([0, ids]);
  });

  it('wait device waits until the devices of all screens are online', async () => {
    const { ids, label, tv } = await mixed();
    const wait = selected(label, 'wait', 'device', '--timeout', '1s', '-o', 'name');
    expect((await cli(wait)).code).toBe(8);
    const other = await service.tv(ids[1] ?? '');
    for (const { deviceId, apiKey } of [tv, other])
      await fetch(`${service.url}/devices/${deviceId}/config`, {
        headers: { authorization: `Bearer ${apiKey}` },
      });
    expect((await cli(wait)).code).toBe(0);
  });

  it('doctor lists only the problems, and how many screens have none', async () => {
    const { venue, label } = await mixed();
    const run = await cli(selected(label, 'doctor', '-o', 'json'));
    expect(run.code).toBe(9);
    const ofScreens = run.json.slice(
      run.json.findIndex(({ check }: { check: string }) => check === 'screens'),
    );
    expect(ofScreens[0].detail).toBe('0 of 2 screens have no problem.');
    expect(ofScreens[1]).toMatchObject({ check: 'screen', detail: `${venue}/S1, active.` });
    expect(ofScreens).toContainEqual(
      expect.objectContaining({ check: 'code', next: `signage pair '${venue}/S2'` }),
    );
    expect((await cli(['doctor', '--selector', 'flor=0'])).code).toBe(3);
  });

  it('report impressions counts the selected screens', async () => {
    const { ids, label, tv } = await mixed();
    const event = {
      type: 'impression',
      playlistId: tv.deviceId,
      campaignId: tv.deviceId,
      creativeId: tv.deviceId,
      timestamp: Date.now(),
    };
    await fetch(`${service.url}/devices/${tv.deviceId}/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tv.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify([event]),
    });
    const report = ['report', 'impressions', '-o', 'ndjson'];
    const run = await cli(selected(label, ...report));
    expect(run.ndjson).toMatchObject([{ key: ids[0], impressions: 1 }]);
    expect((await cli(selected('site,site!=x,!nothing', ...report))).ndjson).toHaveLength(1);
    const { venue } = await site(1);
    expect((await cli([...report, '--venue', venue])).ndjson).toEqual([]);
  });
});
