// signage token rotate.
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import type { TestService } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type Cli, type CliOptions, runCli, startCli } from '../run-cli.ts';

const tokenForm = /mak_[0-9A-Za-z]{49}/;

let service: TestService<Clock>;
let cli: Cli;
let as: (role: string) => Promise<Cli>;
let home: string;
let count = 0;

beforeAll(async () => {
  ({ service, cli, as } = await startCli());
});
beforeEach(async () => {
  home = await temporaryFolder();
});

async function make(role = 'operator'): Promise<{ id: string; name: string; token: string }> {
  return (await service.manage('POST', '/v1/tokens', { name: `Rotated ${++count}`, role })).body;
}
const works = async (key: string) => (await service.send('GET', '/v1/me', { key })).status === 200;
/** Runs a command with the saved contexts only. */
const run = (argv: string[], { env, ...options }: CliOptions = {}) =>
  runCli(argv, { ...options, env: { XDG_CONFIG_HOME: home, ...env } });
const save = async (context: string, token: string) =>
  expect(
    await run(['login', '--url', service.url, '--context', context, '--token-stdin'], {
      stdin: token,
    }),
  ).toMatchObject({ code: 0 });
const saved = async () => {
  const text = await readFile(join(home, 'signage', 'contexts.json'), 'utf8');
  return JSON.parse(text).contexts;
};

describe('signage token rotate', () => {
  it('prints the new secret once; the old one works until the new one is used', async () => {
    const { id, name, token } = await make();
    const rotated = await cli(['token', 'rotate', name, '-o', 'json']);
    expect(rotated).toMatchObject({ code: 0, json: { id, name, role: 'operator' } });
    expect(rotated.stderr).toMatch(/^Save the token now: it is not shown again\.\nThe old secret/);
    expect(rotated.stderr).toContain(rotated.json.oldTokenUntil);
    expect(rotated.json.token).toMatch(tokenForm);
    expect([await works(token), await works(rotated.json.token), await works(token)]).toEqual([
      true,
      true,
      false,
    ]);
    expect((await cli(['token', 'rotate', id])).stdout).toMatch(/\nToken +mak_/);
  });

  it('--now ends the old secret', async () => {
    const { name, token } = await make();
    const rotated = await cli(['token', 'rotate', name, '--now', '--jq', '.token']);
    expect(rotated.stderr).toContain('The old secret no longer works.');
    expect([await works(token), await works(rotated.stdout.trim())]).toEqual([false, true]);
  });

  it('--output-file writes the secret to a new private file, and shows it nowhere', async () => {
    const { name } = await make();
    const file = join(home, 'ci.token');
    const rotated = await cli(['token', 'rotate', name, '--output-file', file, '--verbose']);
    expect(rotated.code).toBe(0);
    expect(rotated.stdout + rotated.stderr).not.toMatch(tokenForm);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await works((await readFile(file, 'utf8')).trim())).toBe(true);
  });

  it('2 for an existing --output-file, and the token is not rotated', async () => {
    const { name, token } = await make();
    const file = join(home, 'ci.token');
    await cli(['token', 'rotate', name, '--now', '--output-file', file]);
    const kept = (await readFile(file, 'utf8')).trim();
    const again = await cli(['token', 'rotate', name, '--now', '--output-file', file]);
    expect(again.code).toBe(2);
    expect([await works(token), await works(kept)]).toEqual([false, true]);
  });

  it('updates every context of this service that holds the token', async () => {
    const [admin, ci] = [await make('admin'), await make()];
    await save('ci', ci.token);
    await save('ci-too', ci.token);
    await save('main', admin.token);
    const rotated = await run(['token', 'rotate', ci.name, '-o', 'json']);
    expect(rotated.stderr).toContain('Saved in the context "ci".\nSaved in the context "ci-too".');
    const { token } = rotated.json;
    expect(await saved()).toMatchObject({
      ci: { token },
      'ci-too': { token },
      main: { token: admin.token },
    });
    expect(await works(ci.token)).toBe(true);
    expect((await run(['whoami', '--context', 'ci'])).code).toBe(0);
    expect(await works(ci.token)).toBe(false);
  });

  it('does not end the overlap of another token whose new secret a context holds', async () => {
    const [admin, ci, other] = [await make('admin'), await make(), await make()];
    await save('ci', ci.token);
    await save('main', admin.token);
    expect((await run(['token', 'rotate', ci.name])).code).toBe(0);
    expect((await run(['token', 'rotate', other.name])).code).toBe(0);
    expect((await run(['token', 'rotate', admin.name, '--now'])).code).toBe(0);
    expect(await works(ci.token)).toBe(true);
    expect((await saved()).ci).toMatchObject({ tokenId: ci.id });
  });

  it('changes a context without the id of its token only if it has the secret in use', async () => {
    const [admin, ci] = [await make('admin'), await make()];
    await save('ci', ci.token);
    await save('main-too', admin.token);
    await save('main', admin.token);
    const file = join(home, 'signage', 'contexts.json');
    const all = JSON.parse(await readFile(file, 'utf8'));
    for (const one of Object.values<{ tokenId?: string }>(all.contexts)) delete one.tokenId;
    await writeFile(file, JSON.stringify(all), { mode: 0o600 });
    expect((await run(['token', 'rotate', ci.name])).stderr).not.toContain('Saved in');
    const { token } = (await run(['token', 'rotate', admin.name, '-o', 'json'])).json;
    expect(await saved()).toMatchObject({
      ci: { token: ci.token },
      main: { token, tokenId: admin.id },
      'main-too': { token, tokenId: admin.id },
    });
  });

  it('saves the token in use in its context, also with --now; the context still works', async () => {
    const admin = await make('admin');
    await save('main', admin.token);
    const rotated = await run(['token', 'rotate', admin.name, '--now', '-o', 'json']);
    expect(rotated).toMatchObject({ code: 0 });
    expect((await saved()).main.token).toBe(rotated.json.token);
    expect(await works(admin.token)).toBe(false);
    expect((await run(['token', 'list'])).code).toBe(0);
  });

  it('names the source of the token in use, if no context holds it', async () => {
    const admin = await make('admin');
    const env = { SIGNAGE_URL: service.url, SIGNAGE_TOKEN: admin.token };
    const rotated = await run(['token', 'rotate', admin.name], { env });
    expect(rotated.stderr).toContain('You are using this token: replace it in SIGNAGE_TOKEN.');
  });

  it('after a lost answer, the context still works, and the command can be run again', async () => {
    const admin = await make('admin');
    await save('main', admin.token);
    const lost = await service.manage('POST', `/v1/tokens/${admin.id}/rotate`);
    const rotated = await run(['token', 'rotate', admin.name, '--now']);
    expect(rotated.code).toBe(0);
    expect([await works(lost.body.token), await works(admin.token)]).toEqual([false, false]);
    expect((await run(['whoami'])).code).toBe(0);
  });

  it('prints no secret if the contexts cannot be saved, and the old secret works', async () => {
    const admin = await make('admin');
    await save('main', admin.token);
    await chmod(join(home, 'signage'), 0o777);
    const failed = await run(['token', 'rotate', admin.name, '--now']);
    expect(failed.code).toBe(4);
    expect(failed.stdout).toBe('');
    expect(failed.stderr).toContain('The new secret was not saved.');
    expect(failed.stderr).toContain('can be written to by other users');
    expect(failed.stderr).not.toMatch(tokenForm);
    expect((await run(['whoami'])).code).toBe(0);
  });

  it('4 for an installer, 5 for the token of SIGNAGE_ADMIN_TOKEN', async () => {
    const { name, token } = await make();
    expect((await (await as('installer'))(['token', 'rotate', name])).code).toBe(4);
    expect(await works(token)).toBe(true);
    const bootstrap = await cli(['token', 'rotate', 'bootstrap']);
    expect(bootstrap).toMatchObject({ code: 5, stdout: '' });
    expect(bootstrap.stderr).toContain('SIGNAGE_ADMIN_TOKEN');
  });
});
