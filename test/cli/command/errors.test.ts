import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { exchangeLine, shownPath } from '../../../src/cli/api/connect.ts';
import { serve } from '../../../src/serve.ts';
import { item } from '../../support/content.ts';
import { hastyClock } from '../../support/hasty-clock.ts';
import { adminToken } from '../../support/service.ts';
import { hangUp, json, problem, silence, stubService } from '../../support/stub-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { runCli, startCli } from '../run-cli.ts';

const token = `mak_${'S3cret'.repeat(6)}`;
const env = (url: string) => ({ SIGNAGE_URL: url, SIGNAGE_TOKEN: token });

describe('an error', () => {
  it('is one line on stderr, and a hint', async () => {
    const { cli } = await startCli();
    const { stdout, stderr } = await cli(['venue', 'get', 'Nowhere']);
    expect(stdout).toBe('');
    expect(stderr).toBe(
      'signage: There is no venue "Nowhere".\n  signage venue list shows all venues.\n',
    );
  });

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
      await stub.close();
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

  it('is a problem document also for wrong usage', async () => {
    const { code, stderr } = await runCli(['venue', 'list', '--nonsense', '-o', 'json']);
    expect(code).toBe(2);
    expect(JSON.parse(stderr)).toMatchObject({
      code: 'usage',
      exitCode: 2,
      hint: 'See signage venue list --help.',
    });
  });

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
    await stub.close();
  });

  it('lists all field errors when there are several', async () => {
    const errors = [
      { path: '/name', message: 'must\u001b[2J' },
      { path: '', message: 'no' },
    ];
    const stub = await stubService(problem(400, 'invalid_request', 'Two things.', { errors }));
    const { stderr } = await runCli(['venue', 'create', '--name', 'x'], { env: env(stub.url) });
    await stub.close();
    expect(stderr).toBe('signage: Two things.\n  --name: must\\u001b[2J\n  body: no\n');
  });
});

describe('a long message', () => {
  const lines = async (columns: number, tty: boolean) => {
    const { cli } = await startCli();
    const argv = ['event', 'list', '--since', 'yesterday'];
    return (await cli(argv, { tty, columns })).stderr.trimEnd().split('\n');
  };

  it('is wrapped at the width of the terminal, below its start', async () => {
    const wrapped = await lines(60, true);
    expect(wrapped.length).toBeGreaterThan(1);
    expect(wrapped.every((line) => line.length <= 60)).toBe(true);
    expect(wrapped.slice(1).every((line) => line.startsWith(' '.repeat(9)))).toBe(true);
  });

  it('is one line without a terminal', async () => {
    expect(await lines(60, false)).toHaveLength(1);
  });

  it('is wrapped as a note, too', async () => {
    const argv = ['context', 'use', 'work', '--dry-run'];
    const { stderr } = await runCli(argv, { tty: true, columns: 30 });
    expect(stderr).toBe('Would make the context "work"\nthe current one.\n');
  });
});

describe('an error of the service', () => {
  it.each([
    [
      'a flag',
      ['--name', 'x', '--timezone', 'Mars/Olympus'],
      /^signage: --timezone: must be an IANA/,
    ],
    ['a label', ['--name', 'x', '--label', `a=${'x'.repeat(201)}`], /^signage: --label a: must/],
    [
      'several flags',
      ['--name', '', '--timezone', 'x'],
      /^signage: There are 2 mistakes:\n {2}--name: .*\n {2}--timezone: .*\n$/,
    ],
  ])('names %s', async (_, argv, message) => {
    const { cli } = await startCli();
    expect(await cli(['venue', 'create', ...argv])).toMatchObject({
      code: 6,
      stderr: expect.stringMatching(message),
    });
  });

  it('names members in JSON', async () => {
    const { cli } = await startCli();
    const { stderr } = await cli(['venue', 'create', '--name', 'a/b', '-o', 'json']);
    expect(JSON.parse(stderr)).toMatchObject({ errors: [{ path: '/name' }] });
  });

  it('names the member by its path when there is no flag for it', async () => {
    const { service, cli } = await startCli();
    const { id: venueId } = await service.venue({ name: 'Lobby' });
    await service.screen({ venueId, name: 'Main' });
    const argv = ['config', 'set', 'Lobby/Main', 'cachePolicy.maxSizeGB=-1'];
    expect((await cli(argv)).stderr).toMatch(/^signage: cachePolicy\.maxSizeGB: must/);
  });

  it('names --force for a screen with a TV, and --tenant when one is missing', async () => {
    const { service, cli } = await startCli();
    const { screenId } = await service.tv();
    const { code, stderr } = await cli(['screen', 'delete', screenId, '--yes']);
    expect(code).toBe(5);
    expect(stderr).toContain('or delete with --force.');
    await service.manage('POST', '/v1/tenants', { name: 'Other' });
    const run = await cli(['venue', 'list']);
    expect(run.stderr).toContain('name one with --tenant.');
  });
});

describe('an error of the service in a result of several', () => {
  it('names flags, and members in JSON', async () => {
    const { service, cli } = await startCli();
    const { id: venueId } = await service.venue({ name: 'Lobby' });
    await service.screen({ venueId, name: 'Main' });
    const file = `${await temporaryFolder()}/playlist.json`;
    await writeFile(file, JSON.stringify([item()]));
    const publish = ['playlist', 'publish', '--venue', 'Lobby', '-f', file];
    const line = [...publish, '--valid-until', '2020-01-01'];
    const table = await cli(line);
    expect(table.code).toBe(9);
    expect(table.stdout).toContain('--valid-until: ');
    expect((await cli([...line, '-o', 'ndjson'])).ndjson).toMatchObject([
      { error: expect.stringContaining('validUntil: ') },
    ]);
  });

  it('names --force for screens with a TV', async () => {
    const { service, cli } = await startCli();
    const { screenId } = await service.tv();
    const { screenId: other } = await service.tv();
    const { stdout } = await cli(['screen', 'delete', screenId, other, '--yes']);
    expect(stdout).toContain('or delete with --force.');
    expect(stdout).not.toContain('?force=true');
  });

  it('names members as a site file does', async () => {
    const { cli } = await startCli();
    const playlist = { items: [item()], validUntil: 1_600_000_000 };
    const venues = [{ name: 'Lobby', screens: [{ name: 'Main', playlist }] }];
    const stdin = JSON.stringify({ version: 1, venues });
    const run = await cli(['apply', '-f', '-', '-o', 'csv'], { stdin });
    expect(run.code).toBe(9);
    expect(run.stdout).toMatch(/,"?validUntil: /);
  });
});

describe('several mistakes', () => {
  it.each([
    ['the service', ['venue', 'create', '--name', '', '--timezone', 'x'], '--name: '],
    ['the check of a file', ['apply', '-f', '-'], 'stdin, line 1: version: '],
  ])('are listed once each by %s', async (_, argv, first) => {
    const { cli } = await startCli();
    const { code, stderr } = await cli(argv, { stdin: 'venues: [{ nme: x }]\n' });
    expect(code).toBe(6);
    expect(stderr).toMatch(/^signage: There are \d mistakes:\n {2}/);
    expect(stderr.split(first)).toHaveLength(2);
  });
});

describe('a mistyped name', () => {
  it.each([
    [['venue', 'get', 'Loby'], 'Did you mean "Lobby"?'],
    [['screen', 'get', 'Loby/Wall 1'], 'Did you mean "Lobby"?'],
    [['screen', 'get', 'Lobby/Wal 1'], 'Did you mean "Lobby/Wall 1"?'],
    [['playlist', 'withdraw', 'Lobby/Wall', '--yes'], 'Did you mean "Lobby/Wall 1"?'],
    [['tenant', 'get', 'defualt'], 'Did you mean "default"?'],
  ])('3 for %j, with the name that is near', async (argv, message) => {
    const { service, cli } = await startCli();
    const { id: venueId } = await service.venue({ name: 'Lobby' });
    await service.screen({ venueId, name: 'Wall 1' });
    const { code, stderr } = await cli(argv);
    expect(code).toBe(3);
    expect(stderr).toContain(message);
  });
});

describe('a name with spaces', () => {
  it('needs quotes, as the message says', async () => {
    const run = await runCli(['screen', 'get', 'Lobby/Wall', '1']);
    expect(run.code).toBe(2);
    expect(run.stderr).toContain('Put a name with spaces in quotes: "Lobby/Wall 1".');
  });

  it('is not suspected where no name is expected', async () => {
    const run = await runCli(['venue', 'list', 'Lobby']);
    expect(run.stderr).not.toContain('quotes');
  });
});

describe('an unreachable or overloaded service', () => {
  it('7 after retries that honour Retry-After', async () => {
    const stub = await stubService(
      problem(503, 'unavailable', 'Full.', {}, { 'retry-after': '7' }),
    );
    const clock = hastyClock();
    const { code, stderr } = await runCli(['venue', 'list'], { env: env(stub.url), clock });
    await stub.close();
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
    ).toMatchObject({ code: 0, stderr: 'Nothing found.\n' });
    await stub.close();
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
      await stub.close();
      expect({ code, stdout }).toEqual({ code: exitCode, stdout: '' });
    }
  });
});

describe('--verbose', () => {
  it('shows each request with method, path, status and time, on stderr', async () => {
    const { cli } = await startCli();
    const { stdout, stderr } = await cli(['venue', 'list', '--verbose', '-o', 'json']);
    expect(stdout).toBe('[]\n');
    expect(stderr).toMatch(/^GET \/v1\/venues\?limit=200 → 200 \(\d+ ms\)\n$/);
  });

  it('shows failed attempts', async () => {
    const stub = await stubService(hangUp);
    const { stderr } = await runCli(['venue', 'list', '--verbose'], {
      env: env(stub.url),
      clock: hastyClock(),
    });
    await stub.close();
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
    ['/v1/venues?name=%6dak%5Fabc%zz', '/v1/venues?name=mak_…%zz'],
  ])('%s is shown as %s', (path, shown) => {
    expect(shownPath(path)).toBe(shown);
    expect(exchangeLine({ method: 'GET', path, outcome: '200', tookMs: 1.2 })).toBe(
      `GET ${shown} → 200 (1 ms)\n`,
    );
  });
});

describe('--ca-file', () => {
  const certFile = new URL('../../../fixtures/tls/first.cert.pem', import.meta.url).pathname;

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
