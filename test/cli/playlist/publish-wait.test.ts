// signage playlist publish --wait and signage wait screen --for playlist:<version>.
import { writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { item } from '../../support/content.ts';
import { type BoundTv, startService, type TestService } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type Cli, type CliOptions, cliOf, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;
let count = 0;

beforeAll(async () => {
  ({ cli, service } = await startCli());
});

const content = () => JSON.stringify({ items: [item()] });
const fetchPlaylist = (tv: BoundTv) => tv.send('GET', 'playlist');

/** Creates a venue with screens, of which the first `withTv` have a TV. */
async function site({ screens = 1, withTv = screens }: { screens?: number; withTv?: number } = {}) {
  const { id: venueId, name: venue } = await service.venue();
  const label = `wait-test=${++count}`;
  const names: string[] = [];
  const tvs: BoundTv[] = [];
  for (let at = 1; at <= screens; at++) {
    const labels = { 'wait-test': `${count}` };
    const { id } = await service.screen({ venueId, name: `S${at}`, labels });
    names.push(`${venue}/S${at}`);
    if (at <= withTv) tvs.push(await service.tv(id));
  }
  const publish = (where: string[], words: string[], options: CliOptions = {}) =>
    cli(['playlist', 'publish', ...where, '-f', '-', ...words], { stdin: content(), ...options });
  return { venue, label, names: names as [string, ...string[]], tvs: tvs as [BoundTv], publish };
}

/** Lets TVs fetch their playlist when the command has begun to wait. */
const fetchedBy = (...tvs: BoundTv[]) => ({
  during: async (io: { until(pattern: RegExp): Promise<string> }) => {
    await io.until(/have it/);
    for (const tv of tvs) await fetchPlaylist(tv);
  },
});

describe('signage playlist publish --wait', () => {
  it('0 when the TV of the screen was given the version', async () => {
    const { names, tvs, publish } = await site();
    const run = await publish([names[0]], ['--wait', '20s'], fetchedBy(...tvs));
    expect(run.code, run.stderr).toBe(0);
    expect(run.stdout).toMatch(/Version +1\n/);
    expect(run.stderr).toBe(`0 of 1 have it.\nThe TV of "${names[0]}" has version 1.\n`);
  });

  it('8 when the TV did not fetch; the same command continues to wait', async () => {
    const { names, tvs, publish } = await site();
    const stdin = content();
    const run = await publish([names[0]], ['--wait', '10ms'], { stdin });
    expect(run.code).toBe(8);
    expect(run.stdout).toMatch(/Version +1\n/);
    expect(run.stderr).toContain(
      `0 of 1 TV has version 1. Missing: 1 online, but not fetched yet: "${names[0]}".`,
    );
    expect(run.stderr).toContain(`signage doctor '${names[0]}'`);
    await fetchPlaylist(tvs[0]);
    expect((await publish([names[0]], ['--wait', '10ms'], { stdin })).code).toBe(0);
  });

  it('8 for a screen without a TV; a TV that is paired meanwhile counts', async () => {
    const { names, publish } = await site({ withTv: 0 });
    const stdin = content();
    const run = await publish([names[0]], ['--wait', '10ms', '-o', 'json'], { stdin });
    expect([run.code, run.json.version]).toEqual([8, 1]);
    expect(JSON.parse(run.stderr)).toMatchObject({
      code: 'wait_timed_out',
      exitCode: 8,
      detail: expect.stringContaining(`1 without a TV: "${names[0]}"`),
    });
    const during = async () => {
      const screen = (await cli(['screen', 'get', names[0], '-o', 'json'])).json;
      await fetchPlaylist(await service.tv(screen.id));
    };
    expect((await publish([names[0]], ['--wait', '20s'], { stdin, during })).code).toBe(0);
  });

  it('0 for several screens when all TVs have it, with a column and the screens without a TV', async () => {
    const { venue, names, tvs, publish } = await site({ screens: 3, withTv: 2 });
    const run = await publish(['--venue', venue], ['--wait', '20s'], fetchedBy(...tvs));
    expect(run.code, run.stderr).toBe(0);
    expect(run.stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['NAME', 'RESULT', 'VERSION', 'TV', 'ERROR'],
      [names[0], 'published', '1', 'current', '-'],
      [names[1], 'published', '1', 'current', '-'],
      [names[2], 'published', '1', 'none', '-'],
      [''],
    ]);
    expect(run.stderr).toContain(
      `2 of 2 TVs have the new version. Missing: 1 without a TV: "${names[2]}".`,
    );
  });

  it('9 when only some TVs have it in time, and says which', async () => {
    const { label, names, tvs, publish } = await site({ screens: 3, withTv: 2 });
    const stdin = content();
    await publish(['--selector', label], [], { stdin });
    await fetchPlaylist(tvs[0]);
    const words = ['--wait', '10ms', '-o', 'json'];
    const run = await publish(['--selector', label], words, { stdin });
    expect(run.code).toBe(9);
    expect(run.json).toMatchObject([
      { name: names[0], result: 'unchanged', version: 1, tv: 'current', error: null },
      { name: names[1], result: 'unchanged', version: 1, tv: 'online', error: null },
      { name: names[2], result: 'unchanged', version: 1, tv: 'none', error: null },
    ]);
    expect(run.stderr).toContain('1 of 2 TVs have the new version');
    expect(run.stderr).toContain('"code":"partly_failed"');
  });

  it('8 for several screens when no TV has it; names ten of each kind', async () => {
    const { venue, names, publish } = await site({ screens: 12 });
    const run = await publish(['--venue', venue], ['--wait', '10ms']);
    expect(run.code).toBe(8);
    const shown = names.slice(0, 10).map((name) => `"${name}"`);
    expect(run.stderr.replaceAll(/\n/g, ' ')).toContain(
      `12 online, but not fetched yet: ${shown.join(', ')} and 2 more.`,
    );
  });

  it('names silent TVs as offline', async () => {
    let aheadMs = 0;
    const clock: Clock = { ...systemClock, now: () => Date.now() + aheadMs };
    const other = await startService({ clock });
    const tv = await other.tv();
    aheadMs = 3_600_000;
    const run = await cliOf(other, await other.token('operator'))(
      ['playlist', 'publish', tv.screenId, '-f', '-', '--wait', '10ms'],
      { stdin: content() },
    );
    expect(run.code).toBe(8);
    expect(run.stderr).toContain(`1 offline: "${tv.screenId}"`);
  });

  it('130 at Ctrl-C: the playlist stays published, and the results are printed', async () => {
    const { venue, tvs, publish } = await site({ screens: 2 });
    const run = await publish(['--venue', venue], ['--wait', '20s'], {
      during: async (io) => {
        await io.until(/0 of 2 have it/);
        io.signal('SIGINT');
      },
    });
    expect(run.code).toBe(130);
    expect(run.stdout.match(/published +1 +online/g)).toHaveLength(2);
    expect(run.stderr).toContain('Interrupted: 0 of 2 TVs have the new version.');
    expect(run.stderr).toContain('The playlist stays published.');
    for (const tv of tvs) expect((await fetchPlaylist(tv)).status).toBe(200);
  });

  it('130 at Ctrl-C of a wait for one screen, which says that the playlist stays', async () => {
    const { names, tvs, publish } = await site();
    const run = await publish([names[0]], ['--wait', '20s'], {
      during: async (io) => {
        await io.until(/have it/);
        io.signal('SIGINT');
      },
    });
    expect(run.code).toBe(130);
    expect(run.stderr).toContain('Interrupted: 0 of 1 TV has version 1.');
    expect(run.stderr).toContain('The playlist stays published.');
    expect((await fetchPlaylist(tvs[0])).body.version).toBe(1);
  });

  it('shows a progress bar at a terminal', async () => {
    const { venue } = await site({ screens: 2 });
    const file = `${await temporaryFolder()}/playlist.json`;
    await writeFile(file, content());
    const run = await cli(
      ['playlist', 'publish', '--venue', venue, '-f', file, '--wait', '10ms', '--yes'],
      { tty: true },
    );
    expect(run.code).toBe(8);
    expect(run.stderr).toContain('] 0 of 2 have it');
    expect(run.stderr).not.toContain('have it.');
  });

  it('does not wait under --dry-run; 2 with --staged', async () => {
    const { venue, publish } = await site();
    const dry = await publish(['--venue', venue], ['--wait', '20s', '--dry-run']);
    expect([dry.code, dry.stderr]).toEqual([0, expect.not.stringContaining('have')]);
    const staged = await publish(['--venue', venue], ['--wait', '20s', '--staged', '100%']);
    expect([staged.code, staged.stderr]).toEqual([2, expect.stringContaining('--hold')]);
  });

  it('reads one page each second for up to 200 screens', async () => {
    const { venue, publish } = await site({ screens: 7 });
    const requests = async () => {
      const { text } = await service.send('GET', '/metrics');
      const lines = text.split('\n').filter((line) => line.includes('listDevices'));
      return lines.filter((line) => line.includes('_total') || line.includes('_count')).join('\n');
    };
    const before = await requests();
    await publish(['--venue', venue], ['--wait', '2s']);
    const numbers = (text: string) => Number(/ (\d+)$/m.exec(text)?.[1] ?? 0);
    expect(numbers(await requests()) - numbers(before)).toBeLessThanOrEqual(4);
    expect(numbers(await requests())).toBeGreaterThan(0);
  });
});

describe('signage wait screen --for playlist:<version>', () => {
  it('0 when the TV was given that version, or has a newer one', async () => {
    const { names, tvs, publish } = await site();
    await publish([names[0]], []);
    await publish([names[0]], []);
    const line = ['wait', 'screen', names[0], '--timeout', '20s', '-o', 'json'];
    const run = await cli([...line, '--for', 'playlist:2'], {
      during: () => fetchPlaylist(tvs[0]),
    });
    expect([run.code, run.json.id]).toEqual([0, tvs[0].screenId]);
    expect((await cli([...line, '--for', 'playlist:1'])).code).toBe(0);
  });

  it('8 when none has it in time; 9 when only some have it; 0 when all have it', async () => {
    const { venue, tvs, publish } = await site({ screens: 2 });
    await publish(['--venue', venue], []);
    const wait = () =>
      cli(['wait', 'screen', '--venue', venue, '--for', 'playlist:1', '--timeout', '10ms']);
    const none = await wait();
    expect([none.code, none.stdout]).toEqual([8, '']);
    expect(none.stderr).toContain('0 of 2 TVs have version 1.');
    for (const [at, code] of [9, 0].entries()) {
      await fetchPlaylist(tvs[at as 0]);
      expect((await wait()).code).toBe(code);
    }
  });

  it('playlist:latest is the version of each screen; 3 if none has one', async () => {
    const { venue, names, tvs, publish } = await site({ screens: 3 });
    const line = ['wait', 'screen', '--venue', venue, '--timeout', '10ms', '--for'];
    const none = await cli([...line, 'playlist:latest']);
    expect([none.code, none.stderr]).toEqual([3, expect.stringContaining('3 screens without')]);
    await publish([names[0]], []);
    await publish([names[0], names[1] ?? ''], []);
    for (const tv of tvs) await fetchPlaylist(tv);
    const all = await cli([...line, 'playlist:latest']);
    expect(all.code, all.stderr).toBe(0);
    expect(all.stderr).toContain(`1 screen without a playlist: "${names[2]}".`);
    expect((await cli([...line, 'playlist:2'])).code).toBe(9);
    await publish([names[0]], []);
    const single = await cli([
      'wait',
      'screen',
      names[0],
      '--timeout',
      '0',
      '--for',
      'playlist:latest',
    ]);
    expect([single.code, single.stderr]).toEqual([8, expect.stringContaining('latest version')]);
  });
});
