// Tokens that expire and tokens for some venues, on the command line.
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { adminToken, startService, type TestService } from '../support/service.ts';
import { type Cli, type CliOptions, cliOf } from './run-cli.ts';

let service: TestService<ManualClock>;
let cli: Cli;

/** Runs a command with a token. The clock starts at 2026-11-20T12:00:00Z. */
function cliWith(token: string): Cli {
  const plain = cliOf(service, token);
  // Timeouts of the command line use the real clock.
  const clock = { ...systemClock, now: () => service.clock.now() };
  return (argv: readonly string[], options: CliOptions = {}) => plain(argv, { clock, ...options });
}

beforeEach(async () => {
  service = await startService({ clock: new ManualClock() });
  cli = cliWith(adminToken);
});

const hourMs = 3_600_000;
const create = (...more: string[]) =>
  cli(['token', 'create', '--name', 'Fitter', '--role', 'installer', ...more]);
const tokens = async () => (await service.manage('GET', '/v1/tokens')).body.items;

describe('signage token create', () => {
  it.each([
    ['12h', '2026-11-21T00:00:00.000Z'],
    ['30d', '2026-12-20T12:00:00.000Z'],
    ['2026-12-01', '2026-12-01T00:00:00.000Z'],
    ['2026-12-01T08:00:00+01:00', '2026-12-01T07:00:00.000Z'],
    ['1796083200', '2026-12-01T00:00:00.000Z'],
  ])('--expires %s means %s', async (text, expiresAt) => {
    expect(await create('--expires', text, '-o', 'json')).toMatchObject({
      code: 0,
      json: { expiresAt, venueIds: null },
    });
  });

  it('--venue may be given several times, by name or id', async () => {
    const [lobby, depot] = [
      await service.venue({ name: 'Lobby' }),
      await service.venue({ name: 'Depot, North' }),
    ];
    const { json } = await create('--venue', 'lobby', '--venue', depot.id, '-o', 'json');
    expect(json).toMatchObject({ expiresAt: null, venueIds: [lobby.id, depot.id] });
  });

  it('shows venues and expiry in the table', async () => {
    await service.venue({ name: 'Lobby' });
    const { stdout } = await create('--venue', 'Lobby', '--expires', '12h');
    expect(stdout).toMatch(
      /^Name +Fitter\nRole +installer\nVenues +Lobby\nExpires +soon: in 12 h\nToken +mak_/,
    );
  });

  it.each([
    ['without --expires', [], '2026-11-21T00:00:00.000Z', true],
    ['with a later --expires', ['--expires', '13h'], '2026-11-21T00:00:00.000Z', true],
    ['with an earlier --expires', ['--expires', '11h'], '2026-11-20T23:00:00.000Z', false],
  ])(
    'by a token that expires, %s: notes a shortened expiry',
    async (_, more, expiresAt, isTold) => {
      const { token } = (
        await service.manage('POST', '/v1/tokens', {
          name: 'Boss',
          role: 'admin',
          expiresAt: '2026-11-21',
        })
      ).body;
      const run = await cliWith(token)([
        'token',
        'create',
        '--name',
        'Fitter',
        '--role',
        'installer',
        '-o',
        'json',
        ...more,
      ]);
      expect(run).toMatchObject({ code: 0, json: { expiresAt } });
      expect(
        run.stderr.includes(
          'It expires at 2026-11-21T00:00:00.000Z, together with the token that created it.',
        ),
      ).toBe(isTold);
    },
  );

  it('--dry-run shows what would be sent; --output-file hides the token', async () => {
    const lobby = await service.venue({ name: 'Lobby' });
    const body = {
      name: 'Fitter',
      role: 'installer',
      expiresAt: '2026-11-21T00:00:00.000Z',
      venueIds: [lobby.id],
    };
    const dry = await create('--venue', 'Lobby', '--expires', '12h', '--dry-run', '-o', 'json');
    expect(dry.json).toEqual([{ method: 'POST', path: '/v1/tokens', body }]);
    expect(await tokens()).toHaveLength(1);
  });

  it.each([
    ['2 for an invalid time', ['--expires', 'tomorrow'], 2, '--expires must be a time such as'],
    ['2 for a time beyond the calendar', ['--expires', '999999999d'], 2, '--expires is too late'],
    ['6 for a past time', ['--expires', '2026-11-20'], 6, 'must be in the future'],
    ['3 for an unknown venue', ['--venue', 'Nowhere'], 3, 'signage venue list'],
    [
      '6 for a platform token with venues',
      ['--role', 'platform', '--venue', 'Lobby'],
      6,
      'a platform token belongs to no tenant',
    ],
  ])('%s, and no token is created', async (_, more, code, told) => {
    await service.venue({ name: 'Lobby' });
    const run = await create(...more);
    expect(run).toMatchObject({ code, stdout: '' });
    expect(run.stderr).toContain(told);
    expect(await tokens()).toHaveLength(1);
  });
});

describe('signage token list, get', () => {
  it('mark tokens that expire within 7 days, and name the venues, deleted ones by id', async () => {
    const [lobby, depot] = [
      await service.venue({ name: 'Lobby' }),
      await service.venue({ name: 'Depot' }),
    ];
    const make = (name: string, ...more: string[]) =>
      cli(['token', 'create', '--name', name, '--role', 'viewer', ...more]);
    await make('Brief', '--expires', '3h', '--venue', 'Lobby');
    await make('Week', '--expires', '7d', '--venue', 'Lobby', '--venue', 'Depot');
    await make('Month', '--expires', '30d');
    await make('Over', '--expires', '1h');
    service.clock.advance(2 * hourMs);
    await service.manage('DELETE', `/v1/venues/${depot.id}`);
    const { stdout } = await cli(['token', 'list']);
    const lines = stdout.split('\n').map((line) => line.split(/ {2,}/));
    expect(lines[0]).toEqual(['NAME', 'ROLE', 'VENUES', 'EXPIRES', 'LAST USED AT']);
    expect(
      Object.fromEntries(
        lines.slice(1).map(([name, , venues, expires]) => [name, [venues, expires]]),
      ),
    ).toMatchObject({
      bootstrap: ['all', 'never'],
      Brief: ['Lobby', 'soon: in 1 h'],
      Week: [`Lobby, ${depot.id} (deleted)`, 'soon: in 6 d'],
      Month: ['all', 'in 29 d'],
      Over: ['all', 'expired 1 h ago'],
    });
    expect((await cli(['token', 'get', 'Week'])).stdout).toContain(`Lobby, ${depot.id} (deleted)`);
    const csv = (await cli(['token', 'list', '-o', 'csv'])).stdout;
    expect(csv).toContain(`Brief,viewer,Lobby,soon: in 1 h,`);
    expect(csv).toContain(`2026-11-20T15:00:00.000Z,${lobby.id},`);
  });
});

describe('a token that has expired', () => {
  it('4 with a hint; doctor shows its source', async () => {
    const { token } = (await create('--expires', '1h', '-o', 'json')).json;
    const own = cliWith(token);
    expect((await own(['whoami'])).code).toBe(0);
    service.clock.advance(hourMs);
    const { code, stdout, stderr } = await own(['whoami']);
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toMatch(
      /^signage: The token "Fitter" has expired: it was valid until 2026-11-20T13:00:00\.000Z\. Ask an admin for a new one\.\n/,
    );
    expect(stderr).toContain('signage token create; then signage login, or set SIGNAGE_TOKEN');
    const doctor = await own(['doctor', '-o', 'json']);
    expect(doctor.code).toBe(9);
    const found = doctor.json.find(({ check }: { check: string }) => check === 'credential');
    expect(found).toMatchObject({
      status: 'fail',
      detail: expect.stringMatching(/from SIGNAGE_TOKEN was rejected: .*has expired/),
    });
    const problem = JSON.parse((await own(['venue', 'list', '-o', 'json'])).stderr);
    expect(problem).toMatchObject({
      status: 401,
      code: 'credential_expired',
      exitCode: 4,
      hint: expect.stringContaining('signage login'),
    });
    for (const text of [stderr, doctor.stdout]) expect(text).not.toContain(token.slice(4));
  });
});

describe('a token that expires or is limited to venues', () => {
  it('whoami shows its expiry and its venues by name', async () => {
    const lobby = await service.venue({ name: 'Lobby' });
    const { token } = (await create('--expires', '12h', '--venue', 'Lobby', '-o', 'json')).json;
    const { stdout } = await cliWith(token)(['whoami']);
    expect(stdout).toMatch(/\nVenues +Lobby\nExpires +soon: in 12 h\n/);
    const { json } = await cliWith(token)(['whoami', '-o', 'json']);
    expect(json).toMatchObject({ expiresAt: '2026-11-21T00:00:00.000Z', venueIds: [lobby.id] });
    expect((await cli(['whoami'])).stdout).toMatch(/\nVenues +all\nExpires +never\n/);
  });

  it('login shows its expiry and its venues', async () => {
    await service.venue({ name: 'Lobby' });
    const { token } = (await create('--expires', '12h', '--venue', 'Lobby', '-o', 'json')).json;
    const run = await cli(['login', '--url', service.url, '--token-stdin'], {
      stdin: token,
      env: { SIGNAGE_TOKEN: '' },
    });
    expect(run.code).toBe(0);
    expect(run.stdout).toMatch(/\nVenues +Lobby\nExpires +soon: in 12 h\n/);
  });

  it('doctor warns of its expiry, and shows its limits', async () => {
    await service.venue({ name: 'Lobby' });
    const { token } = (await create('--expires', '12h', '--venue', 'Lobby', '-o', 'json')).json;
    const { json } = await cliWith(token)(['doctor', '-o', 'json']);
    const found = (name: string) => json.find(({ check }: { check: string }) => check === name);
    expect(found('credential')).toMatchObject({
      status: 'warn',
      detail: expect.stringMatching(/expires soon: 2026-11-21T00:00:00Z \(in 12 h\)/),
    });
    expect(found('role').detail).toBe(
      'installer: may read, pair TVs and revoke them in one venue only.',
    );
  });

  it('lists only records of its venues; 3 for all others', async () => {
    const [lobby, depot] = [
      await service.venue({ name: 'Lobby' }),
      await service.venue({ name: 'Depot' }),
    ];
    for (const { id: venueId } of [lobby, depot]) await service.screen({ venueId, name: 'Main' });
    const { token } = (
      await cli([
        'token',
        'create',
        '--name',
        'x',
        '--role',
        'operator',
        '--venue',
        'Lobby',
        '-o',
        'json',
      ])
    ).json;
    const own = cliWith(token);
    expect((await own(['screen', 'list', '-o', 'name'])).stdout).toBe('Lobby/Main\n');
    expect((await own(['venue', 'list', '-o', 'name'])).stdout).toBe('Lobby\n');
    const outside = await own(['screen', 'get', 'Depot/Main']);
    const absent = await own(['screen', 'get', 'Nowhere/Main']);
    expect(outside).toMatchObject({
      code: 3,
      stdout: '',
      stderr: absent.stderr.replaceAll('Nowhere', 'Depot'),
    });
  });

  it('exports only its venues, and not the tenant', async () => {
    const [lobby] = [
      await service.venue({ name: 'Lobby' }),
      await service.venue({ name: 'Depot' }),
    ];
    await service.screen({ venueId: lobby.id, name: 'Main' });
    const { tenantId } = lobby;
    await service.manage('PUT', `/v1/tenants/${tenantId}/config`, { syncIntervalMinutes: 7 });
    const { token } = (
      await cli([
        'token',
        'create',
        '--name',
        'x',
        '--role',
        'viewer',
        '--venue',
        'Lobby',
        '-o',
        'json',
      ])
    ).json;
    const { code, json } = await cliWith(token)(['export', '-o', 'json']);
    expect({ code, json }).toEqual({
      code: 0,
      json: { version: 1, venues: [{ name: 'Lobby', screens: [{ name: 'Main' }] }] },
    });
    const tenantConfig = await cliWith(token)(['config', 'get', '--level', 'tenant']);
    expect(tenantConfig.code).toBe(3);
  });

  it('4 for creating a venue, with a reason from pair; may create screens in its venues', async () => {
    await service.venue({ name: 'Lobby' });
    const { token } = (
      await cli([
        'token',
        'create',
        '--name',
        'x',
        '--role',
        'operator',
        '--venue',
        'Lobby',
        '-o',
        'json',
      ])
    ).json;
    const own = cliWith(token);
    const made = await own(['venue', 'create', '--name', 'Depot']);

    expect(made).toMatchObject({ code: 4, stderr: expect.stringContaining('is bound to venues') });
    const paired = await own(['pair', 'Depot/Main', '--create', '-o', 'ndjson']);
    expect(paired).toMatchObject({
      code: 4,
      stdout: '',
      stderr: expect.stringContaining(
        'The token is limited to some venues and may not create the missing venue',
      ),
    });
    expect((await own(['pair', 'Lobby/Main', '--create', '--dry-run', '-o', 'json'])).code).toBe(0);
    expect((await service.manage('GET', '/v1/venues')).body.items).toHaveLength(1);
  });
});
