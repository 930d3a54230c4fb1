// signage token create --output-file.
import { open, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
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
  it('--output-file writes the token to a new file with mode 0600, and nowhere else', async () => {
    const file = join(folder, 'ci.token');
    const run = await cli(
      `token create --name "To file" --role viewer --output-file ${file} -o json --verbose`,
    );
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
      const run = await cli(
        `token create --name '${kind}' --role viewer --output-file '${wanted}'`,
      );
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
    const taken = await cli(`token create --name Twice --role viewer --output-file ${file}`);
    expect(taken.code).toBe(5);
    expect(taken.stderr).toContain('signage token get Twice');
    expect(await isThere(file)).toBe(false);
    const dry = await cli(
      `token create --name Dry --role viewer --output-file ${file} --dry-run -o json`,
    );
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
    const run = await cli(`token create --name Full --role viewer --output-file ${file}`);
    broken.mockRestore();
    await probe.close();
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toBe(
      `signage: ${file} is incomplete, because it cannot be written: no space left. The token was deleted again.\n  Free space on that disk, or write to another place.\n`,
    );
    expect(run.stdout + run.stderr).not.toMatch(/mak_/);
    expect(await isThere(file)).toBe(false);
    expect(await names()).not.toContain('Full');
  });
});
