// signage playlist publish --wait and signage wait screen --for playlist:<version>.
import { writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { item } from '../../support/service/content.ts';
import type { BoundTv, TestService } from '../../support/service/service.ts';
import { type Cli, type CliOptions, startCli } from '../run-cli.ts';

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
    expect(run.stderr).toContain(`0 of 1 have it.\nThe TV of "${names[0]}" has version 1.\n`);
  });

  it('0 for a screen whose TV is paired meanwhile', async () => {
    const { names, publish } = await site({ withTv: 0 });
    const during = async () => {
      const screen = (await cli(['screen', 'get', names[0], '-o', 'json'])).json;
      await fetchPlaylist(await service.tv(screen.id));
    };
    expect((await publish([names[0]], ['--wait', '20s'], { during })).code).toBe(0);
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
});
