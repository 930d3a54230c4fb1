import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { exchangeLine, shownPath } from '../../../src/cli/connection/connect.ts';
import { serve } from '../../../src/serve.ts';
import { hangUp, json, problem, silence, stubService } from '../../support/network/stub-service.ts';
import { hastyClock } from '../../support/runtime/hasty-clock.ts';
import { adminToken } from '../../support/service/service.ts';
import { runCli, startCli } from '../run-cli.ts';

const token = `mak_${'S3cret'.repeat(6)}`;
const env = (url: string) => ({ SIGNAGE_URL: url, SIGNAGE_TOKEN: token });

describe('an error', () => {
  it.each([['-o', 'json'], ['-ojson'], ['--output=json'], ['--output', 'ndjson']])(
    'is the problem document with %s',
    async (...argv) => {
      const stub = await stubService(
        problem(409, 'venue_not_empty', 'It has screens.\u202e', { existingId: 'x' }),
      );
      const { code, stdout, stderr } = await runCli(
        ['venue', 'get', '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e', ...argv],
        {
          env: env(stub.url),
        },
      );
      expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
      expect(stderr).toMatch(/^\{.*\}\n$/);
      expect(stderr).not.toContain('\u202e');
      const members = {
        type: 'about:blank',
        status: 409,
        code: 'venue_not_empty',
        detail: 'It has screens.\u202e',
        requestId: 'r',
        exitCode: 5,
      };
      expect(JSON.parse(stderr)).toMatchObject(members);
    },
  );

  it('says that the service lists only the first field errors', async () => {
    const errors = Array.from({ length: 20 }, (_, n) => ({
      path: `/m${n}`,
      message: 'is unknown',
    }));
    const stub = await stubService(
      problem(400, 'invalid_request', '/m0: is unknown (and at least 20 more)', {
        errors,
        truncated: true,
      }),
    );
    const argv = ['venue', 'get', '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e'];
    const { stderr } = await runCli(argv, { env: env(stub.url) });
    expect(stderr).toContain('  m19: is unknown\n  and more, which the service does not list.\n');
    const document = await runCli([...argv, '-o', 'json'], { env: env(stub.url) });
    expect(JSON.parse(document.stderr)).toMatchObject({ errors, truncated: true });
  });

  it('lists all field errors when there are several', async () => {
    const errors = [
      { path: '/name', message: 'must\u001b[2J' },
      { path: '', message: 'no' },
    ];
    const stub = await stubService(problem(400, 'invalid_request', 'Two things.', { errors }));
    const { stderr } = await runCli(['venue', 'create', '--name', 'x'], { env: env(stub.url) });
    expect(stderr).toBe('signage: Two things.\n  --name: must\\u001b[2J\n  body: no\n');
  });
});

describe('an unreachable or overloaded service', () => {
  it('7 after retries that honour Retry-After', async () => {
    const stub = await stubService(
      problem(503, 'unavailable', 'Full.', {}, { 'retry-after': '7' }),
    );
    const clock = hastyClock();
    const { code, stderr } = await runCli(['venue', 'list'], { env: env(stub.url), clock });
    expect(code).toBe(7);
    expect(stderr).toContain('Full.');
    expect(clock.waits.filter((ms) => ms >= 7000)).toHaveLength(3);
    expect(stub.heard).toHaveLength(4);
  });

  it('7 for https where the service speaks http, and says so', async () => {
    const { service } = await startCli();
    const url = service.url.replace('http:', 'https:');
    const { code, stderr } = await runCli(['venue', 'list'], {
      env: env(url),
      clock: hastyClock(),
    });
    expect(code).toBe(7);
    expect(stderr).toContain('it does not speak https there. Try the URL with http://.');
  });

  it('succeeds when a retry does', async () => {
    const stub = await stubService(hangUp, json(200, { items: [], nextCursor: null }));
    expect(
      await runCli(['venue', 'list'], { env: env(stub.url), clock: hastyClock() }),
    ).toMatchObject({ code: 0, stderr: expect.stringContaining('No venues yet.') });
  });

  it('130 at SIGINT and 143 at SIGTERM, immediately', async () => {
    for (const [name, exitCode] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      const stub = await stubService(silence);
      const during = async (io: { signal(name: 'SIGINT' | 'SIGTERM'): boolean }) => {
        while (stub.heard.length === 0) await new Promise((done) => setTimeout(done, 5));
        io.signal(name);
      };
      const { code, stdout } = await runCli(['venue', 'list'], { env: env(stub.url), during });
      expect({ code, stdout }).toEqual({ code: exitCode, stdout: '' });
    }
  });
});

describe('--verbose', () => {
  it('shows failed attempts', async () => {
    const stub = await stubService(hangUp);
    const { stderr } = await runCli(['venue', 'list', '--verbose'], {
      env: env(stub.url),
      clock: hastyClock(),
    });
    expect(stderr.match(/^GET .* → unreachable \(\d+ ms\)$/gm)).toHaveLength(4);
    expect(stderr).not.toContain('S3cret');
  });

  it.each([
    [
      '/v1/devices/provisioning-codes/ABCD2345/status?waitSeconds=5',
      '/v1/devices/provisioning-codes/…/status?waitSeconds=5',
    ],
    ['/v1/devices/provisioning-codes/ABCD2345', '/v1/devices/provisioning-codes/…'],
    [`/v1/venues?name=${token}`, '/v1/venues?name=mak_…'],
    ['/v1/venues?name=dak_abc', '/v1/venues?name=dak_…'],
    ['/v1/venues/\u001b', '/v1/venues/\\u001b'],
    ['/v1/venues?name=a%20b%2Fc', '/v1/venues?name=a%20b%2Fc'],
    [
      '/v1/devices/provisioning%2Dcodes%2fABCD2345/status?x=%20',
      '/v1/devices/provisioning-codes/…/status?x= ',
    ],
    ['/v1/devices/provisioning-codes/%41BCD%32345', '/v1/devices/provisioning-codes/…'],
    [
      '/v1/screens?search=/provisioning-codes/ABCD2345&x=/provisioning-codes/ABCD2345',
      '/v1/screens?search=/provisioning-codes/…/provisioning-codes/…',
    ],
    ['/v1/venues?name=%6dak%5Fabc%zz', '/v1/venues?name=mak_…%zz'],
  ])('%s is shown as %s', (path, shown) => {
    expect(shownPath(path)).toBe(shown);
    expect(exchangeLine({ method: 'GET', path, outcome: '200', tookMs: 1.2 })).toBe(
      `GET ${shown} → 200 (1 ms)\n`,
    );
  });
});

describe('--ca-file', () => {
  const certFile = new URL('../../fixtures/tls/first.cert.pem', import.meta.url).pathname;

  it('trusts a service of a private CA; 7 without it', async () => {
    const tls = {
      cert: await readFile(certFile, 'utf8'),
      key: await readFile(certFile.replace('cert.pem', 'key.pem'), 'utf8'),
    };
    const service = await serve({ port: 0, store: 'memory:', adminToken, tls });
    const url = service.url.replace('127.0.0.1', 'localhost');
    const options = { env: { SIGNAGE_URL: url, SIGNAGE_TOKEN: adminToken }, clock: hastyClock() };
    const without = await runCli(['venue', 'list'], options);
    expect(without.code).toBe(7);
    expect(without.stderr).toContain('--ca-file');
    expect(
      await runCli(['venue', 'list', '--ca-file', certFile, '-o', 'json'], options),
    ).toMatchObject({ code: 0, stdout: '[]\n' });
    expect((await runCli(['venue', 'list', '--ca-file', '/nowhere'], options)).code).toBe(2);
    await service.close();
  });
});
