// signage token rotate.
import { chmod, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import type { TestService } from '../../support/service/service.ts';
import { type Cli, type CliOptions, runCli, startCli } from '../run-cli.ts';

const tokenForm = /mak_[0-9A-Za-z]{49}/;

let service: TestService<Clock>;
let cli: Cli;
let home: string;
let count = 0;

beforeAll(async () => {
  ({ service, cli } = await startCli());
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

describe('signage token rotate', () => {
  it('--output-file writes the secret to a new private file, and shows it nowhere', async () => {
    const { name } = await make();
    const file = join(home, 'ci.token');
    const rotated = await cli(['token', 'rotate', name, '--output-file', file, '--verbose']);
    expect(rotated.code).toBe(0);
    expect(rotated.stdout + rotated.stderr).not.toMatch(tokenForm);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await works((await readFile(file, 'utf8')).trim())).toBe(true);
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
});
