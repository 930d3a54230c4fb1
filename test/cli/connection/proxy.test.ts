// The proxy variables of the environment. A host *.test is known to the proxy of the test only.
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { startConnectProxy } from '../../support/network/connect-proxy.ts';
import type { FakeIo } from '../../support/process/fake-io.ts';
import {
  adminToken,
  sendTo,
  startService,
  type TestService,
} from '../../support/service/service.ts';
import { mediaSite } from '../playlist/media/media-site.ts';
import { checkItems } from '../playlist/media/run-check.ts';
import { type CliOptions, runCli } from '../run-cli.ts';

const tlsFile = (name: string) =>
  fileURLToPath(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url));
const caFile = tlsFile('elsewhere.cert');
const tls = {
  cert: readFileSync(caFile, 'utf8'),
  key: readFileSync(tlsFile('elsewhere.key'), 'utf8'),
};

let service: TestService<typeof systemClock>;
let plain: TestService<typeof systemClock>;
let proxy: Awaited<ReturnType<typeof startConnectProxy>>;
/** `elsewhere.test:PORT`, the name of the service in the certificate and at the proxy. */
let authority: string;

beforeAll(async () => {
  service = await startService({ clock: systemClock, tls });
  plain = await startService({ clock: systemClock });
  proxy = await startConnectProxy();
  authority = service.url.replace('https://127.0.0.1', 'elsewhere.test');
});

const run = (line: string | string[], env: Record<string, string> = {}, more: CliOptions = {}) =>
  runCli(line, {
    ...more,
    env: {
      SIGNAGE_URL: `https://${authority}`,
      SIGNAGE_TOKEN: adminToken,
      SIGNAGE_CA_FILE: caFile,
      HTTPS_PROXY: proxy.url,
      ...env,
    },
  });

describe('HTTPS_PROXY, HTTP_PROXY and NO_PROXY', () => {
  it.each([
    'venue list',
    'api GET /v1/venues',
    'doctor',
    'conformance --row request-id',
    'simulate --count 1 --life 5m --speed max',
    `login --token-file TOKEN --ca-file ${caFile}`,
  ])('signage %s reaches the service only through the proxy', async (line) => {
    const token = join(await temporaryFolder(), 'token');
    await writeFile(token, adminToken, { mode: 0o600 });
    const words = line.replace('TOKEN', token).split(' ');
    const before = proxy.asked.length;
    expect(await run(words)).toMatchObject({ code: 0 });
    expect(proxy.asked.slice(before)).toContain(authority);
    const direct = await run(words, { NO_PROXY: 'elsewhere.test' });
    expect(direct.code).not.toBe(0);
    expect(direct.stdout + direct.stderr).toMatch(/host name/);
  });

  it('signage tv pairs through the proxy', async () => {
    const at = (line: string) => run(`${line} -o json`).then(({ json }) => json);
    await at('venue create --name Lobby');
    await at('screen create Lobby/Main');
    const { code } = await at('code create Lobby/Main');
    const before = proxy.asked.length;
    expect(await run(['tv', '--code', code, '--once'])).toMatchObject({ code: 0 });
    expect(proxy.asked.length).toBeGreaterThan(before);
  });

  it('signage record passes requests on through the proxy', async () => {
    const out = join(await temporaryFolder(), 'tv.ndjson');
    const during = async (io: FakeIo) => {
      const [, url = ''] =
        /this address:\s+(\S+)/.exec(await io.until(/this address:\s+\S+/)) ?? [];
      expect((await sendTo(url, 'GET', '/healthz', {})).status).toBe(200);
      io.signal('SIGINT');
    };
    const before = proxy.asked.length;
    const recorded = await run(
      ['record', '--to', `https://${authority}`, '--out', out],
      {},
      { during },
    );
    expect(recorded.code).toBe(130);
    expect(proxy.asked.slice(before)).toEqual([authority]);
  });

  it('playlist check requests media through the proxy of their protocol', async () => {
    const site = await mediaSite((_, response) => void response.writeHead(404).end(), 'elsewhere');
    const url = `${site.url.replace('127.0.0.1', 'elsewhere.test')}/a.png`;
    const env = { HTTPS_PROXY: proxy.url, SIGNAGE_CA_FILE: caFile };
    expect((await checkItems([{ url }], [], { env })).named).toEqual(['error status']);
    expect(site.requests).toEqual(['GET /a.png']);
  });

  it.each(['https_proxy', 'HTTP_PROXY', 'http_proxy'])('%s also names the proxy', async (name) => {
    expect(await run('venue list', { HTTPS_PROXY: '', [name]: proxy.url })).toMatchObject({
      code: 0,
    });
  });

  it.each([
    ['*', false],
    ['.test', false],
    ['*.test', false],
    ['example.com, elsewhere.test', false],
    ['elsewhere.test:1', true],
    ['where.test', true],
    ['', true],
  ])('NO_PROXY=%s: passes the proxy: %s', async (value, passes) => {
    const { code } = await run('venue list', { NO_PROXY: value });
    expect(code === 0).toBe(passes);
  });

  it('connects to loopback addresses directly', async () => {
    const dead = 'http://127.0.0.1:1';
    const env = { SIGNAGE_URL: plain.url, HTTP_PROXY: dead, HTTPS_PROXY: dead };
    expect(await run('venue list', env)).toMatchObject({
      code: 0,
      stderr: expect.not.stringContaining('proxy'),
    });
  });

  it('doctor names the proxy without its password', async () => {
    const guarded = await startConnectProxy({ credentials: 'me:p@ss' });
    const secret = guarded.url.replace('://', '://me:p%40ss@');
    const { code, stdout } = await run('doctor', { HTTPS_PROXY: secret });
    expect(code).toBe(0);
    expect(stdout).toContain(`proxy: Requests pass ${guarded.url} (HTTPS_PROXY).`);
    expect(stdout).not.toMatch(/p(?:%40|@)ss/);
  });

  it('warns once of a token that a proxy can read', async () => {
    const url = plain.url.replace('127.0.0.1', 'elsewhere.test');
    const env = { SIGNAGE_URL: url, HTTPS_PROXY: '', HTTP_PROXY: proxy.url };
    const { code, stderr } = await run('venue list --insecure-http', env);
    expect(code).toBe(0);
    expect(stderr.match(/can read the token/g)).toHaveLength(1);
    expect((await run('venue list')).stderr).not.toContain('can read');
  });
});

describe('a proxy that fails', () => {
  const failing = (value: string) => run('venue list', { HTTPS_PROXY: value });

  it.each(['localhost', 'ftp://proxy:21', 'me:hunter2@proxy.example:3128', 'socks5://p:1080'])(
    '2 for %s, which is not the URL of an HTTP proxy',
    async (value) => {
      const { code, stderr } = await failing(value);
      expect(code).toBe(2);
      expect(stderr).toContain('HTTPS_PROXY is not the URL of a proxy');
      expect(stderr).toMatch(/Set it to http:\/\/\S+, or unset it/);
      expect(stderr).not.toContain('hunter2');
    },
  );

  it('7 when it does not listen, with its name and the variable', async () => {
    const { code, stderr } = await failing('http://me:hunter2@127.0.0.1:1');
    expect(code).toBe(7);
    expect(stderr).toContain('the proxy http://127.0.0.1:1 (HTTPS_PROXY): nothing listens there');
    expect(stderr).toContain('Correct HTTPS_PROXY, or list the host in NO_PROXY');
    expect(stderr).not.toContain('hunter2');
  });

  it.each([
    ['', /asks for a user name and a password \(407\)/],
    ['me:hunter2@', /rejects the user name or the password \(407\)/],
  ])('7 for one 407, with credentials "%s"', async (credentials, text) => {
    const guarded = await startConnectProxy({ credentials: 'me:other' });
    const { code, stderr } = await failing(guarded.url.replace('://', `://${credentials}`));
    expect(code).toBe(7);
    expect(stderr).toMatch(text);
    expect(stderr).toContain('USER:PASSWORD@');
    expect(stderr).not.toContain('hunter2');
    expect(guarded.asked, 'no repetition, which may lock the user out').toHaveLength(1);
  });

  it('7 when it refuses the host, with the host', async () => {
    const strict = await startConnectProxy({ status: 403 });
    const { code, stderr } = await failing(strict.url);
    expect(code).toBe(7);
    expect(stderr).toContain(`Cannot reach ${authority} through the proxy ${strict.url}`);
    expect(stderr).toContain('it answered 403');
    expect(stderr).toContain('list elsewhere.test in NO_PROXY');
  });

  it('playlist check reports it instead of the media', async () => {
    const strict = await startConnectProxy({ status: 407 });
    const env = { HTTPS_PROXY: strict.url };
    const { findings } = await checkItems([{ url: 'https://elsewhere.test/a.png' }], [], { env });
    expect(findings).toMatchObject([
      {
        check: 'connect',
        detail: expect.stringContaining('407'),
        advice: expect.stringContaining('HTTPS_PROXY'),
      },
    ]);
  });
});
