// Rules for every path: methods, ids, problems, the order of checks, CORS, and the paths beside the
// operations.
import { beforeAll, describe, expect, it } from 'vitest';
import { silentLog } from '../../../src/domain/log.ts';
import { type Operation, operations } from '../../../src/wire/operations/operations.ts';
import {
  expectProblem,
  type Manager,
  manager,
  unknownId,
} from '../../support/service/management.ts';
import { rawRequest } from '../../support/service/raw-request.ts';
import {
  type Answer,
  adminToken,
  startService,
  type TestService,
} from '../../support/service/service.ts';

let service: TestService;
let admin: Manager;
const table = Object.values<Operation>(operations);
const paths = [...new Set(table.map(({ path }) => path))];
const docs = ['', '/', '/page.css', '/page.js', '/swagger-ui.css', '/swagger-ui-bundle.js'].map(
  (rest) => `/docs${rest}`,
);
const system = ['/healthz', '/readyz', '/metrics', '/openapi.json', ...docs];
const filled = (path: string) => path.replace(':id', unknownId).replace(':code', 'ABCD2345');
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];

beforeAll(async () => {
  service = await startService();
  admin = manager(service);
});

/** Headers of every response. */
function expectCommonHeaders({ headers }: Answer): void {
  expect(headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
}

describe('paths', () => {
  it.each([
    ...['/', '/v1', '/v1/', '/v2/venues', '/v1/venues/', '/V1/venues', '/v1/venue'],
    ...['/v1/venues/x/y', '/v1/screens/x/playlist/', '/devices', '/devices/x'],
    ...['/devices/x/config/', '/devices/x/config/x', '/devices/x/configs', '/v1/devices/x/config'],
    ...['/healthz/', '/media/x.svg', '/docs/x', '/%', '/v1/%2e%2e/healthz2'],
  ])('404 not_found at %s, without a credential', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const answer = await service.send(method, path);
      expectProblem(answer, 'not_found');
      expectCommonHeaders(answer);
      expect(answer.headers.has('www-authenticate')).toBe(false);
    }
  });

  it.each([...paths, ...system])(
    '405 method_not_allowed at %s with Allow, without a credential',
    async (path) => {
      const own: string[] = table
        .filter((operation) => operation.path === path)
        .map(({ method }) => method);
      const allowed = own.length === 0 ? ['GET'] : own;
      for (const method of methods.filter((one) => !allowed.includes(one))) {
        const answer = await service.send(method, filled(path));
        expectProblem(answer, 'method_not_allowed');
        expectCommonHeaders(answer);
        const allow = answer.headers.get('allow')!.split(', ');
        expect(allow).toEqual(
          [...allowed, ...(allowed.includes('GET') ? ['HEAD'] : [])].toSorted(),
        );
      }
      if (!allowed.includes('GET'))
        expect((await service.send('HEAD', filled(path))).status).toBe(405);
    },
  );

  it('a literal path wins over one with a parameter', async () => {
    expectProblem(
      await admin.get('/v1/devices/provisioning-codes/revoke/status'),
      'pairing_code_not_found',
    );
    expect(
      (await service.send('POST', '/v1/devices/provisioning-codes/revoke')).headers.get('allow'),
    ).toBe('DELETE');
  });

  it('are decoded before ids are looked up', async () => {
    const { id } = await service.venue();
    expect((await admin.get(`/v1/venues/${id.replaceAll('-', '%2D')}`)).body).toMatchObject({ id });
    expect((await admin.get(`/v1/%76enues/${id}`)).body).toMatchObject({ id });
    expectProblem(await admin.get(`/v1/venues/${id}%2Fconfig`), 'venue_not_found');
  });
});

describe('HEAD', () => {
  it.each([
    ...['/v1/venues', '/v1/me', '/v1/reports/impressions'],
    ...['/healthz', '/readyz', '/openapi.json', '/docs'],
  ])('%s as GET, without a body', async (path) => {
    const head = await admin.send('HEAD', path);
    const get = await admin.get(path);
    expect(head).toMatchObject({ status: 200, text: '' });
    const named = ({ headers }: Answer) => {
      const hop = ['connection', 'keep-alive', 'transfer-encoding'];
      const own = ['date', 'x-request-id', 'content-length', ...hop];
      return Object.fromEntries([...headers].filter(([name]) => !own.includes(name)));
    };
    expect(named(head)).toEqual(named(get));
  });

  it('answers errors as GET does', async () => {
    expect((await service.send('HEAD', '/v1/venues')).status).toBe(401);
    expect((await admin.send('HEAD', `/v1/venues/${unknownId}`)).status).toBe(404);
    expect((await admin.send('HEAD', '/v1/venues?limit=0')).status).toBe(400);
  });
});

describe('X-Request-Id', () => {
  it.each(['a', 'abc-123_DEF.4', 'x'.repeat(128)])(
    'is the caller’s when it is well-formed: %s',
    async (id) => {
      const answer = await service.send('GET', '/v1/venues', { headers: { 'X-Request-Id': id } });
      expect(answer.headers.get('x-request-id')).toBe(id);
      expect(answer.body.requestId).toBe(id);
    },
  );

  it.each(['', 'x'.repeat(129), 'a b', 'a/b', 'a,b', '<script>', 'ä'])(
    'is a new one instead of %j',
    async (id) => {
      const answer = await service.send('GET', '/healthz', { headers: { 'X-Request-Id': id } });
      expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    },
  );
});

describe('checks of management requests', () => {
  let path: string;
  beforeAll(async () => {
    path = `/v1/venues/${(await service.venue()).id}`;
  });

  it('403 before the tenant, and the tenant before the body', async () => {
    const headers = { 'X-Tenant-Id': unknownId };
    const viewer = await admin.as('viewer');
    expectProblem(await viewer.send('PATCH', path, { headers }), 'insufficient_role');
    const body = Buffer.alloc(1_048_577, 'x');
    expectProblem(await admin.send('PATCH', path, { body, headers }), 'tenant_not_found');
  });

  it('ignores a body if the operation has none', async () => {
    const sent = { body: 'nonsense', headers: { 'Content-Type': 'text/plain' } };
    expect((await admin.send('DELETE', path, sent)).status).toBe(204);
  });
});

describe('problems', () => {
  it('500 internal_error does not reveal its cause', async () => {
    const logged: object[] = [];
    const log = { ...silentLog, error: (fields: object) => void logged.push(fields) };
    let broken = false;
    const random = (length: number) => {
      if (broken) throw new Error('the secret is 42');
      return crypto.getRandomValues(new Uint8Array(length));
    };
    const other = await startService({ log, random });
    broken = true;
    const answer = await manager(other).send('POST', '/v1/tokens', {
      body: { name: 'x', role: 'viewer' },
      headers: { 'X-Request-Id': 'r-1' },
    });
    expectProblem(answer, 'internal_error');
    expect(answer.text).not.toContain('42');
    expect(answer.text).not.toContain('.ts');
    expect(logged).toEqual([
      expect.objectContaining({
        requestId: 'r-1',
        operation: 'createToken',
        err: new Error('the secret is 42'),
      }),
    ]);
    broken = false;
  });
});

describe('the listener', () => {
  const head = (...lines: string[]) =>
    `GET /healthz HTTP/1.1\r\n${lines.map((line) => `${line}\r\n`).join('')}Connection: close\r\n\r\n`;

  it.each([
    ['two that are the same', ['Host: a', 'hOST: a']],
    ['no Host', []],
    ['a Host that is none', ['Host: a/b c']],
  ])('400 for %s', async (_, lines) => {
    const answer = await rawRequest(service.url, head(...lines));
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).not.toContain('"status":"ok"');
  });

  it('200 for headers of almost 8 KiB', async () => {
    const answer = await rawRequest(service.url, head('Host: a', `X-Pad: ${'x'.repeat(7900)}`));
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('other origins (CORS)', () => {
  const origin = 'https://tv.example.com';
  let open: TestService;
  const exposed = [
    ...['X-Playlist-Version', 'X-Source', 'X-Config-Source', 'ETag', 'Retry-After'],
    ...['X-Request-Id', 'Location', 'X-Signage-Fault'],
  ];

  beforeAll(async () => {
    open = await startService({ corsOrigins: [origin, 'null'] });
  });

  it.each(['/v1/venues', '/devices/register', `/devices/${unknownId}/playlist`])(
    'OPTIONS %s 204 without a credential',
    async (path) => {
      const headers = {
        Origin: origin,
        'Access-Control-Request-Method': 'PUT',
        'Access-Control-Request-Headers': 'authorization',
      };
      const answer = await open.send('OPTIONS', path, { headers });
      expect(answer).toMatchObject({ status: 204, text: '' });
      expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
        expect(answer.headers.get('access-control-allow-methods')).toContain(method);
      for (const name of [
        ...['Authorization', 'Content-Type', 'Idempotency-Key', 'If-None-Match'],
        ...['X-Device-Time', 'X-Request-Id', 'X-Tenant-Id'],
      ])
        expect(answer.headers.get('access-control-allow-headers')).toContain(name);
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
      expectCommonHeaders(answer);
    },
  );

  it.each([
    ['200', '/healthz', {}],
    ['401', '/v1/venues', {}],
    ['404', '/nowhere', {}],
    ['405', '/devices/register', {}],
    ['404 of a record', `/v1/venues/${unknownId}`, { key: adminToken }],
  ])('lets the origin read a %s', async (_, path, sent) => {
    const { headers } = await open.send('GET', path, { ...sent, headers: { Origin: origin } });
    expect(headers.get('access-control-allow-origin')).toBe(origin);
    for (const name of exposed)
      expect(headers.get('access-control-expose-headers')).toContain(name);
    expect(headers.get('vary')).toContain('Origin');
  });

  it('keeps another Vary', async () => {
    const { headers } = await open.send('GET', '/v1/reports/impressions', {
      key: adminToken,
      headers: { Origin: origin },
    });
    expect(headers.get('vary')?.split(/, */).toSorted()).toEqual([
      'Accept',
      'Accept-Encoding',
      'Origin',
    ]);
  });

  it('allows no other origin, and packaged apps if configured', async () => {
    for (const other of [
      'https://evil.example.com',
      'http://tv.example.com',
      `${origin}.evil.com`,
    ]) {
      const { headers } = await open.send('GET', '/healthz', { headers: { Origin: other } });
      expect(headers.has('access-control-allow-origin')).toBe(false);
    }
    expect(
      (await open.send('GET', '/healthz', { headers: { Origin: 'null' } })).headers.get(
        'access-control-allow-origin',
      ),
    ).toBe('null');
  });

  it('allows all origins with *', async () => {
    const all = await startService({ corsOrigins: ['*'] });
    const { headers } = await all.send('GET', '/healthz', { headers: { Origin: origin } });
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });

  it('OPTIONS 405 and no CORS headers if no origin is configured', async () => {
    const answer = await service.send('OPTIONS', '/v1/venues', {
      headers: { Origin: origin, 'Access-Control-Request-Method': 'GET' },
    });
    expectProblem(answer, 'method_not_allowed');
    const { headers } = await service.send('GET', '/healthz', { headers: { Origin: origin } });
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('outside both APIs', () => {
  it('GET /healthz 200', async () => {
    const answer = await service.send('GET', '/healthz');
    expect(answer).toMatchObject({
      status: 200,
      body: { status: 'ok', version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
    });
    expectCommonHeaders(answer);
  });
});

describe('GET /metrics', () => {
  let guarded: TestService;
  const token = 'metrics-secret';
  const proxied = { 'X-Forwarded-For': '203.0.113.7' };
  const scrape = (to: TestService, headers: Record<string, string> = {}, key?: string) =>
    to.send('GET', '/metrics', { headers, ...(key === undefined ? {} : { key }) });

  beforeAll(async () => {
    guarded = await startService({ metricsToken: token, trustProxy: ['127.0.0.1'] });
  });

  it('200 from this machine', async () => {
    for (const to of [service, guarded]) {
      const { status, headers, text } = await scrape(to);
      expect(status).toBe(200);
      expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
      expect(text).toContain('signage_build_info');
    }
  });

  it('counts requests by operation and status, never by path', async () => {
    await admin.get('/v1/venues?search=needle');
    await service.send('GET', '/nowhere-at-all');
    const { text } = await scrape(service);
    expect(text).toMatch(/signage_http_requests_total\{operation="listVenues",status="200"\} \d/);
    expect(text).toMatch(/signage_http_requests_total\{operation="none",status="404"\} \d/);
    expect(text).not.toMatch(/needle|nowhere/);
  });

  it('counts registrations by outcome', async () => {
    const other = await startService();
    const { code } = await other.code();
    await other.register(code);
    await other.register(code);
    await other.register('bad');
    const { text } = await scrape(other);
    expect(text).toContain('signage_registrations_total{outcome="bound"} 1');
    expect(text).toContain('signage_registrations_total{outcome="refused"} 2');
    expect(text).not.toContain(code);
  });

  it.each([
    proxied,
    { 'X-Forwarded-For': '127.0.0.1' },
    { 'X-Forwarded-For': 'unknown' },
    { Forwarded: 'for=203.0.113.7' },
    { Via: '1.1 x' },
  ])('401 credential_missing through a proxy, with any headers: %j', async (headers) => {
    for (const to of [service, guarded]) {
      const answer = await scrape(to, headers as unknown as Record<string, string>);
      expectProblem(answer, 'credential_missing');
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="signage"/);
      expect(answer.text).not.toContain('signage_');
    }
  });

  it('200 through a proxy with the metrics token, 401 credential_invalid with another', async () => {
    expect((await scrape(guarded, proxied, token)).status).toBe(200);
    for (const key of ['metrics-secreT', 'metrics', adminToken])
      expectProblem(await scrape(guarded, proxied, key), 'credential_invalid');
    expectProblem(await scrape(service, proxied, token), 'credential_invalid');
    expectProblem(
      await guarded.send('GET', '/metrics', { headers: { ...proxied, Authorization: token } }),
      'credential_invalid',
    );
  });
});
