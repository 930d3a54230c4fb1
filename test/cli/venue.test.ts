import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/domain/clock.ts';
import { unknownId } from '../support/management.ts';
import type { TestService } from '../support/service.ts';
import { type Cli, startCli } from './run-cli.ts';

let service: TestService<Clock>;
let cli: Cli;
let viewer: Cli;
let name: string;
let count = 0;

beforeAll(async () => {
  const started = await startCli();
  ({ service, cli } = started);
  viewer = await started.as('viewer');
});
beforeEach(() => {
  name = `Lobby ${++count}`;
});

const venues = async () =>
  (await service.manage('GET', '/v1/venues?limit=200')).body.items as {
    id: string;
    name: string;
  }[];

describe('signage venue create', () => {
  it('creates a venue and shows it', async () => {
    const { code, stdout, stderr } = await cli([
      'venue',
      'create',
      '--name',
      name,
      '--timezone',
      'Europe/Berlin',
      '--label',
      'a=b,c=d',
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      new RegExp(
        `^Name +${name}\nAddress +-\nTimezone +Europe/Berlin\nLabels +a=b,c=d\nId +[0-9a-f-]{36}\n`,
      ),
    );
  });

  it('prints the record unchanged with -o json', async () => {
    const { code, json } = await cli([
      'venue',
      'create',
      '--name',
      name,
      '--address',
      'Main St 1',
      '-o',
      'json',
    ]);
    expect(code).toBe(0);
    expect(json).toEqual((await service.manage('GET', `/v1/venues/${json.id}`)).body);
    expect(json).toMatchObject({ name, address: 'Main St 1', timezone: null, labels: {} });
  });

  it('5 when the name is taken, with the id of the other venue', async () => {
    const { json } = await cli(['venue', 'create', '--name', name, '-o', 'json']);
    const { code, stdout, stderr } = await cli(['venue', 'create', '--name', name]);
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
    expect(stderr).toMatch(/^signage: .*already exists.*\n {2}.*signage venue get 'Lobby \d+'\n$/);
    const asJson = await cli(['venue', 'create', '--name', name, '-o', 'json']);
    expect(asJson.stdout).toBe('');
    expect(JSON.parse(asJson.stderr)).toMatchObject({
      status: 409,
      code: 'name_taken',
      existingId: json.id,
      exitCode: 5,
    });
  });

  it('6 when the service rejects it, with all validation errors', async () => {
    const { code, stderr } = await cli([
      'venue',
      'create',
      '--name',
      '',
      '--timezone',
      'Mars/Olympus',
    ]);
    expect(code).toBe(6);
    expect(stderr).toContain('signage: There are 2 mistakes:\n  --name: must not be empty\n');
    expect(stderr).toContain('  --timezone: must be an IANA time zone');
  });

  it.each([
    [['venue', 'create'], '--name must be given'],
    [['venue', 'create', '--name', 'x', '--label', 'floor'], 'A label is written key=value'],
    [['venue', 'create', 'x', '--name', 'x'], 'Unexpected argument: "x".'],
  ])('2 for %j', async (argv, message) => {
    const { code, stdout, stderr } = await cli(argv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});

describe('signage venue list', () => {
  it('lists all pages, or up to --limit', async () => {
    const lonely = await startCli();
    for (let at = 0; at < 205; at++)
      await lonely.service.venue({ name: `V${String(at).padStart(3, '0')}` });
    expect((await lonely.cli(['venue', 'list', '-o', 'json'])).json).toHaveLength(205);
    const { stdout, stderr } = await lonely.cli(['venue', 'list', '--limit', '3', '--verbose']);
    expect(stdout.split('\n')).toHaveLength(5);
    expect(stderr).toMatch(/^GET \/v1\/venues\?limit=3 → 200 \(\d+ ms\)\n$/);
    const all = await lonely.cli(['venue', 'list', '-o', 'ndjson', '--limit', '201', '--verbose']);
    expect(all.ndjson).toHaveLength(201);
    expect(all.stderr.match(/GET/g)).toHaveLength(2);
  });

  it('--search finds parts of names', async () => {
    await service.venue({ name });
    await service.venue({ name: `Annex ${count}` });
    expect(
      (await viewer(['venue', 'list', '--search', name.toUpperCase(), '-o', 'name'])).stdout,
    ).toBe(`${name}\n`);
  });

  it('an empty list is an empty table, an empty array, and the header of a CSV', async () => {
    const of = async (...argv: string[]) =>
      (await cli(['venue', 'list', '--search', 'nowhere', ...argv])).stdout;
    expect(await of()).toBe('');
    expect(await of('-o', 'json')).toBe('[]\n');
    expect(await of('-o', 'ndjson')).toBe('');
    expect(await of('-o', 'csv')).toBe('name,address,timezone,labels,id,createdAt,updatedAt\r\n');
  });
});

describe('signage venue get', () => {
  it('finds a venue by name in any case, and by id', async () => {
    const venue = await service.venue({ name });
    for (const text of [name.toUpperCase(), venue.id, venue.id.toUpperCase()]) {
      expect((await viewer(['venue', 'get', text, '-o', 'json'])).json).toEqual(venue);
    }
  });

  it.each(['Nowhere', unknownId])('3 for %s', async (text) => {
    const { code, stdout, stderr } = await cli(['venue', 'get', text]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toContain('signage venue list');
  });
});

describe('signage venue update', () => {
  it('changes only the named fields', async () => {
    const venue = await service.venue({
      name,
      address: 'Here',
      timezone: 'Europe/Berlin',
      labels: { floor: '2', wing: 'east' },
    });
    const argv = [
      'venue',
      'update',
      name,
      '--timezone',
      '',
      '--label',
      'floor-',
      '--label',
      'region=north',
      '-o',
      'json',
    ];
    const { json } = await cli(argv);
    expect(json).toMatchObject({
      ...venue,
      timezone: null,
      labels: { wing: 'east', region: 'north' },
      updatedAt: expect.any(String),
    });
  });

  it('says that a label to remove is not there', async () => {
    await service.venue({ name });
    const { code, stderr } = await cli(['venue', 'update', name, '--label', 'nothere-']);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'There is no label "nothere" to remove.\n',
    });
  });

  it('2 when there is nothing to change', async () => {
    expect((await cli(['venue', 'update', name])).code).toBe(2);
  });
});

describe('signage venue delete', () => {
  it('--yes deletes, with a note on stderr and empty stdout', async () => {
    await service.venue({ name });
    expect(await cli(['venue', 'delete', name, '--yes'])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: `Deleted the venue "${name}".\n`,
    });
    expect((await venues()).some((venue) => venue.name === name)).toBe(false);
  });

  it('--quiet says nothing', async () => {
    await service.venue({ name });
    expect(await cli(['venue', 'delete', name, '--yes', '--quiet'])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: '',
    });
  });

  it.each([
    ['off a terminal', { tty: false }, []],
    ['under CI', { tty: true, env: { CI: 'true' } }, []],
    ['with --no-input', { tty: true }, ['--no-input']],
  ])('%s needs --yes, and deletes nothing without', async (_, options, more) => {
    await service.venue({ name });
    const { code, stdout, stderr } = await cli(['venue', 'delete', name, ...more], options);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('--yes');
    expect((await venues()).some((venue) => venue.name === name)).toBe(true);
  });

  it('asks at a terminal: "yes" deletes, "no" does not', async () => {
    await service.venue({ name });
    const question = new RegExp(`Delete the venue "${name}"\\?`);
    const no = await cli(['venue', 'delete', name], { tty: true, keys: [[question, 'n\r']] });
    expect(no).toMatchObject({ code: 5, stdout: '' });
    expect(no.stderr).toContain('Nothing was changed.');
    expect((await venues()).some((venue) => venue.name === name)).toBe(true);
    expect(
      await cli(['venue', 'delete', name], { tty: true, keys: [[question, 'y\r']] }),
    ).toMatchObject({ code: 0, stdout: '' });
    expect((await venues()).some((venue) => venue.name === name)).toBe(false);
  });

  it('130 at Ctrl-C, and deletes nothing', async () => {
    await service.venue({ name });
    const { code } = await cli(['venue', 'delete', name], {
      tty: true,
      keys: [[/Delete/, '\u0003']],
    });
    expect(code).toBe(130);
    expect((await venues()).some((venue) => venue.name === name)).toBe(true);
  });

  it('5 when it has screens, with the command that lists them', async () => {
    const { id } = await service.venue({ name });
    await service.screen({ venueId: id });
    const { code, stderr } = await cli(['venue', 'delete', name, '--yes']);
    expect(code).toBe(5);
    expect(stderr).toContain(`signage screen list --venue '${name}'`);
  });
});
