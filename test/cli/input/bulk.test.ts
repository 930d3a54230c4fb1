// What all commands for several screens have in common.
import { writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { item } from '../../support/service/content.ts';
import type { TestService } from '../../support/service/service.ts';
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

describe('a change of several screens', () => {
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

describe('--selector', () => {
  const selected = (label: string, ...words: string[]) => [...words, '--selector', label];

  /** Creates a venue with one screen with a TV, and one without. */
  async function mixed() {
    const { venue, ids } = await site(2);
    const label = `site=${venue}`;
    const tv = await service.tv(ids[0] ?? '');
    return { venue, ids, label, tv };
  }

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
});
