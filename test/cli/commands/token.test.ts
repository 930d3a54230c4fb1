// signage token create, list, get, delete.
import { open, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import type { TestService } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type Cli, cliOf, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;
let as: (role: string) => Promise<Cli>;
let folder: string;
beforeAll(async () => {
  ({ cli, service, as } = await startCli());
  folder = await temporaryFolder();
});

const tokenForm = /mak_[0-9A-Za-z]{20,}/;
const names = async () =>
  (await service.manage('GET', '/v1/tokens?limit=200')).body.items.map(
    ({ name }: { name: string }) => name,
  );
const works = async (token: string) =>
  (await service.send('GET', '/v1/me', { key: token })).status === 200;
const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

describe('signage token create', () => {
  it('prints the token once, in the result', async () => {
    const run = await cli(['token', 'create', '--name', 'CI', '--role', 'operator', '-o', 'json']);
    expect(run).toMatchObject({
      code: 0,
      json: { name: 'CI', role: 'operator', token: expect.stringMatching(tokenForm) },
    });
    expect(run.stderr).toBe('Save the token now: it is not shown again.\n');
    expect(await works(run.json.token)).toBe(true);
    for (const words of [['list'], ['get', 'CI']])
      expect((await cli(['token', ...words, '-o', 'json'])).stdout).not.toMatch(tokenForm);
  });

  it('prints only the token with --jq, and all fields in the table', async () => {
    const { stdout } = await cli([
      'token',
      'create',
      '--name',
      'Alone',
      '--role',
      'viewer',
      '--jq',
      '.token',
    ]);
    expect(await works(stdout.trim())).toBe(true);
    expect((await cli(['token', 'create', '--name', 'People', '--role', 'viewer'])).stdout).toMatch(
      /^Name +People\nRole +viewer\nVenues +all\nExpires +never\nToken +mak_/,
    );
  });

  it('--output-file writes the token to a new file with mode 0600, and nowhere else', async () => {
    const file = join(folder, 'ci.token');
    const run = await cli([
      'token',
      'create',
      '--name',
      'To file',
      '--role',
      'viewer',
      '--output-file',
      file,
      '-o',
      'json',
      '--verbose',
    ]);
    expect(run).toMatchObject({ code: 0, json: { name: 'To file', role: 'viewer' } });
    expect(run.json).not.toHaveProperty('token');
    expect(run.stdout + run.stderr).not.toMatch(/mak_/);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const text = await readFile(file, 'utf8');
    expect(text).toMatch(/^mak_\w+\n$/);
    expect(await works(text.trim())).toBe(true);
    const used = await cli(['venue', 'list', '--token-file', file], { env: { SIGNAGE_TOKEN: '' } });
    expect(used.code).toBe(0);
  });

  it.each(['file', 'link', 'dangling link', 'folder that is not there'])(
    '--output-file: 2 for a %s; no token is created',
    async (kind) => {
      const path = join(folder, kind);
      const target = join(folder, `${kind} target`);
      if (kind === 'file') await writeFile(path, 'mine');
      if (kind === 'link') await writeFile(target, 'mine');
      if (kind.endsWith('link')) await symlink(target, path);
      const wanted = kind.startsWith('folder') ? join(path, 'x') : path;
      const run = await cli([
        'token',
        'create',
        '--name',
        kind,
        '--role',
        'viewer',
        '--output-file',
        wanted,
      ]);
      expect(run).toMatchObject({ code: 2, stdout: '' });
      expect(run.stderr).toContain('--output-file');
      expect(await names()).not.toContain(kind);
      if (kind === 'file') expect(await readFile(path, 'utf8')).toBe('mine');
      if (kind === 'dangling link') expect(await isThere(target)).toBe(false);
    },
  );

  it('--output-file leaves no file when no token is created', async () => {
    const file = join(folder, 'none.token');
    await cli(['token', 'create', '--name', 'Twice', '--role', 'viewer']);
    const taken = await cli([
      'token',
      'create',
      '--name',
      'Twice',
      '--role',
      'viewer',
      '--output-file',
      file,
    ]);
    expect(taken.code).toBe(5);
    expect(taken.stderr).toContain('signage token get Twice');
    expect(await isThere(file)).toBe(false);
    const dry = await cli([
      'token',
      'create',
      '--name',
      'Dry',
      '--role',
      'viewer',
      '--output-file',
      file,
      '--dry-run',
      '-o',
      'json',
    ]);
    expect(dry.json).toEqual([
      { method: 'POST', path: '/v1/tokens', body: { name: 'Dry', role: 'viewer' } },
    ]);
    expect(await isThere(file)).toBe(false);
    expect(await names()).not.toContain('Dry');
  });

  it('--output-file: a token that cannot be written is deleted again', async () => {
    const probe = await open(join(folder, 'probe'), 'w');
    const broken = vi
      .spyOn(Object.getPrototypeOf(probe), 'writeFile')
      .mockRejectedValueOnce(Object.assign(new Error('no space left'), { code: 'ENOSPC' }));
    const file = join(folder, 'full.token');
    const run = await cli([
      'token',
      'create',
      '--name',
      'Full',
      '--role',
      'viewer',
      '--output-file',
      file,
    ]);
    broken.mockRestore();
    await probe.close();
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toBe(
      `signage: ${file} cannot be written: no space left. The token was deleted again.\n`,
    );
    expect(run.stdout + run.stderr).not.toMatch(/mak_/);
    expect(await isThere(file)).toBe(false);
    expect(await names()).not.toContain('Full');
  });

  it('2 without name or role, or for an unknown role; 4 for an insufficient role', async () => {
    expect((await cli(['token', 'create', '--name', 'x'])).stderr).toContain(
      '--role must be given',
    );
    expect((await cli(['token', 'create', '--role', 'viewer'])).code).toBe(2);
    expect((await cli(['token', 'create', '--name', 'x', '--role', 'king'])).code).toBe(2);
    expect(
      (await (await as('admin'))(['token', 'create', '--name', 'x', '--role', 'platform'])).code,
    ).toBe(4);
    expect(await names()).not.toContain('x');
  });
});

describe('signage token list, get', () => {
  it('lists tokens without their secrets', async () => {
    await service.token('viewer');
    const { json, stdout } = await cli(['token', 'list', '-o', 'json']);
    expect(json.map(({ name }: { name: string }) => name)).toEqual(await names());
    expect(stdout).not.toContain('mak_');
    expect((await cli(['token', 'list'])).stdout).toMatch(
      /^NAME +ROLE +VENUES +EXPIRES +LAST USED AT\n/,
    );
    expect((await (await as('operator'))(['token', 'list'])).code).toBe(4);
  });

  it('finds one by name or id; 3 for an unknown name', async () => {
    await cli(['token', 'create', '--name', 'Find me', '--role', 'viewer']);
    const [found] = (await cli(['token', 'list', '--search', 'find', '-o', 'json'])).json;
    for (const name of ['find me', found.id])
      expect((await cli(['token', 'get', name, '-o', 'json'])).json).toEqual(found);
    expect((await cli(['token', 'get', 'Nothing'])).code).toBe(3);
  });
});

describe('signage token delete', () => {
  it('asks, or accepts --yes; 2 without a terminal; the token is then rejected', async () => {
    const token = (
      await cli(['token', 'create', '--name', 'Doomed', '--role', 'viewer', '--jq', '.token'])
    ).stdout.trim();
    expect((await cli(['token', 'delete', 'Doomed'])).code).toBe(2);
    expect((await cli(['token', 'delete', 'Doomed', '--dry-run'])).stdout).toContain(
      'DELETE /v1/tokens/',
    );
    expect(
      (
        await cli(['token', 'delete', 'Doomed'], {
          tty: true,
          keys: [[/Delete the token "Doomed" \(viewer\)\?/, 'n\r']],
        })
      ).code,
    ).toBe(5);
    expect(await works(token)).toBe(true);
    expect(await cli(['token', 'delete', 'Doomed', '--yes'])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'Deleted the token "Doomed".\n',
    });
    expect(await works(token)).toBe(false);
  });

  it('notes that the deleted token is in use', async () => {
    const { json: own } = await cli([
      'token',
      'create',
      '--name',
      'Own',
      '--role',
      'admin',
      '-o',
      'json',
    ]);
    const run = await cliOf(service, own.token)(['token', 'delete', 'Own'], {
      tty: true,
      keys: [[/using\s+this\s+token/, 'y\r']],
    });
    expect(run.code).toBe(0);
    expect(await works(own.token)).toBe(false);
  });

  it('5 for the last platform token', async () => {
    const platform = (await service.manage('GET', '/v1/tokens')).body.items.filter(
      ({ role }: { role: string }) => role === 'platform',
    );
    expect(platform).toHaveLength(1);
    expect((await cli(['token', 'delete', platform[0].id, '--yes'])).code).toBe(5);
  });
});
