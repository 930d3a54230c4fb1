import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { json, stubService } from '../../support/network/stub-service.ts';
import { hastyClock } from '../../support/runtime/hasty-clock.ts';
import { adminToken, type TestService } from '../../support/service/service.ts';
import { type CliOptions, runCli, startCli } from '../run-cli.ts';

let service: TestService<Clock>;
let viewerToken: string;
let home: string;
let file: string;

beforeAll(async () => {
  ({ service } = await startCli());
  viewerToken = await service.token('viewer');
});
beforeEach(async () => {
  home = await temporaryFolder();
  file = join(home, 'signage', 'contexts.json');
});

const run = (argv: string[], { env, ...options }: CliOptions = {}) =>
  runCli(argv, { ...options, env: { XDG_CONFIG_HOME: home, ...env } });
const logIn = (...more: string[]) =>
  run(['login', '--url', service.url, '--token-stdin', ...more], { stdin: `${adminToken}\n` });
const saved = async () => JSON.parse(await readFile(file, 'utf8'));
const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

describe('signage login', () => {
  it('verifies the token, saves it privately, and the next command uses it', async () => {
    const { code, stdout, stderr } = await logIn();
    expect(code).toBe(0);
    expect(stdout).toMatch(/Role +platform\n/);
    expect(stderr).toContain(file);
    expect(stdout + stderr).not.toContain(adminToken);
    const host = new URL(service.url).host;
    expect(await saved()).toEqual({
      current: host,
      contexts: {
        [host]: {
          url: service.url,
          token: adminToken,
          tokenId: expect.any(String),
          role: 'platform',
        },
      },
    });
    expect([await mode(file), await mode(join(home, 'signage'))]).toEqual(['600', '700']);
    expect(await readdir(join(home, 'signage'))).toEqual(['contexts.json']);
    expect((await run(['venue', 'list'])).code).toBe(0);
  });

  it('writes a file that other users can never read, whatever the umask', async () => {
    const before = process.umask(0);
    try {
      await logIn();
    } finally {
      process.umask(before);
    }
    expect([await mode(file), await mode(join(home, 'signage'))]).toEqual(['600', '700']);
  });

  it('asks at a terminal, and shows no character of the token', async () => {
    const { code, stdout, stderr } = await run(['login', '--context', 'work'], {
      tty: true,
      keys: [
        [/Address of the service/, `${'\u007f'.repeat(30)}${service.url}\r`],
        [/Management token/, `${viewerToken}\r`],
      ],
    });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toMatch(/viewer/);
    expect(stdout + stderr).not.toContain(viewerToken.slice(0, 12));
    expect(await saved()).toMatchObject({
      current: 'work',
      contexts: { work: { token: viewerToken } },
    });
  });

  it('asks again after a typing mistake, and says how many characters are missing', async () => {
    const { code, stderr } = await run(['login', '--context', 'work'], {
      tty: true,
      keys: [
        [/Address of the service/, `${'\u007f'.repeat(30)}nonsense\r`],
        [/not a URL/, `${'\u007f'.repeat(30)}${service.url}\r`],
        [/Management token/, `${viewerToken.slice(0, 40)}\r`],
        [/40 of 53 characters(.|\n)*Management token/, `${viewerToken}\r`],
      ],
    });
    expect(code).toBe(0);
    expect(stderr).not.toContain(viewerToken.slice(0, 12));
    expect(await saved()).toMatchObject({ contexts: { work: { token: viewerToken } } });
  });
});

describe('the saved contexts', () => {
  it.each([
    ['that others can read', 0o640],
    ['that others can write', 0o602],
  ])('in a file %s are rejected, with a hint', async (_, mode) => {
    await logIn();
    await chmod(file, mode);
    for (const argv of [
      ['venue', 'list'],
      ['context', 'list'],
      ['login', '--url', service.url, '--token-stdin'],
    ]) {
      const { code, stdout, stderr } = await run(argv, { stdin: adminToken });
      expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
      expect(stderr).toContain(`chmod 600 ${file}`);
    }
  });

  it('do not matter when damaged, if the environment names service and token', async () => {
    await mkdir(join(home, 'signage'));
    await writeFile(file, '{', { mode: 0o600 });
    const env = { SIGNAGE_URL: service.url, SIGNAGE_TOKEN: adminToken };
    expect((await run(['venue', 'list'], { env })).code).toBe(0);
    for (const [argv, more] of [
      [['--context', 'work'], {}],
      [['--url', service.url], {}],
      [['--context', 'work'], env],
      [[], { ...env, SIGNAGE_CONTEXT: 'work' }],
      [[], { ...env, SIGNAGE_TOKEN: ' ' }],
      [[], { ...env, SIGNAGE_URL: '' }],
    ] as const) {
      const { code, stderr } = await run(['venue', 'list', ...argv], { env: more });
      expect(code).toBe(4);
      expect(stderr).toContain('is damaged');
    }
  });

  it('are not written to a folder that others can write to', async () => {
    await mkdir(join(home, 'signage'));
    await chmod(join(home, 'signage'), 0o777);
    const { code, stderr } = await logIn();
    expect(code).toBe(4);
    expect(stderr).toContain('chmod 700');
    expect(await readdir(join(home, 'signage'))).toEqual([]);
  });

  it.each([
    '',
    '{',
    '[]',
    '{"contexts":{"a":{"url":5}}}',
    '{"contexts":[1]}',
    '{"current":5,"contexts":{}}',
  ])('report a damaged file (%s)', async (text) => {
    await mkdir(join(home, 'signage'), { mode: 0o700 });
    await writeFile(file, text, { mode: 0o600 });
    const { code, stderr } = await run(['venue', 'list']);
    expect(code).toBe(4);
    expect(stderr).toContain(file);
  });

  it('are optional: without a folder for them, the environment suffices', async () => {
    const env = { SIGNAGE_URL: service.url, SIGNAGE_TOKEN: adminToken, XDG_CONFIG_HOME: '' };
    expect((await run(['venue', 'list'], { env })).code).toBe(0);
    expect(
      (
        await run(['login', '--url', service.url, '--token-stdin'], {
          env: { XDG_CONFIG_HOME: '' },
          stdin: adminToken,
        })
      ).code,
    ).toBe(4);
  });

  it('are in ~/.config without XDG_CONFIG_HOME', async () => {
    await run(['login', '--url', service.url, '--token-stdin'], {
      env: { XDG_CONFIG_HOME: '', HOME: home },
      stdin: adminToken,
    });
    expect(await readdir(join(home, '.config', 'signage'))).toEqual(['contexts.json']);
  });
});

describe('the service that gets the token', () => {
  it('is never another origin than that of the saved token', async () => {
    await logIn('--context', 'main');
    const stub = await stubService(json(200, {}));
    for (const [argv, more] of [
      [['--url', stub.url], {}],
      [[], { SIGNAGE_URL: stub.url }],
      [['--url', stub.url, '--context', 'main'], {}],
    ] as const)
      expect((await run(['whoami', ...argv], { env: more })).code).toBe(4);
    expect(stub.heard).toEqual([]);
    await run(['whoami', '--url', stub.url], { env: { SIGNAGE_TOKEN: 'mak_fromTheEnvironment' } });
    expect(stub.heard[0]!.headers.authorization).toBe('Bearer mak_fromTheEnvironment');
  });

  it.each(['http://127.0.0.1:1', 'http://localhost:1', 'http://[::1]:1'])(
    'may be on this machine without https: %s',
    async (url) => {
      const env = { SIGNAGE_TOKEN: adminToken };
      expect((await run(['whoami', '--url', url], { env, clock: hastyClock() })).code).toBe(7);
    },
  );

  it('gets it from a token file that others can read only with a warning', async () => {
    const path = join(home, 'ci.token');
    await writeFile(path, adminToken);
    const argv = ['venue', 'list', '--url', service.url, '--token-file', path, '-o', 'json'];
    await chmod(path, 0o644);
    const open = await run(argv);
    expect(open).toMatchObject({ code: 0, stdout: '[]\n' });
    expect(open.stderr).toContain(`chmod go-rwx ${path}`);
    await chmod(path, 0o600);
    expect((await run(argv)).stderr).toBe('');
  });
});
