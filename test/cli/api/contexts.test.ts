import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { adminToken, type TestService } from '../../support/service.ts';
import { json, stubService } from '../../support/stub-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
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
      contexts: { [host]: { url: service.url, token: adminToken, tokenId: expect.any(String) } },
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

  it('saves the named tenant by its id', async () => {
    const { tenantId } = (
      await run(['whoami', '-o', 'json'], {
        env: { SIGNAGE_URL: service.url, SIGNAGE_TOKEN: adminToken },
      })
    ).json;
    await logIn('--tenant', 'DEFAULT');
    expect(Object.values((await saved()).contexts)).toEqual([
      { url: service.url, token: adminToken, tokenId: expect.any(String), tenant: tenantId },
    ]);
  });

  it('4 for an invalid token, and saves nothing', async () => {
    const { code, stderr } = await run(['login', '--url', service.url, '--token-stdin'], {
      stdin: `mak_${'z'.repeat(40)}`,
    });
    expect(code).toBe(4);
    expect(stderr).not.toContain('zzz');
    await expect(saved()).rejects.toThrow('ENOENT');
  });

  it.each<[string, string[], CliOptions, string]>([
    ['no terminal', [], {}, '--token-stdin'],
    ['a terminal under CI', [], { tty: true, env: { CI: '1' } }, '--token-stdin'],
    ['nothing piped in', ['--token-stdin'], { tty: true }, '--token-stdin'],
    ['an empty token', ['--token-stdin'], { stdin: '\n' }, 'no token'],
    [
      'http to another machine',
      ['--url', 'http://192.0.2.1', '--token-stdin'],
      { stdin: 'mak_x' },
      '--insecure-http',
    ],
    ['an invalid URL', ['--url', 'example', '--token-stdin'], { stdin: 'mak_x' }, 'not a URL'],
  ])('2 with %s', async (_, argv, options, message) => {
    const { code, stderr } = await run(['login', ...argv], options);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    await expect(saved()).rejects.toThrow('ENOENT');
  });

  it('adds a missing scheme, and ignores /v1', async () => {
    const { code, stderr } = await run(
      ['login', '--url', `${new URL(service.url).host}/v1/`, '--token-stdin'],
      { stdin: adminToken },
    );
    expect(code).toBe(0);
    expect(stderr).toContain(`The address of the service is ${service.url}`);
    expect(Object.values((await saved()).contexts)).toMatchObject([{ url: service.url }]);
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

  it.each([
    ['a cut token', () => viewerToken.slice(0, -3), 'It has 50 of 53 characters.'],
    ['the key of a TV', () => `dak_${'x'.repeat(49)}`, 'It is the key of a TV.'],
    ['other text', () => 'hello', 'A management token begins with mak_.'],
  ])('4 for %s, and says so', async (_, token, message) => {
    const options = { stdin: token() };
    const { code, stderr } = await run(['login', '--url', service.url, '--token-stdin'], options);
    expect(code).toBe(4);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain(token());
  });

  it('takes no token as an argument', async () => {
    for (const argv of [['--token', adminToken], [adminToken]]) {
      const { code, stderr } = await run(['login', ...argv]);
      expect(code).toBe(2);
      expect(stderr).not.toContain(adminToken);
    }
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

  it('have only names that were saved', async () => {
    for (const name of ['constructor', '__proto__', 'toString']) {
      expect((await run(['venue', 'list', '--context', name])).code).toBe(3);
      expect((await run(['context', 'use', name])).code).toBe(3);
    }
  });
});

describe('precedence of service and token', () => {
  const whoami = async (argv: string[] = [], env: Record<string, string> = {}) =>
    run(['whoami', '-o', 'json', ...argv], { env });

  beforeEach(async () => {
    await logIn('--context', 'main');
    await run(['login', '--url', service.url, '--token-stdin', '--context', 'low'], {
      stdin: viewerToken,
    });
    await run(['context', 'use', 'main']);
  });

  it('the current context, or another with --context or SIGNAGE_CONTEXT', async () => {
    expect((await whoami()).json).toMatchObject({
      role: 'platform',
      context: 'main',
      urlSource: 'context main',
      tokenSource: 'context main',
    });
    expect((await whoami(['--context', 'low'])).json).toMatchObject({
      role: 'viewer',
      tokenSource: 'context low',
    });
    expect((await whoami([], { SIGNAGE_CONTEXT: 'low' })).json).toMatchObject({
      role: 'viewer',
      tokenSource: 'context low',
    });
    expect((await whoami(['--context', 'main'], { SIGNAGE_CONTEXT: 'low' })).json).toMatchObject({
      role: 'platform',
    });
  });

  it('the environment overrides the file, and a flag overrides both', async () => {
    expect((await whoami([], { SIGNAGE_TOKEN: viewerToken })).json).toMatchObject({
      role: 'viewer',
      tokenSource: 'SIGNAGE_TOKEN',
      urlSource: 'context main',
    });
    expect(
      (await whoami(['--context', 'main'], { SIGNAGE_TOKEN: viewerToken })).json,
    ).toMatchObject({ role: 'platform' });
    const tokenFile = join(home, 'token');
    await writeFile(tokenFile, adminToken);
    const { json: named } = await whoami(['--token-file', tokenFile], {
      SIGNAGE_TOKEN: viewerToken,
    });
    expect(named).toMatchObject({ role: 'platform', tokenSource: '--token-file' });
    expect((await whoami([], { SIGNAGE_TOKEN_FILE: tokenFile })).json).toMatchObject({
      tokenSource: 'SIGNAGE_TOKEN_FILE',
    });
  });

  it('a saved token is not sent to another origin', async () => {
    const stub = await stubService(json(200, {}));
    for (const run of [
      whoami(['--url', stub.url]),
      whoami([], { SIGNAGE_URL: stub.url }),
      whoami(['--url', stub.url, '--context', 'low']),
    ]) {
      const { code, stdout, stderr } = await run;
      expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
      expect(JSON.parse(stderr)).toMatchObject({
        code: 'token_of_elsewhere',
        hint: expect.stringContaining('signage login --url'),
      });
      expect(stderr).not.toContain('mak_');
    }
    expect(stub.heard).toEqual([]);
    await whoami(['--url', stub.url], { SIGNAGE_TOKEN: 'mak_fromTheEnvironment' });
    expect(stub.heard[0]!.headers.authorization).toBe('Bearer mak_fromTheEnvironment');
    await stub.close();
  });

  it('the same origin with another path is the same service', async () => {
    expect((await whoami(['--url', `${service.url}/`])).json).toMatchObject({
      role: 'platform',
      urlSource: '--url',
      tokenSource: 'context main',
    });
  });

  it('http to another machine needs --insecure-http', async () => {
    const env = { SIGNAGE_TOKEN: adminToken };
    for (const url of [
      'http://192.0.2.1:1',
      'http://signage.example.com',
      'http://127.0.0.1.example.com',
      'http://[2001:db8::1]',
    ]) {
      const { code, stderr } = await run(['venue', 'list', '--url', url], { env });
      expect(code).toBe(2);
      expect(stderr).toContain('--insecure-http');
    }
    for (const url of ['http://127.0.0.1:1', 'http://localhost:1', 'http://[::1]:1']) {
      expect((await run(['whoami', '--url', url], { env })).code).toBe(7);
    }
  });

  it('a base URL may end in /v1, and needs a scheme', async () => {
    const env = { SIGNAGE_TOKEN: adminToken };
    expect((await run(['venue', 'list', '--url', `${service.url}/v1`], { env })).code).toBe(0);
    for (const [url, complete] of [
      ['localhost:4100', 'http://localhost:4100'],
      ['signage.example.com', 'https://signage.example.com'],
    ] as const) {
      const { code, stderr } = await run(['venue', 'list', '--url', url], { env });
      expect(code).toBe(2);
      expect(stderr).toContain(`Did you mean ${complete}?`);
    }
  });

  it('a token file that others can read warns', async () => {
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

  it('4 without a token, with a hint', async () => {
    const { code, stderr } = await runCli(['venue', 'list', '--url', service.url]);
    expect(code).toBe(4);
    expect(stderr).toContain(`signage login --url ${service.url}`);
  });
});

describe('--tenant', () => {
  it('is sent as an id, also for a name', async () => {
    const { id } = (await service.manage('POST', '/v1/tenants', { name: 'Second' })).body;
    const env = { SIGNAGE_URL: service.url, SIGNAGE_TOKEN: adminToken };
    expect((await run(['venue', 'list'], { env })).code).toBe(6);
    for (const tenant of [id, 'second']) {
      expect((await run(['whoami', '-o', 'json', '--tenant', tenant], { env })).json).toMatchObject(
        { tenantId: id, tenantName: 'Second' },
      );
      expect(
        (await run(['whoami', '-o', 'json'], { env: { ...env, SIGNAGE_TENANT: tenant } })).json,
      ).toMatchObject({ tenantId: id });
    }
    const plan = await run(
      ['venue', 'create', '--name', 'x', '--tenant', 'Second', '--dry-run', '-o', 'json'],
      { env },
    );
    expect(plan.json).toEqual([
      { method: 'POST', path: '/v1/venues', tenantId: id, body: { name: 'x', labels: {} } },
    ]);
    expect((await run(['venue', 'list', '--tenant', 'Nowhere'], { env })).code).toBe(3);
    const own = { env: { ...env, SIGNAGE_TOKEN: viewerToken } };
    expect((await run(['whoami', '--tenant', 'default'], own)).code).toBe(0);
    expect((await run(['whoami', '--tenant', 'Second'], own)).code).toBe(3);
  });
});

describe('signage context', () => {
  beforeEach(async () => {
    await logIn('--context', 'one');
    await logIn('--context', 'two');
  });

  it('list marks the current context, and shows no token', async () => {
    const { stdout } = await run(['context', 'list']);
    expect(stdout).toBe(
      `NAME  CURRENT  URL\none   no       ${service.url}\ntwo   yes      ${service.url}\n`,
    );
    const { json: rows, stdout: text } = await run(['context', 'list', '-o', 'json']);
    expect(rows).toMatchObject([
      { name: 'one', current: false },
      { name: 'two', current: true },
    ]);
    expect(text).not.toContain('mak_');
  });

  it('use changes the current context', async () => {
    expect((await run(['context', 'use', 'one', '--dry-run'])).code).toBe(0);
    expect((await saved()).current).toBe('two');
    expect(await run(['context', 'use', 'one'])).toMatchObject({ code: 0, stdout: '' });
    expect((await saved()).current).toBe('one');
    expect((await run(['context', 'use', 'three'])).code).toBe(3);
  });

  it('delete asks, or needs --yes', async () => {
    expect((await run(['context', 'delete', 'two'])).code).toBe(2);
    expect((await run(['context', 'delete', 'two', '--dry-run'])).code).toBe(0);
    expect(Object.keys((await saved()).contexts)).toEqual(['one', 'two']);
    expect(
      (
        await run(['context', 'delete', 'two'], {
          tty: true,
          keys: [[/Delete the context/, 'y\r']],
        })
      ).code,
    ).toBe(0);
    expect(await saved()).toEqual({
      contexts: { one: { url: service.url, token: adminToken, tokenId: expect.any(String) } },
    });
    expect((await run(['context', 'delete', 'two', '--yes'])).code).toBe(3);
    expect(await mode(file)).toBe('600');
  });
});

describe('signage logout', () => {
  it('deletes the current context, or the named one', async () => {
    await logIn('--context', 'one');
    await logIn('--context', 'two');
    expect((await run(['logout'])).code).toBe(0);
    expect(await saved()).toEqual({ contexts: { one: expect.anything() } });
    expect((await run(['logout'])).code).toBe(2);
    expect((await run(['logout', 'two'])).code).toBe(3);
    expect((await run(['logout', 'one'])).code).toBe(0);
    expect(await saved()).toEqual({ contexts: {} });
  });
});

describe('signage whoami', () => {
  it('shows the token, and the sources of token and service', async () => {
    await logIn('--context', 'main');
    const { stdout } = await run(['whoami'], { env: { SIGNAGE_TOKEN: viewerToken } });
    expect(stdout).toMatch(/Role +viewer\n/);
    expect(stdout).toMatch(/Url source +context main\nToken source +SIGNAGE_TOKEN\n/);
    expect(stdout).not.toContain('mak_');
  });
});
