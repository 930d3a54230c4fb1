// Files of links, and TVs that use them. ticket.txt shows the rest.
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import type { TestService } from '../../support/service/service.ts';
import { type Cli, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;
let folder: string;
beforeAll(async () => {
  ({ cli, service } = await startCli());
  folder = await temporaryFolder();
});

async function venueWith(...names: string[]) {
  const venue = await service.venue();
  const ids = [];
  for (const name of names) ids.push((await service.screen({ venueId: venue.id, name })).id);
  return { venue: venue.name as string, venueId: venue.id as string, ids };
}
const create = (venue: string, ...flags: string[]) =>
  cli(['ticket', 'create', '--venue', venue, '--yes', ...flags]);
const tickets = async (venueId: string) =>
  (await service.manage('GET', `/v1/tickets?venueId=${venueId}`)).body.items;

describe('signage ticket create', () => {
  it('writes links and their QR codes to new files that only their owner can read', async () => {
    const { venue } = await venueWith('<b>A', 'B');
    const [csv, page] = [join(folder, 'a.csv'), join(folder, 'a.html')];
    const run = await create(venue, '--out', csv, '--qr', page);
    expect([run.code, run.stdout.includes('tkt_')]).toEqual([0, false]);
    const links = (await readFile(csv, 'utf8')).match(/http\S+#enrol=tkt_\w{49}/g);
    expect(links).toHaveLength(2);
    const html = await readFile(page, 'utf8');
    expect(html.match(/<svg/g)).toHaveLength(2);
    expect(html).not.toContain('<b>A');
    for (const file of [csv, page]) expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('makes nothing if a file exists, or cannot be written', async () => {
    const { venue, venueId } = await venueWith('A');
    const [csv, page] = [join(folder, 'b.csv'), join(folder, 'b.html')];
    await writeFile(page, 'mine');
    const exists = await create(venue, '--out', csv, '--qr', page);
    expect([exists.code, exists.stderr]).toEqual([2, expect.stringContaining('needs a new file')]);
    await expect(stat(csv)).rejects.toThrow('ENOENT');
    expect(await readFile(page, 'utf8')).toBe('mine');
    const full = await create(venue, '--out', '/dev/full');
    expect(full.code).not.toBe(0);
    expect(await tickets(venueId)).toEqual([]);
  });

  it('skips screens that have a TV, and says so', async () => {
    const { venue, ids, venueId } = await venueWith('A', 'B');
    await service.tv(ids[0]);
    const run = await create(venue, '--out', '-');
    expect(run.stderr).toContain('Without a link, because they have a TV: 1 screen');
    expect(await tickets(venueId)).toMatchObject([{ screenId: ids[1] }]);
    await service.tv(ids[1]);
    const none = await create(venue, '--out', '-');
    expect([none.code, none.stderr]).toEqual([0, expect.stringContaining('Nothing to do')]);
  });
});

describe('a link', () => {
  it('pairs the TV of signage tv, which reads it from stdin', async () => {
    const { venue, ids } = await venueWith('A');
    const { stdout } = await create(venue, '--out', '-', '-o', 'json', '--jq', '.[0].link');
    const run = await cli(['tv', '--url', service.url, '--code', '-', '--once'], { stdin: stdout });
    expect(run.code).toBe(0);
    expect(run.stderr).toContain(`offers this TV the screen "${venue}/A"`);
    expect(run.stdout + run.stderr).not.toContain('tkt_');
    const [device] = (await service.manage('GET', `/v1/devices?screenId=${ids[0]}`)).body.items;
    expect(device.state).toBe('bound');
    const again = await cli(['tv', '--url', service.url, '--code', '-', '--once'], {
      stdin: stdout,
    });
    expect([again.code, again.stderr]).toEqual([3, expect.stringContaining('cannot be used')]);
  });

  it('pairs the TVs of signage simulate, which reads the whole file', async () => {
    const { venue, ids } = await venueWith('A', 'B', 'C');
    const csv = join(folder, 'c.csv');
    await create(venue, '--out', csv);
    const run = await cli([
      'simulate',
      '--codes',
      csv,
      '--duration',
      '1s',
      '--keep',
      join(folder, 'tvs'),
      '-o',
      'json',
    ]);
    expect([run.code, run.json.tvs]).toMatchObject([0, { count: 3, bound: 3, unpaired: 0 }]);
    const states = ids.map(async (id) => (await service.manage('GET', `/v1/screens/${id}`)).body);
    expect((await Promise.all(states)).map(({ state }) => state)).toEqual(ids.map(() => 'active'));
  });
});
