import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { json, raw, stubService } from '../../support/network/stub-service.ts';
import { item } from '../../support/service/content.ts';
import { adminToken, startService, type TestService } from '../../support/service/service.ts';
import { type Cli, type CliRun, runCli, startCli } from '../run-cli.ts';

const tlsFile = (name: string) =>
  fileURLToPath(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url));
const tls = (name: string) => ({
  cert: readFileSync(tlsFile(`${name}.cert`), 'utf8'),
  key: readFileSync(tlsFile(`${name}.key`), 'utf8'),
});

interface Row {
  check: string;
  status: string;
  detail: string;
  next: string | null;
}

/** Runs doctor and returns the findings by check name. */
function rows({ json: all }: CliRun): Record<string, Row> {
  return Object.fromEntries((all as Row[]).map((row) => [row.check, row]));
}

const statuses = (run: CliRun) =>
  Object.fromEntries(Object.values(rows(run)).map(({ check, status }) => [check, status]));

describe('signage doctor, of web pages', () => {
  it('names a page that forbids frames, which no browser TV can tell', async () => {
    const { cli, service } = await startCli();
    const pages = await stubService((response, request) => {
      const isForbidden = request.url === '/kiosk';
      const headers = {
        'content-type': 'text/html',
        ...(isForbidden && { 'content-security-policy': "frame-ancestors 'none'" }),
      };
      raw(200, '<!doctype html><title>Menu</title>', headers)(response, request);
    });
    const page = (path: string) =>
      item({ creativeUrl: `${pages.url}${path}`, creativeType: 'html', duration: 60 });
    const { id } = await service.screen({ name: 'Kiosk' });
    const publish = (items: object[]) =>
      service.manage('PUT', `/v1/screens/${id}/playlist`, { items });
    await publish([page('/menu'), page('/kiosk')]);
    for (const chosen of [['Kiosk'], ['--all']]) {
      const { json: found } = await cli(['doctor', ...chosen, '-o', 'json']);
      const ofPages = (found as Row[]).filter(({ check }) => check === 'page');
      expect(ofPages).toEqual([
        {
          check: 'page',
          status: 'warn',
          detail: expect.stringContaining(`${pages.url}/kiosk: The page forbids frames`),
          next: `signage playlist check ${id}`,
        },
      ]);
    }
    await publish([page('/menu')]);
    expect(rows(await cli(['doctor', 'Kiosk', '-o', 'json']))).not.toHaveProperty('page');
  });
});

describe('signage doctor', () => {
  let cli: Cli;
  let service: TestService<typeof systemClock>;
  beforeAll(async () => {
    ({ cli, service } = await startCli());
  });

  it('0 when no check fails, with one row for each check', async () => {
    const run = await cli(['doctor', '-o', 'json']);
    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(statuses(run)).toEqual({
      address: 'ok',
      tls: 'ok',
      service: 'ok',
      clock: 'ok',
      ready: 'ok',
      credential: 'ok',
      role: 'ok',
      tenant: 'ok',
    });
    expect(rows(run).address?.detail).toBe(`${service.url} (SIGNAGE_URL)`);
    expect(rows(run).credential?.detail).toContain('from SIGNAGE_TOKEN');
  });

  it.each([80, 60])('shows marked lines that fit a terminal of %i columns', async (columns) => {
    const screen = await service.screen({ name: 'A screen beside the long escalator' });
    const options = { tty: true, columns, env: { NO_COLOR: '1' } };
    const { code, stdout } = await cli(['doctor', screen.id], options);
    expect(code).toBe(9);
    expect(stdout).toMatch(/^✓ address: /);
    expect(stdout).toMatch(/^✗ code: There is no pairing code.\n {4}signage pair .+$/m);
    for (const line of stdout.split('\n').filter((one) => !one.startsWith('    ')))
      expect(line.length).toBeLessThanOrEqual(columns);
  });

  it.each(['table', 'csv', 'name'])('shows the rows as %s', async (format) => {
    const { code, stdout } = await cli(['doctor', '-o', format]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/credential/);
    expect(stdout).toMatch(/ok/);
  });

  it('9 without a token, after all checks that need none', async () => {
    const run = await runCli(['doctor', '-o', 'json'], { env: { SIGNAGE_URL: service.url } });
    expect(run.code).toBe(9);
    expect(statuses(run)).toEqual({
      address: 'ok',
      tls: 'ok',
      service: 'ok',
      clock: 'ok',
      ready: 'ok',
      credential: 'fail',
    });
    expect(rows(run).credential?.next).toBe(`signage login --url ${service.url}`);
  });

  it.each([
    ['HTML', raw(200, '<html>')],
    ['another JSON', json(200, { hello: 'world' })],
    ['nothing', raw(200, '')],
    ['an error of a proxy', raw(502, '<html>Bad gateway</html>')],
    ['404', raw(404, 'not here')],
  ])('9 when %s answers', async (_, answer) => {
    const stub = await stubService(answer);
    const run = await runCli(['doctor', '-o', 'json'], {
      env: { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: adminToken },
    });
    expect(run.code).toBe(9);
    expect(rows(run).service?.status).toBe('fail');
    expect(stub.heard.map(({ headers }) => headers.authorization)).toEqual(
      stub.heard.map(() => undefined),
    );
  });

  it('9 when the service is not ready', async () => {
    const alive = json(200, { status: 'ok', version: '9.9.9' });
    const stub = await stubService(
      alive,
      json(503, { code: 'unavailable', detail: 'The store does not answer.' }),
    );
    const run = await runCli(['doctor', '-o', 'json'], { env: { SIGNAGE_URL: stub.url } });
    expect(run.code).toBe(9);
    expect(rows(run).ready).toMatchObject({
      status: 'fail',
      detail: 'It runs, but cannot work: The store does not answer.',
    });
  });

  it.each([
    [2_000, 'ok', /agree/],
    [90_000, 'warn', /1 min ahead of/],
    [-60_000, 'warn', /behind/],
    [9_000_000, 'fail', /2 h ahead of/],
  ])('clocks that are %i ms apart: %s', async (offMs, status, detail) => {
    const run = await cli(['doctor', '-o', 'json'], {
      clock: { ...systemClock, now: () => Date.now() + offMs },
    });
    expect(rows(run).clock).toMatchObject({ status, detail: expect.stringMatching(detail) });
    expect(run.code).toBe(status === 'fail' ? 9 : 0);
    expect(rows(run).tenant?.status, 'goes on all the same').toBe('ok');
  });

  it('escapes text from the service', async () => {
    const stub = await stubService(json(200, { status: 'ok', version: '1\u001b[2J' }));
    const { stdout } = await runCli(['doctor'], { env: { SIGNAGE_URL: stub.url } });
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toContain('1\\u001b[2J');
  });

  it('stops at once when interrupted', async () => {
    const stub = await stubService(() => {});
    const during = async (io: { signal(name: 'SIGINT'): boolean }) => {
      await expect.poll(() => stub.heard.length).toBe(1);
      io.signal('SIGINT');
    };
    expect((await runCli(['doctor'], { env: { SIGNAGE_URL: stub.url }, during })).code).toBe(130);
  });
});

describe('signage doctor over TLS', () => {
  const examine = async (certificate: string, argv: string[] = [], clock = systemClock) => {
    const service = await startService({ clock: systemClock, tls: tls(certificate) });
    return runCli(['doctor', '-o', 'json', ...argv], {
      env: { SIGNAGE_URL: service.url, SIGNAGE_TOKEN: adminToken },
      clock,
    });
  };

  it('accepts a trusted certificate', async () => {
    const run = await examine('first', ['--ca-file', tlsFile('first.cert')]);
    expect(rows(run).tls).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('valid until 2126-10-27'),
    });
    expect(run.code).toBe(0);
  });

  it('warns of a certificate that expires soon', async () => {
    const soon = { ...systemClock, now: () => Date.UTC(2126, 9, 20) };
    const run = await examine('first', ['--ca-file', tlsFile('first.cert')], soon);
    expect(rows(run).tls).toMatchObject({
      status: 'warn',
      detail: expect.stringMatching(/expires on 2126-10-27, in 7 d/),
    });
  });

  it.each([
    ['first', [], /self-signed/, 'signage doctor --ca-file FILE'],
    [
      'first',
      ['--ca-file', tlsFile('second.cert')],
      /self-signed/,
      'signage doctor --ca-file FILE',
    ],
    [
      'elsewhere',
      ['--ca-file', tlsFile('elsewhere.cert')],
      /for elsewhere\.test, not for 127\.0\.0\.1/,
      null,
    ],
    ['expired', ['--ca-file', tlsFile('expired.cert')], /expired on 2021-01-01/, null],
  ])(
    'the certificate %s with %j: 9, and the token is not sent',
    async (certificate, argv, detail, next) => {
      const run = await examine(certificate, argv);
      expect(run.code).toBe(9);
      expect(Object.keys(rows(run))).toEqual(['address', 'tls']);
      expect(rows(run).tls).toMatchObject({
        status: 'fail',
        detail: expect.stringMatching(detail),
        next,
      });
    },
  );

  it('explains https to an http server', async () => {
    const stub = await stubService(raw(200, ''));
    const run = await runCli(['doctor', '-o', 'json'], {
      env: { SIGNAGE_URL: stub.url.replace('http:', 'https:') },
    });
    expect(rows(run).tls).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('does not use TLS'),
    });
  });
});
