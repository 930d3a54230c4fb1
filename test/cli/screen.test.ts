// signage screen create, get, update, delete.
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/domain/clock.ts';
import type { TestService } from '../support/service.ts';
import { type Cli, startCli } from './run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;
let as: (role: string) => Promise<Cli>;
beforeAll(async () => {
  ({ cli, service, as } = await startCli());
});

const screensOf = async (venueId: string) =>
  (await service.manage('GET', `/v1/screens?venueId=${venueId}`)).body.items;
const stands = async (id: string) =>
  (await service.manage('GET', `/v1/screens/${id}`)).status === 200;

describe('signage screen create', () => {
  it('creates a screen in a named venue, and prints it', async () => {
    const venue = await service.venue({ name: 'Lobby' });
    const run = await cli([
      'screen',
      'create',
      '--venue',
      'lobby',
      '--name',
      'Main',
      '--label',
      'floor=2',
      '-o',
      'json',
    ]);
    expect(run).toMatchObject({ code: 0, stderr: '' });
    const [made] = await screensOf(venue.id);
    expect(run.json).toEqual(made);
    expect(made).toMatchObject({
      name: 'Main',
      labels: { floor: '2' },
      state: 'provisioning',
      venueId: venue.id,
    });
  });

  it('shows the venue name in the table', async () => {
    await service.venue({ name: 'Foyer' });
    const { code, stdout } = await cli(['screen', 'create', '--venue', 'Foyer', '--name', 'Left']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Venue +Foyer\nName +Left\nState +provisioning\n/);
    expect(
      (await cli(['screen', 'create', '--venue', 'Foyer', '--name', 'Right', '-o', 'name'])).stdout,
    ).toBe('Foyer/Right\n');
  });

  it('3 for an unknown venue, 5 when the name is taken, with a hint', async () => {
    await service.venue({ name: 'North wing' });
    expect(await cli(['screen', 'create', '--venue', 'Nowhere', '--name', 'A'])).toMatchObject({
      code: 3,
      stdout: '',
    });
    expect((await cli(['screen', 'create', '--venue', 'North wing', '--name', 'A'])).code).toBe(0);
    const again = await cli(['screen', 'create', '--venue', 'North wing', '--name', 'a']);
    expect(again).toMatchObject({ code: 5, stdout: '' });
    expect(again.stderr).toContain("signage screen get 'North wing'/a");
  });

  it('6 for an invalid name, 2 without a venue, 4 for an insufficient role', async () => {
    const venue = await service.venue();
    expect((await cli(['screen', 'create', '--venue', venue.id, '--name', 'a/b'])).code).toBe(6);
    expect((await cli(['screen', 'create', '--name', 'a'])).code).toBe(2);
    expect(
      (await cli(['screen', 'create', '--venue', venue.id, '--name', 'a', '--label', 'floor']))
        .code,
    ).toBe(2);
    expect(
      (await (await as('installer'))(['screen', 'create', '--venue', venue.id, '--name', 'a']))
        .code,
    ).toBe(4);
    expect(await screensOf(venue.id)).toEqual([]);
  });
});

describe('signage screen get', () => {
  it('finds a screen by id, by venue and name, and by a unique name', async () => {
    const venue = await service.venue({ name: 'Hall' });
    const screen = await service.screen({ venueId: venue.id, name: 'Unique' });
    for (const name of [screen.id, 'Hall/Unique', 'hall/unique', 'Unique']) {
      expect((await cli(['screen', 'get', name, '-o', 'json'])).json, name).toEqual(screen);
    }
    expect((await cli(['screen', 'get', 'Unique', '-o', 'name'])).stdout).toBe('Hall/Unique\n');
  });

  it('2 for an ambiguous name, listing the matches; 3 for an unknown name', async () => {
    for (const name of ['East', 'West'])
      await service.screen({ venueId: (await service.venue({ name })).id, name: 'Door' });
    const several = await cli(['screen', 'get', 'Door']);
    expect(several.code).toBe(2);
    expect(several.stderr).toContain('East/Door, West/Door');
    expect((await cli(['screen', 'get', 'East/Nothing'])).code).toBe(3);
    expect((await cli(['screen', 'get', '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e'])).code).toBe(3);
  });
});

describe('signage screen update', () => {
  it('renames a screen, sets and removes labels', async () => {
    const screen = await service.screen({ labels: { floor: '1', old: 'x' } });
    const { json } = await cli([
      'screen',
      'update',
      screen.id,
      '--name',
      'New',
      '--label',
      'floor=2',
      '--label',
      'old-',
      '-o',
      'json',
    ]);
    expect(json).toMatchObject({ id: screen.id, name: 'New', labels: { floor: '2' } });
    expect((await service.manage('GET', `/v1/screens/${screen.id}`)).body).toEqual(json);
  });

  it('says that a label to remove is not there', async () => {
    const { id } = await service.screen({ labels: { floor: '1' } });
    const line = ['screen', 'update', id, '--label', 'flor-', '--label', 'floor-'];
    const { code, stderr } = await cli(line);
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'There is no label "flor" to remove.\n' });
  });

  it('2 without a change option', async () => {
    const screen = await service.screen();
    expect((await cli(['screen', 'update', screen.id])).code).toBe(2);
    expect((await service.manage('GET', `/v1/screens/${screen.id}`)).body).toEqual(screen);
  });

  it('5 for a name that is taken', async () => {
    const venue = await service.venue();
    await service.screen({ venueId: venue.id, name: 'Taken' });
    const screen = await service.screen({ venueId: venue.id });
    expect((await cli(['screen', 'update', screen.id, '--name', 'TAKEN'])).code).toBe(5);
  });

  it('--selector prints a result for each matching screen, and changes no others', async () => {
    const venue = await service.venue({ name: 'Tower' });
    const make = (name: string, labels: object, venueId = venue.id) =>
      service.screen({ venueId, name, labels });
    const [one, two, other] = [
      await make('One', { set: 'up' }),
      await make('Two', { set: 'up', wing: 'east' }),
      await make('Other', {}),
    ];
    const elsewhere = await make('Elsewhere', { set: 'up' }, (await service.venue()).id);
    const args = [
      'screen',
      'update',
      '--selector',
      'set=up',
      '--venue',
      'Tower',
      '--label',
      'wing=east',
      '-o',
      'json',
    ];
    const { code, json } = await cli(args);
    expect(code).toBe(0);
    expect(json).toEqual([
      { name: 'Tower/One', id: one.id, result: 'updated', error: null },
      { name: 'Tower/Two', id: two.id, result: 'unchanged', error: null },
    ]);
    expect((await cli(args)).json.map(({ result }: { result: string }) => result)).toEqual([
      'unchanged',
      'unchanged',
    ]);
    const labelled = (
      await cli(['screen', 'list', '--label', 'wing=east', '-o', 'json', '--jq', '.[].id'])
    ).stdout.split('\n');
    expect(labelled).not.toContain(other.id);
    expect(labelled).not.toContain(elsewhere.id);
  });

  it('several --selector are combined with AND; 3 when nothing matches, 0 with --allow-none', async () => {
    const screen = await service.screen({ labels: { both: '1', and: '2' } });
    await service.screen({ labels: { both: '1' } });
    const run = await cli([
      'screen',
      'update',
      '--selector',
      'both=1',
      '--selector',
      'and=2',
      '--label',
      'x=y',
      '-o',
      'json',
    ]);
    expect(run.json).toMatchObject([{ id: screen.id, result: 'updated' }]);
    const none = ['screen', 'update', '--selector', 'both=7', '--label', 'x=y', '-o', 'json'];
    const refused = await cli(none);
    expect(refused).toMatchObject({ code: 3, stdout: '' });
    expect(refused.stderr).toContain('No screen matches --selector');
    const allowed = await cli([...none, '--allow-none']);
    expect(allowed).toMatchObject({ code: 0, json: [], stderr: 'No screen matches.\n' });
  });

  it('9 when some screens fail, with one result each', async () => {
    const venueId = (await service.venue()).id;
    const full = Object.fromEntries(Array.from({ length: 63 }, (_, at) => [`label${at}`, 'x']));
    await service.screen({ venueId, name: 'A full', labels: { ...full, many: 'yes' } });
    await service.screen({ venueId, name: 'B free', labels: { many: 'yes' } });
    const run = await cli([
      'screen',
      'update',
      '--selector',
      'many=yes',
      '--label',
      'one=more',
      '-o',
      'json',
    ]);
    expect(run.code).toBe(9);
    expect(run.json.map(({ result }: { result: string }) => result).toSorted()).toEqual([
      'failed',
      'updated',
    ]);
    const failed = run.json.find(({ result }: { result: string }) => result === 'failed');
    expect(failed.error).toMatch(/64 labels/);
  });

  it.each([
    [['--selector', 'a=b', '--name', 'Same']],
    [['Lobby/Main', '--selector', 'a=b', '--label', 'x=y']],
    [['--selector', 'a,', '--label', 'x=y']],
    [['--label', 'x=y']],
  ])('2 for %j', async (args) => {
    expect((await cli(['screen', 'update', ...args])).code).toBe(2);
  });
});

describe('signage screen delete', () => {
  it('--yes deletes a screen, with empty stdout and a note', async () => {
    const venue = await service.venue({ name: 'Attic' });
    const screen = await service.screen({ venueId: venue.id, name: 'Gone' });
    const run = await cli(['screen', 'delete', 'Attic/Gone', '--yes']);
    expect(run).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'Deleted the screen "Attic/Gone".\n',
    });
    expect(await stands(screen.id)).toBe(false);
  });

  it('asks on a terminal, and stops on "no"', async () => {
    const screen = await service.screen({ name: 'Asked' });
    const no = await cli(['screen', 'delete', screen.id], {
      tty: true,
      keys: [[/Delete the screen ".*\/Asked"\?/, 'n\r']],
    });
    expect(no.code).toBe(5);
    expect(await stands(screen.id)).toBe(true);
    expect(
      (
        await cli(['screen', 'delete', screen.id], {
          tty: true,
          keys: [[/Delete the screen/, 'y\r']],
        })
      ).code,
    ).toBe(0);
    expect(await stands(screen.id)).toBe(false);
  });

  it('2 without a terminal, naming --yes', async () => {
    const screen = await service.screen();
    const run = await cli(['screen', 'delete', screen.id]);
    expect(run.code).toBe(2);
    expect(run.stderr).toContain('--yes');
    expect((await cli(['screen', 'delete', screen.id, '--force'])).code).toBe(2);
    expect(await stands(screen.id)).toBe(true);
  });

  it('5 for a screen with a device, with a hint; --force deletes both', async () => {
    const tv = await service.tv();
    const refused = await cli(['screen', 'delete', tv.screenId, '--yes']);
    expect(refused.code).toBe(5);
    expect(refused.stderr).toContain(`signage device revoke ${tv.screenId}`);
    expect(await stands(tv.screenId)).toBe(true);
    const forced = await cli(['screen', 'delete', tv.screenId, '--force'], {
      tty: true,
      keys: [[/and revoke its device/, 'y\r']],
    });
    expect(forced.code).toBe(0);
    expect((await tv.send('GET', 'config')).body.code).toBe('device_key_orphaned');
  });

  it('--selector asks once, and prints one result each; 9 when a screen has a device', async () => {
    const venue = await service.venue({ name: 'Mall' });
    const make = (name: string) =>
      service.screen({ venueId: venue.id, name, labels: { to: 'go' } });
    const free = await make('Free');
    const busy = await make('Busy');
    await service.tv(busy.id);
    const args = ['screen', 'delete', '--selector', 'to=go', '--venue', 'Mall'];
    expect((await cli(args)).code).toBe(2);
    const question = /Delete 2 screens: "Mall\/Free",\s+"Mall\/Busy"\?/;
    const run = await cli([...args, '-o', 'ndjson'], { tty: true, keys: [[question, 'y\r']] });
    expect(run.code).toBe(9);
    expect(run.ndjson).toEqual([
      { name: 'Mall/Free', id: free.id, result: 'deleted', error: null },
      { name: 'Mall/Busy', id: busy.id, result: 'failed', error: expect.any(String) },
    ]);
    expect([await stands(free.id), await stands(busy.id)]).toEqual([false, true]);
    expect((await cli([...args, '--force', '--yes', '-o', 'json'])).json).toMatchObject([
      { id: busy.id, result: 'deleted' },
    ]);
  });
});
