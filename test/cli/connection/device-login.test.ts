// signage login --device, and signage token approve.
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { problem, raw, stubService } from '../../support/network/stub-service.ts';
import type { FakeIo } from '../../support/process/fake-io.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { type Cli, type CliOptions, type CliRun, cliOf, runCli, startCli } from '../run-cli.ts';

let service: TestService<Clock>;
let cli: Cli;
let admin: Cli;
let home: string;
let tenantId: string;
beforeEach(async () => {
  ({ service, cli } = await startCli());
  tenantId = (await service.venue({ name: 'Lobby' })).tenantId;
  admin = cliOf(service, await service.token('admin'));
  home = await temporaryFolder();
});

const run = (line: string, { env, ...options }: CliOptions = {}) =>
  runCli(line, { ...options, env: { XDG_CONFIG_HOME: home, ...env } });
const logIn = (more: string, options: CliOptions = {}, url = service.url) =>
  run(`login --device --url ${url} ${more}`.trim(), options);
const saved = async () =>
  JSON.parse(await readFile(join(home, 'signage', 'contexts.json'), 'utf8').catch(() => 'null'));
const codeOn = async (io: FakeIo) =>
  (await io.until(/(?<=Your code is )[A-HJKMNP-Z2-9]{4}-[A-HJKMNP-Z2-9]{4}/)).toLowerCase();
const grants = '--role installer --venue Lobby --expires 12h';
/** Approves the code that the login shows. */
const approving =
  (approve: Cli = admin, options = `${grants} --yes`) =>
  async (io: FakeIo) =>
    expect((await approve(`token approve ${await codeOn(io)} ${options}`)).code).toBe(0);
const grantedIds = async () =>
  (await service.manage('GET', '/v1/audit?action=token.approve')).body.items.map(
    ({ subject }: { subject: { id: string } }) => subject.id,
  );
/** Expects that nothing was saved, and that the tokens of all approvals are gone. */
async function expectNothingLeft({ stderr }: CliRun): Promise<void> {
  expect(stderr).not.toMatch(/mak_|lgn_/);
  expect(await saved()).toBeNull();
  for (const id of await grantedIds())
    expect((await service.manage('GET', `/v1/tokens/${id}`)).status).toBe(404);
}

describe('signage login --device', () => {
  it('waits for an admin, shows what it got, asks, saves, and the next command works', async () => {
    let approvedMs = 0;
    const { code, stdout, stderr } = await logIn('', {
      tty: true,
      keys: [[/Work in the tenant/, 'y\r']],
      during: async (io) => {
        await approving()(io);
        approvedMs = performance.now();
      },
    });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect((await run('venue list -o name')).stdout).toBe('Lobby\n');
    expect(performance.now() - approvedMs).toBeLessThan(1000);
    expect(stderr).toMatch(/signage token approve [A-Z2-9-]{9} --role/);
    expect(stderr).toContain(service.url);
    expect(stderr).toContain(`"default" (${tenantId})`);
    expect(stderr).toContain('role installer, venues "Lobby", until 20');
    expect(stdout).toMatch(/Role.*installer\n/);
    const { contexts, current } = await saved();
    const { token, ...context } = contexts[current];
    expect(context).toEqual({
      url: service.url,
      tokenId: (await grantedIds())[0],
      role: 'installer',
    });
    expect(stdout + stderr).not.toContain(token.slice(0, 12));
    expect(stdout + stderr).not.toMatch(/lgn_/);
  });

  it('needs no terminal with the id of the tenant', async () => {
    const options = { during: approving() };
    const run = await logIn(`--tenant ${tenantId.toUpperCase()} -o json`, options);
    expect(run).toMatchObject({ code: 0, json: { role: 'installer', tenantId } });
    expect((await saved()).contexts).toBeDefined();
  });

  it('5 for the admin of another tenant than --tenant; nothing is saved, the token ends', async () => {
    const { id } = (await service.manage('POST', '/v1/tenants', { name: 'defauIt' })).body;
    const stranger = cliOf(
      service,
      await service.token('admin', { headers: { 'x-tenant-id': id } }),
    );
    const during = approving(stranger, '--role admin --all-venues --expires 1h --yes');
    service.tenantId = id;
    const run = await logIn(`--tenant ${tenantId}`, { during });
    expect(run).toMatchObject({ code: 5, stdout: '' });
    expect(run.stderr).toContain(id);
    await expectNothingLeft(run);
  });

  it('5 when the person refuses; nothing is saved, the token ends', async () => {
    const run = await logIn('', {
      tty: true,
      keys: [[/Work in the tenant/, '\r']],
      during: approving(),
    });
    expect(run).toMatchObject({ code: 5, stdout: '' });
    await expectNothingLeft(run);
  });

  it('Ctrl-C ends the request at the service', async () => {
    let code = '';
    const run = await logIn(`--tenant ${tenantId}`, {
      during: async (io) => {
        code = await codeOn(io);
        io.signal('SIGINT');
      },
    });
    expect(run).toMatchObject({ code: 130, stdout: '' });
    expect((await admin(`token approve ${code} ${grants} --yes`)).code).toBe(3);
    await expectNothingLeft(run);
  });

  it('4 when the context cannot be saved; the token ends', async () => {
    await mkdir(join(home, 'signage'));
    await chmod(join(home, 'signage'), 0o777);
    const run = await logIn(`--tenant ${tenantId}`, { during: approving() });
    expect(run).toMatchObject({ code: 4, stdout: '' });
    await expectNothingLeft(run);
  });

  it('3 with a clear message when the code expires', async () => {
    const clock = new ManualClock();
    const other = await startService({ clock });
    const run = await logIn(
      `--tenant ${tenantId}`,
      {
        during: async (io) => {
          await codeOn(io);
          await new Promise((resolve) => setTimeout(resolve, 200));
          await clock.advance(10 * 60_000);
        },
      },
      other.url,
    );
    expect(run).toMatchObject({ code: 3, stdout: '' });
    expect(run.stderr).toMatch(/has expired or was ended.*Nothing was saved.*new code/s);
    expect(await saved()).toBeNull();
  });

  it.each([
    ['404', problem(404, 'not_found', 'There is nothing at this path.')],
    ['405', raw(405, 'no')],
    ['501', raw(501, 'no')],
  ])('6 with another way at a service that answers %s', async (_, answer) => {
    const { url } = await stubService(answer);
    const run = await logIn(`--tenant ${tenantId}`, {}, url);
    expect(run).toMatchObject({ code: 6, stdout: '' });
    expect(run.stderr).toMatch(/cannot approve logins.*without --device/s);
  });

  it.each([
    ['without a terminal and a tenant', ''],
    ['with the name of a tenant', '--tenant default'],
    ['with --quiet', `--tenant ${'0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e'} --quiet`],
    ['with --token-stdin', `--tenant ${'0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e'} --token-stdin`],
  ])('2 %s, before anything is asked', async (_, more) => {
    const { url, heard } = await stubService(raw(500, 'no'));
    expect(await logIn(more, {}, url)).toMatchObject({ code: 2, stdout: '' });
    expect(heard).toEqual([]);
  });
});

describe('signage token approve', () => {
  const ask = async (body: object = { user: 'alice', host: 'front-desk' }) =>
    (await service.send('POST', '/v1/logins', { body })).body;

  it('shows what the asker says of itself and what was seen, and asks', async () => {
    const { code } = await ask();
    const run = await admin(`token approve ${code} ${grants}`, {
      tty: true,
      keys: [[/for "Lobby" only/, 'y\r']],
    });
    expect({ code: run.code, stderr: run.stderr }).toMatchObject({ code: 0 });
    expect(run.stderr).toContain('Says it is: user "alice" on host "front-desk".');
    expect(run.stderr).toMatch(/Seen: address 127\.0\.0\.1, asked \d/);
    const name = `alice@front-desk (${code.slice(0, 4)}-${code.slice(4)})`;
    expect(run.stdout).toContain(name);
    expect(run.stdout + run.stderr).not.toMatch(/mak_/);
  });

  it('is declined by default, and gives nothing', async () => {
    const { code } = await ask();
    const keys = [[/Give a token/, '\r']] as const;
    expect((await admin(`token approve ${code} ${grants}`, { tty: true, keys })).code).toBe(5);
    expect((await admin(`token approve ${code} ${grants}`)).code).toBe(2);
    const dry = await admin(`token approve ${code} ${grants} --dry-run`);
    expect(dry.code).toBe(0);
    expect((await admin(`token approve ${code} ${grants} --yes`)).code).toBe(0);
    expect((await admin(`token approve ${code} ${grants} --yes`)).code).toBe(5);
  });

  it.each([
    ['no role', '--venue Lobby --expires 12h'],
    ['a role of the whole service', '--role platform --all-venues --expires 12h'],
    ['no expiry', '--role viewer --venue Lobby'],
    ['neither venue nor all', '--role viewer --expires 12h'],
    ['both', '--role viewer --venue Lobby --all-venues --expires 12h'],
  ])('2 for %s', async (_, options) => {
    const { code } = await ask();
    const run = await admin(`token approve ${code} ${options} --yes`);
    expect(run).toMatchObject({ code: 2, stdout: '' });
  });

  it('2 for a text that is no code, without a request', async () => {
    for (const text of ['WDJB-MJH', 'WDJB-MJH0', 'K7Q2MX'])
      expect((await admin(`token approve ${text} ${grants} --yes`)).code).toBe(2);
  });

  it('takes the names of real people and machines', async () => {
    const body = { user: 'müller', host: 'büro-ä1.example' };
    const { code } = await ask(body);
    expect((await admin(`token approve ${code} ${grants} --yes`)).code).toBe(0);
  });

  it('sees the user and host of this machine for signage login --device', async () => {
    let stderr = '';
    const during = async (io: FakeIo) => {
      const run = await cli(`token approve ${await codeOn(io)} ${grants} --yes`);
      stderr = run.stderr;
    };
    const env = { USER: '\u001b[2Jalice' };
    expect((await logIn(`--tenant ${tenantId}`, { during, env })).code).toBe(0);
    expect(stderr).toContain(`user "[2Jalice" on host "${hostname()}"`);
  });
});
