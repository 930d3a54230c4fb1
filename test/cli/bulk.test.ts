// What all commands for several screens have in common.
import { writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/domain/clock.ts';
import { item } from '../support/content.ts';
import type { TestService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Cli, startCli } from './run-cli.ts';

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

  it('2 without a terminal and without --yes, if it destroys', async () => {
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
