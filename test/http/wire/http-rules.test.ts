// Rules of HTTP that all endpoints share (docs/protocol.md §1.4).
import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, type Manager, manager } from '../../support/service/management.ts';
import { rawRequest } from '../../support/service/raw-request.ts';
import { type BoundTv, startService, type TestService } from '../../support/service/service.ts';

let service: TestService;
let admin: Manager;
let tv: BoundTv;

beforeAll(async () => {
  service = await startService();
  admin = manager(service);
  tv = await service.tv();
});

it('no-store for all answers under /v1 and for errors of TVs', async () => {
  const playlist = await tv.send('GET', 'playlist');
  expectProblem(playlist, 'playlist_not_found');
  const answers = [
    await admin.get('/v1/venues'),
    await admin.get('/v1/venues/none'),
    await admin.delete(`/v1/screens/${tv.screenId}/config`),
    await service.send('GET', '/v1/me'),
    playlist,
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 204, 401, 404]);
  for (const { headers } of answers) expect(headers.get('cache-control')).toBe('no-store');
});

describe('WWW-Authenticate', () => {
  it.each([
    { path: '/v1/me', key: undefined, challenge: 'Bearer realm="signage"' },
    { path: '/v1/me', key: 'mak_x', challenge: 'Bearer realm="signage", error="invalid_token"' },
    { path: '/devices/x/config', key: undefined, challenge: 'Bearer realm="signage"' },
    {
      path: '/devices/x/config',
      key: 'dak_x',
      challenge: 'Bearer realm="signage", error="invalid_token"',
    },
  ])('is $challenge for $path with the key $key', async ({ path, key, challenge }) => {
    const answer = await service.send('GET', path, key === undefined ? {} : { key });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe(challenge);
  });
});

it.each([
  { line: 'FOO /v1/me HTTP/1.1', status: 501, code: 'method_unknown' },
  { line: 'SPACEJUMP / HTTP/1.1', status: 501, code: 'method_unknown' },
  { line: 'DESCRIBE /v1/me HTTP/1.1', status: 501, code: 'method_unknown' },
  { line: 'GET /v1/me HTTP/3.0', status: 400, code: 'malformed_request' },
  { line: 'PURGE /v1/me HTTP/1.1', status: 405, code: 'method_not_allowed' },
  { line: 'nonsense', status: 400, code: 'malformed_request' },
])('$status for the request line "$line", with a Date', async ({ line, status, code }) => {
  const text = await rawRequest(service.url, `${line}\r\nHost: x\r\nConnection: close\r\n\r\n`);
  expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(text).toMatch(/\r\nDate: /i);
  expect(text).toContain(`"code":"${code}"`);
});

it('400 for two Idempotency-Key headers, and stores nothing', async () => {
  const body = '[{"type":"heartbeat","timestamp":1760000000}]';
  const request = (keys: string) =>
    `POST /devices/${tv.screenId}/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${tv.apiKey}\r\n${keys}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const two = await rawRequest(
    service.url,
    request('Idempotency-Key: one\r\nIdempotency-Key: two\r\n'),
  );
  expect(two).toMatch(/^HTTP\/1.1 400 /);
  expect(two).toContain('"path":"header.idempotency-key"');
  expect((await admin.get('/v1/events')).body.items).toEqual([]);
  const comma = await rawRequest(service.url, request('Idempotency-Key: one, two\r\n'));
  expect(comma).toMatch(/^HTTP\/1.1 202 /);
});

it.each([
  ['HTTP/1.1', 'Host: x\r\n'],
  ['HTTP/1.0', ''],
])('204 with Allow for OPTIONS * in %s', async (version, host) => {
  const text = await rawRequest(
    service.url,
    `OPTIONS * ${version}\r\n${host}X-Request-Id: all\r\nConnection: close\r\n\r\n`,
  );
  expect(text).toMatch(/^HTTP\/1\.1 204 /);
  expect(text).toMatch(/\r\nAllow: DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT\r\n/);
  expect(text).toMatch(/\r\nX-Request-Id: all\r\n/);
  expect(text).toMatch(/\r\n\r\n$/);
});

it('400 for * with another method', async () => {
  const text = await rawRequest(
    service.url,
    'GET * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  );
  expect(text).toMatch(/^HTTP\/1\.1 400 /);
});

it.each(['/docs', '/openapi.json', '/docs/page.js'])(
  '304 for If-None-Match: * on %s',
  async (path) => {
    const answer = await service.send('GET', path, { headers: { 'If-None-Match': '*' } });
    expect(answer).toMatchObject({ status: 304, text: '' });
    expect(answer.headers.get('etag')).toMatch(/^"[\w-]+"$/);
  },
);

it('has a series for each kind of rejected requests before the first one', async () => {
  const { text } = await service.send('GET', '/metrics');
  for (const kind of ['reads', 'writes', 'management', 'registrations', 'strangers'])
    expect(text).toContain(`signage_requests_shed_total{kind="${kind}"} 0`);
});

describe('GET /metrics', () => {
  const sample = async (line: string) => {
    const { text } = await service.send('GET', '/metrics');
    const found = text.split('\n').find((one) => one.startsWith(`${line} `));
    return Number(found?.slice(line.length + 1) ?? 0);
  };
  const answered = (status: number) =>
    sample(`signage_http_requests_total{operation="none",status="${status}"}`);

  it.each([
    { status: 400, bytes: 'nonsense\r\n\r\n' },
    { status: 400, bytes: 'GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n' },
    { status: 431, bytes: `GET /${'x'.repeat(9_000)} HTTP/1.1\r\nHost: x\r\n\r\n` },
    { status: 501, bytes: 'FOO / HTTP/1.1\r\nHost: x\r\n\r\n' },
    {
      status: 501,
      bytes: 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n',
    },
    {
      status: 413,
      bytes: `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2;${'x'.repeat(40_000)}\r\n{}\r\n`,
    },
    { status: 204, bytes: 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' },
  ])('counts the $status of the listener', async ({ status, bytes }) => {
    const before = await answered(status);
    expect(await rawRequest(service.url, bytes)).toMatch(new RegExp(`HTTP/1.1 ${status} `));
    expect(await answered(status)).toBe(before + 1);
  });

  it('counts long polls, and leaves them out of the duration histogram', async () => {
    const count = 'signage_http_request_duration_seconds_count{operation="listEvents"}';
    const held = 'signage_http_held_requests_total{operation="listEvents"}';
    const total = 'signage_http_requests_total{operation="listEvents",status="200"}';
    const before = [await sample(count), await sample(held), await sample(total)];
    const { waiting } = service.clock;
    const hold = admin.get('/v1/events?type=none&waitSeconds=5');
    await expect.poll(() => service.clock.waiting).toBeGreaterThan(waiting);
    service.clock.advance(5_000);
    expect((await hold).status).toBe(200);
    expect((await admin.get('/v1/events?type=none')).status).toBe(200);
    expect((await admin.get('/v1/events?waitSeconds=99')).status).toBe(400);
    const after = [await sample(count), await sample(held), await sample(total)];
    expect(after.map((value, n) => value - (before[n] ?? 0))).toEqual([2, 1, 2]);
  });
});
