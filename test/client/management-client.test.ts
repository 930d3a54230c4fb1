import { describe, expect, it } from 'vitest';
import { ManagementClient } from '../../src/client/management-client.ts';
import { SignageError } from '../../src/domain/error.ts';
import {
  hangUp,
  json,
  problem,
  raw,
  type StubService,
  silence,
  stubService,
} from '../support/network/stub-service.ts';
import { hastyClock } from '../support/runtime/hasty-clock.ts';

const token = 'mak_0123456789abcdefghijABCDEFGHIJ';
const id = '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e';
const createdAt = '2026-11-20T12:00:00.000Z';
const tenant = { id, name: 'Lobby', createdAt, updatedAt: createdAt };
const venue = { ...tenant, tenantId: id, address: null, timezone: null, hours: null, labels: {} };
const screenOf = (its: string) => ({
  ...venue,
  id: its,
  venueId: id,
  state: 'active',
  deviceId: null,
  provisioningCode: null,
});
let stub: StubService;

async function clientOf(...answers: Parameters<typeof stubService>) {
  stub = await stubService(...answers);
  const clock = hastyClock();
  return {
    clock,
    client: new ManagementClient({
      url: stub.url,
      token,
      clock,
      random: (length) => new Uint8Array(length),
    }),
  };
}

async function failure(work: Promise<unknown>): Promise<SignageError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SignageError);
  return error as SignageError;
}

describe('call', () => {
  it('sends method, path, body and token of the operation, and returns the body', async () => {
    const { client } = await clientOf(json(201, venue));
    expect(await client.call('createVenue', { body: { name: 'Lobby' } })).toEqual(venue);
    expect(stub.heard).toHaveLength(1);
    expect(stub.heard[0]).toMatchObject({
      method: 'POST',
      url: '/v1/venues',
      body: '{"name":"Lobby"}',
    });
    expect(stub.heard[0]?.headers).toMatchObject({
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
    });
    expect(stub.heard[0]?.headers).not.toHaveProperty('x-tenant-id');
  });

  it('sends X-Tenant-Id, escapes path and query, and sends no Content-Type without a body', async () => {
    stub = await stubService(json(200, { items: [], nextCursor: null }), json(200, venue));
    const client = new ManagementClient({ url: `${stub.url}/signage/`, token, tenantId: id });
    await client.call('listScreens', {
      query: { search: 'a&b=c', label: ['floor:2', 'area:bar'], limit: 5 },
    });
    await client.call('getVenue', { params: { id: 'a/b?c' } });
    expect(stub.heard.map((one) => one.url)).toEqual([
      '/signage/v1/screens?search=a%26b%3Dc&label=floor%3A2&label=area%3Abar&limit=5',
      '/signage/v1/venues/a%2Fb%3Fc',
    ]);
    expect(stub.heard[0]?.headers).toMatchObject({ 'x-tenant-id': id });
    expect(stub.heard[0]?.headers).not.toHaveProperty('content-type');
  });

  it.each(['', '.', '..'])(
    'rejects the id %j, which would change the path, before sending',
    async (bad) => {
      const { client } = await clientOf(json(200, venue));
      expect(await failure(client.call('getVenue', { params: { id: bad } }))).toMatchObject({
        code: 'invalid_request',
      });
      expect(stub.heard).toEqual([]);
    },
  );

  it('returns undefined for a 204', async () => {
    const { client } = await clientOf(raw(204, ''));
    expect(await client.call('deleteVenue', { params: { id } })).toBeUndefined();
  });
});

describe('a problem document', () => {
  it('becomes a SignageError with its members', async () => {
    const errors = [{ path: '/name', message: 'must not be empty' }];
    const { client } = await clientOf(
      problem(400, 'invalid_request', 'The name is wrong.', { errors }),
    );
    expect(await failure(client.call('createVenue', { body: { name: '' } }))).toMatchObject({
      code: 'invalid_request',
      message: 'The name is wrong.',
      errors,
    });
    expect(stub.heard).toHaveLength(1);
  });

  it('passes existingId on', async () => {
    const { client } = await clientOf(problem(409, 'name_taken', 'Taken.', { existingId: id }));
    expect(await failure(client.call('createVenue', { body: { name: 'Lobby' } }))).toMatchObject({
      code: 'name_taken',
      existingId: id,
    });
  });

  it('keeps an unknown code of a newer service', async () => {
    const { client } = await clientOf(problem(409, 'from_the_future', 'Later.'));
    expect((await failure(client.call('deleteVenue', { params: { id } }))).code).toBe(
      'from_the_future',
    );
  });

  it.each([
    [
      'members of other types',
      { code: 7, detail: ['x'], title: {}, errors: 'none', existingId: 5 },
      418,
      'unexpected_answer',
    ],
    [
      'field errors of other types',
      {
        code: 'invalid_request',
        detail: 'No.',
        errors: [null, 3, { path: 1 }, { path: '/a', message: 'b' }],
      },
      400,
      'invalid_request',
    ],
    ['a list', [1, 2], 404, 'unexpected_answer'],
    ['null', null, 401, 'unexpected_answer'],
    ['a malformed code', { code: '<b>', detail: 'x' }, 400, 'unexpected_answer'],
    ['a proxy’s 502', 'Bad gateway', 502, 'unavailable'],
  ])('with %s still becomes an error', async (_, body, status, code) => {
    const { client } = await clientOf(json(status, body));
    const error = await failure(client.call('deleteVenue', { params: { id } }));
    expect(error.code).toBe(code);
    expect(error.errors ?? []).toEqual(
      code === 'invalid_request' ? [{ path: '/a', message: 'b' }] : [],
    );
  });

  it('masks keys and tokens that the service repeats', async () => {
    const { client } = await clientOf(
      problem(401, 'credential_invalid', `No such token: ${token}.`, {
        errors: [{ path: '/dak_abc123', message: `${token}!` }],
      }),
    );
    const error = await failure(client.call('getMe'));
    expect(error.code).toBe('credential_invalid');
    expect(JSON.stringify([error, error.message, error.stack])).not.toMatch(/mak_0|dak_a/);
    expect(error.message).toBe('No such token: mak_….');
  });
});

describe('an unexpected response', () => {
  it.each([
    ['HTML', raw(200, '<html>Hello</html>', { 'content-type': 'text/html' })],
    ['half of an object', raw(200, '{"id":"01')],
    ['nothing', raw(200, '')],
    ['a list', json(200, [venue])],
    ['null', json(200, null)],
    ['an object without an id', json(200, { name: 'Lobby' })],
    ['an id that is not a text', json(200, { id: 5 })],
    ['a redirect', raw(302, '', { location: 'http://127.0.0.1:1/' })],
    ['bytes that are not UTF-8', raw(200, Buffer.from([0xff, 0xfe, 0x00]))],
  ])('such as %s is unexpected_answer', async (_, answer) => {
    const { client } = await clientOf(answer);
    const error = await failure(client.call('getVenue', { params: { id } }));
    expect(error.code).toBe('unexpected_answer');
    expect(error.message).toContain(stub.url);
    expect(stub.heard).toHaveLength(1);
  });
});

describe('an unreachable service', () => {
  it('gives unreachable, without the token in message or cause', async () => {
    const { client } = await clientOf(silence);
    await stub.close();
    const error = await failure(client.call('createVenue', { body: { name: 'Lobby' } }));
    expect(error).toMatchObject({ code: 'unreachable' });
    expect(error.message).toContain(`Cannot reach ${stub.url}: nothing listens there`);
    expect(JSON.stringify([error.message, error.stack, error.cause])).not.toContain(token);
  });

  it('gives unreachable when the request times out', async () => {
    stub = await stubService(silence);
    const client = new ManagementClient({ url: stub.url, token, timeoutMs: 50 });
    const error = await failure(client.call('createVenue', { body: { name: 'Lobby' } }));
    expect(error).toMatchObject({
      code: 'unreachable',
      message: `${stub.url} did not answer within 0.05 seconds.`,
    });
  });

  it('gives unreachable when the response breaks off', async () => {
    const { client } = await clientOf((response) => {
      response.writeHead(201, { 'content-length': '100' }).write('{"id":');
      setImmediate(() => response.socket?.destroy());
    });
    expect((await failure(client.call('createVenue', { body: { name: 'Lobby' } }))).code).toBe(
      'unreachable',
    );
  });

  it('adds waitSeconds to the timeout of a long poll', async () => {
    stub = await stubService(
      (response) =>
        void setTimeout(
          () => json(200, { items: [], nextCursor: null })(response, stub.heard[0]!),
          80,
        ),
    );
    const client = new ManagementClient({ url: stub.url, token, timeoutMs: 40 });
    expect(await client.call('listEvents', { query: { waitSeconds: 1 } })).toEqual({
      items: [],
      nextCursor: null,
    });
  });

  it('rejects with interrupted when the signal aborts, and is not retried', async () => {
    const { client } = await clientOf(silence);
    const stop = new AbortController();
    const call = failure(client.call('getMe', { signal: stop.signal }));
    while (stub.heard.length === 0) await new Promise((done) => setImmediate(done));
    const reason = new Error('the user left the page');
    stop.abort(reason);
    expect(await call).toMatchObject({ code: 'interrupted', cause: reason });
    const late = await failure(client.call('getMe', { signal: stop.signal }));
    expect(late).toMatchObject({ code: 'interrupted', cause: reason });
    expect(stub.heard).toHaveLength(1);
  });

  it('keeps the reason of an abort between two attempts', async () => {
    const { client, clock } = await clientOf(problem(503, 'unavailable', 'Later.'));
    const stop = new AbortController();
    const after = clock.after;
    clock.after = (delayMs, wake) => {
      if (delayMs < 1000) stop.abort('enough');
      return after(delayMs, wake);
    };
    const error = await failure(client.call('getMe', { signal: stop.signal }));
    expect(error).toMatchObject({ code: 'interrupted', cause: 'enough' });
    expect(stub.heard).toHaveLength(1);
  });

  it('rejects an operation that does not exist, and sends nothing', async () => {
    const { client } = await clientOf(json(200, venue));
    const unknown = { id: 'createVenu' } as unknown as { id: 'getMe' };
    for (const id of [unknown.id, 'constructor' as 'getMe']) {
      const error = await failure(client.call(id));
      expect(error.code).toBe('invalid_option');
      expect(error.message).toContain(`"${id}"`);
    }
    expect(stub.heard).toEqual([]);
  });

  it.each([undefined, ''])('needs a token, not %j', async (missing) => {
    stub = await stubService(json(200, venue));
    const options = { url: stub.url, token: missing as string };
    expect(() => new ManagementClient(options)).toThrow('needs { token }');
  });
});

describe('a failed call', () => {
  const full = problem(503, 'unavailable', 'Later.', {}, { 'retry-after': '7' });

  it('is retried if it is safe, after the delay of Retry-After', async () => {
    const { client, clock } = await clientOf(full, json(200, venue));
    expect(await client.call('getVenue', { params: { id } })).toEqual(venue);
    expect(clock.waits).toEqual([7000]);
    expect(stub.heard).toHaveLength(2);
  });

  it('is retried with exponential backoff when the connection breaks, up to four attempts', async () => {
    const { client, clock } = await clientOf(hangUp);
    expect((await failure(client.call('getVenue', { params: { id } }))).code).toBe('unreachable');
    expect(clock.waits).toEqual([250, 500, 1000]);
    expect(stub.heard).toHaveLength(4);
  });

  it('is retried after delays that jitter shortens by up to half', async () => {
    stub = await stubService(hangUp);
    const clock = hastyClock();
    const client = new ManagementClient({
      url: stub.url,
      token,
      clock,
      random: (length) => new Uint8Array(length).fill(128),
    });
    await failure(client.call('getMe'));
    expect(clock.waits).toEqual([187.5, 375, 750]);
  });

  it.each([
    ['a date', new Date(Date.UTC(2026, 10, 20, 12, 0, 9)).toUTCString(), [9000]],
    ['a date in the past', new Date(0).toUTCString(), [0]],
    ['nonsense', 'soon', [250]],
  ])('is retried after a Retry-After that is %s', async (_, header, waits) => {
    const { client, clock } = await clientOf(
      problem(503, 'unavailable', 'Later.', {}, { 'retry-after': header }),
      json(200, venue),
    );
    await client.call('getVenue', { params: { id } });
    expect(clock.waits).toEqual(waits);
  });

  it('is not retried if Retry-After exceeds the longest delay', async () => {
    const { client, clock } = await clientOf(
      problem(429, 'too_many_attempts', 'Later.', {}, { 'retry-after': '900' }),
    );
    expect(await failure(client.call('getMe'))).toMatchObject({
      code: 'too_many_attempts',
      retryAfterSeconds: 900,
    });
    expect(clock.waits).toEqual([]);
  });

  it('is retried if the service rejected a change with Retry-After', async () => {
    const { client, clock } = await clientOf(full, json(201, venue));
    expect(await client.call('createVenue', { body: { name: 'Lobby' } })).toEqual(venue);
    expect(clock.waits).toEqual([7000]);
  });

  it('is retried if it is a PUT', async () => {
    const { client, clock } = await clientOf(hangUp, json(200, {}));
    await client.call('putScreenConfig', { params: { id }, body: {} });
    expect(clock.waits).toEqual([250]);
  });

  it('is not retried if it is a PUT with If-Match, because its own first attempt may have changed the ETag', async () => {
    const { client, clock } = await clientOf(hangUp, json(200, {}));
    const headers = { 'If-Match': '"1"' };
    const call = client.call('putScreenConfig', { params: { id }, body: {}, headers });
    expect((await failure(call)).code).toBe('unreachable');
    expect(clock.waits).toEqual([]);
  });

  it('is retried with the same Idempotency-Key if it is a creation', async () => {
    const { client } = await clientOf(hangUp, json(201, venue));
    expect(await client.call('createVenue', { body: { name: 'Lobby' } })).toEqual(venue);
    const keys = stub.heard.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys).toEqual([keys[0], keys[0]]);
  });

  it.each([
    ['a proxy answers', raw(503, '<html>', { 'retry-after': '7' })],
    ['the service does not say when', problem(503, 'unavailable', 'Later.')],
  ])('is not retried if it is another change: %s', async (_, answer) => {
    const { client, clock } = await clientOf(answer);
    const patch = client.call('updateVenue', { params: { id }, body: { name: 'Lobby' } });
    expect((await failure(patch)).code).toBe('unavailable');
    expect((await failure(client.call('deleteVenue', { params: { id } }))).code).toBe(
      'unavailable',
    );
    expect(stub.heard).toHaveLength(2);
    expect(clock.waits).toEqual([]);
  });

  it('is not retried after a permanent error', async () => {
    const { client } = await clientOf(problem(404, 'venue_not_found', 'No.'));
    await failure(client.call('getVenue', { params: { id } }));
    expect(stub.heard).toHaveLength(1);
  });
});

describe('pages', () => {
  it('are followed to the end, with the query on each request', async () => {
    const { client } = await clientOf(
      json(200, { items: [screenOf('a'), screenOf('b')], nextCursor: 'x' }),
      json(200, { items: [screenOf('c')], nextCursor: null }),
    );
    const found: string[] = [];
    for await (const screen of client.all('listScreens', { query: { state: 'active' } }))
      found.push(screen.id);
    expect(found).toEqual(['a', 'b', 'c']);
    expect(stub.heard.map((one) => one.url)).toEqual([
      '/v1/screens?state=active',
      '/v1/screens?state=active&cursor=x',
    ]);
  });

  it('are fetched one at a time, and only while the caller continues', async () => {
    const { client } = await clientOf(json(200, { items: [tenant], nextCursor: 'x' }));
    for await (const page of client.pages('listTenants')) {
      expect(page).toEqual([tenant]);
      break;
    }
    expect(stub.heard).toHaveLength(1);
  });

  it.each([
    ['items that are not an array', { items: {}, nextCursor: null }],
    ['a cursor that is not a text', { items: [], nextCursor: 5 }],
  ])('with %s are an error', async (_, page) => {
    const { client } = await clientOf(json(200, page));
    const all = async () => {
      for await (const _ of client.all('listVenues'));
    };
    expect((await failure(all())).code).toBe('unexpected_answer');
  });
});

describe('options', () => {
  const make = (options: Partial<ConstructorParameters<typeof ManagementClient>[0]>) => () =>
    new ManagementClient({ url: 'http://127.0.0.1:1', token, ...options });

  it.each(['127.0.0.1:4100', 'ftp://host/', 'http://me:secret@host/', 'http://host/?a=1', ''])(
    'reject the address %j',
    async (url) => {
      stub = await stubService();
      expect(make({ url })).toThrow(
        expect.objectContaining({
          code: 'invalid_option',
          message: expect.not.stringContaining('secret'),
        }),
      );
    },
  );

  it('reject a token that a header cannot carry, without showing it', async () => {
    stub = await stubService();
    expect(make({ token: 'mak_abc\r\nX-Evil: 1' })).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.not.stringContaining('mak_'),
      }),
    );
  });
});
