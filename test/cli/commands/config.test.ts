import { writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import type { TestService } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type Cli, cliOf, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;
let as: (role: string) => Promise<Cli>;
let count = 0;

beforeAll(async () => {
  ({ cli, service, as } = await startCli());
});

async function site() {
  const venue = await service.venue({ name: `Site ${++count}` });
  const screen = await service.screen({ venueId: venue.id, name: 'Main' });
  return { venue, screen, name: `${venue.name}/Main`, path: `/v1/screens/${screen.id}/config` };
}

const stored = (path: string) => service.manage('GET', path);
const store = (path: string, config: object) => service.manage('PUT', path, config);

describe('signage config set', () => {
  it('warns of a name that is near a known setting, and of no other', async () => {
    const { name } = await site();
    const run = await cli(['config', 'set', name, 'syncIntervalMinuets=10', 'volume=1']);
    expect(run.code).toBe(0);
    expect(run.stderr).toBe(
      'TVs know no setting "syncIntervalMinuets". Did you mean "syncIntervalMinutes"?\n',
    );
  });

  it('stores JSON values and prints the whole config', async () => {
    const { name, path } = await site();
    const run = await cli([
      'config',
      'set',
      name,
      'syncIntervalMinutes=10',
      'cachePolicy.maxSizeGB=20',
      'mode=night',
      'loud=false',
      '-o',
      'json',
    ]);
    const config = {
      syncIntervalMinutes: 10,
      cachePolicy: { maxSizeGB: 20 },
      mode: 'night',
      loud: false,
    };
    expect([run.code, run.json, run.stderr]).toEqual([0, config, '']);
    expect((await stored(path)).body).toEqual(config);
  });

  it('keeps other settings, and prints one row for each setting', async () => {
    const { name, path } = await site();
    await store(path, { cachePolicy: { retentionDays: 3 }, mode: 'night' });
    const { stdout } = await cli(['config', 'set', name, 'cachePolicy.maxSizeGB=20']);
    expect(stdout).toBe(
      'KEY                        VALUE\ncachePolicy.maxSizeGB      20\ncachePolicy.retentionDays  3\nmode                       night\n',
    );
    expect((await stored(path)).body).toEqual({
      cachePolicy: { retentionDays: 3, maxSizeGB: 20 },
      mode: 'night',
    });
  });

  it('loses no setting of concurrent commands', async () => {
    const { name, path } = await site();
    const runs = await Promise.all(
      Array.from({ length: 8 }, (_, n) => cli(['config', 'set', name, `setting${n}=${n}`])),
    );
    expect(runs.map(({ code }) => code)).toEqual(runs.map(() => 0));
    const settings = Array.from({ length: 8 }, (_, n) => [`setting${n}`, n]);
    expect((await stored(path)).body).toEqual(Object.fromEntries(settings));
    await Promise.all(
      [0, 1, 2, 3].map((n) => cli(['config', 'unset', name, '--key', `setting${n}`])),
    );
    expect((await stored(path)).body).toEqual(Object.fromEntries(settings.slice(4)));
  });

  it('--replace stores a file, overridden by the command line', async () => {
    const { name, path } = await site();
    await store(path, { mode: 'night' });
    const file = `${await temporaryFolder()}/config.yaml`;
    await writeFile(file, 'syncIntervalMinutes: 10\ncachePolicy:\n  maxSizeGB: 20\n');
    const run = await cli([
      'config',
      'set',
      name,
      'syncIntervalMinutes=15',
      '-f',
      file,
      '--replace',
      '-o',
      'json',
    ]);
    expect(run.json).toEqual({ syncIntervalMinutes: 15, cachePolicy: { maxSizeGB: 20 } });
  });

  it('reads settings from stdin', async () => {
    const { name } = await site();
    expect(
      (await cli(['config', 'set', name, '-f', '-', '-o', 'json'], { stdin: '{"mode":"night"}' }))
        .json,
    ).toEqual({ mode: 'night' });
  });

  it('changes the config of a venue', async () => {
    const { venue } = await site();
    expect(
      (await cli(['config', 'set', venue.name, '--level', 'venue', 'syncIntervalMinutes=7'])).code,
    ).toBe(0);
    expect((await stored(`/v1/venues/${venue.id}/config`)).body).toEqual({
      syncIntervalMinutes: 7,
    });
  });

  it('changes the config of the own tenant without its name, also as an operator', async () => {
    const operator = await as('operator');
    expect((await operator(['config', 'set', '--level', 'tenant', 'mode=day'])).code).toBe(0);
    expect(
      (await operator(['config', 'set', 'DEFAULT', '--level', 'tenant', 'loud=true'])).code,
    ).toBe(0);
    expect((await operator(['config', 'get', '--level', 'tenant', '-o', 'json'])).json).toEqual({
      mode: 'day',
      loud: true,
    });
    expect((await cli(['config', 'unset', 'default', '--level', 'tenant', '--yes'])).code).toBe(0);
    expect((await operator(['config', 'get', '--level', 'tenant'])).code).toBe(3);
  });

  it.each([
    ['an invalid value', ['syncIntervalMinutes=0'], 6, /syncIntervalMinutes: must be 1 to 1440/],
    ['text without =', ['loud'], 2, /written key=value/],
    ['nothing', [], 2, /Nothing to set/],
    ['a file that is not an object', ['-f', '-'], 6, /A config is an object/],
  ])('refuses %s, and changes nothing', async (_, words, code, message) => {
    const { name, path } = await site();
    const run = await cli(['config', 'set', name, ...words], { stdin: '[1]' });
    expect([run.code, run.stdout]).toEqual([code, '']);
    expect(run.stderr).toMatch(message);
    expect((await stored(path)).status).toBe(404);
  });

  it('2 without a name, 3 for an unknown name of a tenant', async () => {
    expect((await cli(['config', 'set', '-f', '-'], { stdin: '{}' })).code).toBe(2);
    expect(await cli(['config', 'set', 'mode=night'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Name the screen.'),
    });
    expect((await cli(['config', 'set', 'Nowhere', '--level', 'tenant', 'a=1'])).code).toBe(3);
  });
});

describe('signage config get', () => {
  it('shows the stored config, escaped', async () => {
    const { name, path } = await site();
    await store(path, { mode: '\u001b[2J', cachePolicy: { maxSizeGB: 1 } });
    expect((await cli(['config', 'get', name, '-o', 'json'])).json).toEqual({
      mode: '\u001b[2J',
      cachePolicy: { maxSizeGB: 1 },
    });
    const table = await cli(['config', 'get', name]);
    expect(table.stdout).toMatch(/\\u001b\[2J/);
    expect(table.stdout).not.toContain('\u001b');
    expect((await cli(['config', 'get', name, '-o', 'name'])).stdout).toBe(
      'cachePolicy.maxSizeGB\nmode\n',
    );
    expect((await cli(['config', 'get', name, '-o', 'csv'])).stdout).toBe(
      'key,value\r\ncachePolicy.maxSizeGB,1\r\nmode,\\u001b[2J\r\n',
    );
    expect((await cli(['config', 'get', name, '--jq', '.cachePolicy.maxSizeGB'])).stdout).toBe(
      '1\n',
    );
    expect(
      (await cli(['config', 'get', name, '--fields', 'cachePolicy.maxSizeGB'])).stdout,
    ).toContain('1');
    expect((await cli(['config', 'get', name, '-o', 'yaml'])).stdout).toContain('maxSizeGB: 1');
  });

  it('3 without a stored config and for an unknown name, 2 without a name', async () => {
    const { name, venue } = await site();
    const run = await cli(['config', 'get', name]);
    expect([run.code, run.stdout]).toEqual([3, '']);
    expect(run.stderr).toContain('signage config set');
    expect((await cli(['config', 'get', venue.name, '--level', 'venue'])).code).toBe(3);
    expect((await cli(['config', 'get', 'Nowhere'])).code).toBe(3);
    expect((await cli(['config', 'get'])).code).toBe(2);
    expect((await cli(['config', 'get', name, '--level', 'city'])).code).toBe(2);
  });

  it('requires --tenant when there are several tenants', async () => {
    const { cli: platform, service: other } = await startCli();
    await other.manage('POST', '/v1/tenants', { name: 'Second' });
    const asked = await platform(['config', 'get', '--level', 'tenant']);
    expect(asked.code).toBe(6);
    expect(asked.stderr).toContain('There are several tenants');
    expect(
      (
        await platform([
          'config',
          'set',
          'Second',
          '--level',
          'tenant',
          'a=1',
          '--tenant',
          'Second',
        ])
      ).code,
    ).toBe(0);
    expect(
      (await platform(['config', 'get', '--level', 'tenant', '--tenant', 'Second', '-o', 'json']))
        .json,
    ).toEqual({ a: 1 });
    expect((await cliOf(other, 'mak_none')(['config', 'get', '--level', 'tenant'])).code).toBe(4);
  });
});

describe('signage config unset', () => {
  it('asks, then removes all settings', async () => {
    const { name, path } = await site();
    await store(path, { mode: 'night' });
    const refused = await cli(['config', 'unset', name], {
      tty: true,
      keys: [[/Remove all settings/, 'n\r']],
    });
    expect([refused.code, (await stored(path)).status]).toEqual([5, 200]);
    expect((await cli(['config', 'unset', name])).code).toBe(2);
    expect((await cli(['config', 'unset', name, '--dry-run'])).code).toBe(0);
    expect((await stored(path)).status).toBe(200);
    const run = await cli(['config', 'unset', name, '--yes']);
    expect([run.code, run.stdout, (await stored(path)).status]).toEqual([0, '', 404]);
    expect(run.stderr).toContain(`Removed all settings of the screen "${name}".`);
    expect((await cli(['config', 'unset', name, '--yes'])).code).toBe(0);
  });

  it('removes single settings without asking, and the config with its last setting', async () => {
    const { name, path } = await site();
    await store(path, { mode: 'night', cachePolicy: { maxSizeGB: 1 } });
    const run = await cli([
      'config',
      'unset',
      name,
      '--key',
      'cachePolicy.maxSizeGB',
      '-o',
      'json',
    ]);
    expect([run.code, run.json]).toEqual([0, { mode: 'night' }]);
    expect((await stored(path)).body).toEqual({ mode: 'night' });
    const last = await cli(['config', 'unset', name, '--key', 'mode']);
    expect([last.code, (await stored(path)).status]).toEqual([0, 404]);
    expect(last.stderr).toContain('Removed the last settings');
  });

  it('3 for a missing setting, without any change', async () => {
    const { name, path } = await site();
    await store(path, { mode: 'night' });
    const run = await cli(['config', 'unset', name, '--key', 'mode', '--key', 'mood']);
    expect([run.code, (await stored(path)).body]).toEqual([3, { mode: 'night' }]);
    expect(run.stderr).toContain('"mood" is not set');
  });
});
