import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { type ErrorCode, SignageError } from '../../../src/domain/error.ts';
import { noBody, parseBody, readBytes } from '../../../src/http/request/body.ts';
import {
  asSignageError,
  problemParts,
  problemResponse,
} from '../../../src/http/request/problem.ts';
import type { RequestContext } from '../../../src/http/request/request-context.ts';
import {
  check,
  checkBody,
  queryObject,
  secretIdempotencyKey,
} from '../../../src/http/request/validate.ts';
import type { SchemaName } from '../../../src/wire/schemas.ts';
import { unknownId } from '../../support/service/management.ts';

/** Returns the error that a call throws. */
function errorFrom(call: () => unknown): SignageError {
  try {
    call();
  } catch (error) {
    return error as SignageError;
  }
  throw new Error('nothing was refused');
}

/** Returns the errors of a value. */
function errorsOf(schema: z.ZodType, value: unknown, source: 'body' | 'query' = 'body') {
  try {
    check(schema, value, source);
    return [];
  } catch (error) {
    return (error as SignageError).errors;
  }
}

describe('check', () => {
  it('names members by JSON Pointers, escaped', () => {
    const schema = z.object({ 'a/b': z.object({ 'c~d': z.array(z.number('must be a number')) }) });
    expect(errorsOf(schema, { 'a/b': { 'c~d': [1, 'x'] } })).toEqual([
      { path: '/a~1b/c~0d/1', message: 'must be a number' },
    ]);
  });

  it('names the body as a whole by the empty pointer', () => {
    expect(errorsOf(z.object({}, 'must be an object'), 1)).toEqual([
      { path: '', message: 'must be an object' },
    ]);
  });

  it('names unknown members and parameters', () => {
    const schema = z.strictObject({ in: z.strictObject({}) });
    expect(errorsOf(schema, { in: { x: 1, y: 2 }, z: 3 })?.map(({ path }) => path)).toEqual([
      '/in/x',
      '/in/y',
      '/z',
    ]);
    expect(errorsOf(z.strictObject({}), { x: '1' }, 'query')).toEqual([
      { path: 'query.x', message: 'is not a known query parameter: check its spelling' },
    ]);
  });

  it('names the error of a key', () => {
    const schema = z.record(z.string().max(1, 'must have at most 1 character'), z.number());
    expect(errorsOf(schema, { ab: 1 })).toEqual([
      { path: '/ab', message: 'must have at most 1 character' },
    ]);
  });

  it('names each member once', () => {
    const schema = z.string().min(3, 'must be longer').regex(/^a/, 'must begin with a');
    expect(errorsOf(z.object({ x: schema }), { x: 'b' })).toEqual([
      { path: '/x', message: 'must be longer' },
    ]);
  });

  it('lists 20 errors, and whether there are more', () => {
    const body = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`member${n}`, n]));
    const [twenty, more] = [20, 100_000].map((count) =>
      errorFrom(() => check(z.strictObject({}), body(count), 'body')),
    );
    expect([twenty?.errors?.length, twenty?.truncated, twenty?.message]).toEqual([
      20,
      undefined,
      expect.stringContaining('(and 19 more)'),
    ]);
    expect([more?.errors?.length, more?.truncated, more?.message]).toEqual([
      20,
      true,
      expect.stringContaining('(and at least 20 more)'),
    ]);
    expect(more?.errors?.map(({ path }) => path)).toEqual(
      Array.from({ length: 20 }, (_, n) => `/member${n}`),
    );
  });
});

describe('checkBody', () => {
  /** Throws on any access. */
  const untouchable = new Proxy(
    {},
    Object.fromEntries(
      ['get', 'has', 'ownKeys', 'getOwnPropertyDescriptor', 'getPrototypeOf'].map((trap) => [
        trap,
        () => {
          throw new Error(`a schema looked at an element (${trap})`);
        },
      ]),
    ),
  );
  const many = (count: number) => Array.from({ length: count }, () => untouchable);
  const manyOf = (count: number, value: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, value]));

  it.each<[what: string, name: SchemaName, body: unknown, path: string]>([
    ['101 events', 'eventBatch', many(101), ''],
    ['501 items', 'publication', { items: many(501) }, '/items'],
    [
      '101 venues of a token',
      'tokenCreation',
      { name: 'x', role: 'viewer', venueIds: many(101) },
      '/venueIds',
    ],
    ['65 labels', 'venueCreation', { name: 'x', labels: manyOf(65, untouchable) }, '/labels'],
    [
      '65 labels of a screen',
      'screenCreation',
      { venueId: unknownId, name: 'x', labels: manyOf(65, untouchable) },
      '/labels',
    ],
    ['129 labels in a patch', 'venuePatch', { labels: manyOf(129, untouchable) }, '/labels'],
  ])('counts before it looks at any: %s', (_, name, body, path) => {
    expect(errorFrom(() => checkBody(name, body)).errors?.map((error) => error.path)).toEqual([
      path,
    ]);
  });

  it('accepts a patch that removes 64 labels and sets 64 others', () => {
    const labels = {
      ...manyOf(64, null),
      ...Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`new${n}`, 'x'])),
    };
    expect(checkBody('venuePatch', { labels })).toEqual({ labels });
  });

  it('names each invalid member of events, if there are few', () => {
    const { errors } = errorFrom(() =>
      checkBody('eventBatch', [{ type: 'impression', timestamp: 1 }]),
    );
    expect(errors?.map(({ path }) => path)).toEqual([
      '/0/playlistId',
      '/0/creativeId',
      '/0/campaignId',
    ]);
  });

  it('does not read unknown members of an invalid event', () => {
    const event = Object.defineProperty({ type: 'log' }, 'more', {
      enumerable: true,
      get: () => expect.unreachable(),
    });
    expect(
      errorFrom(() => checkBody('eventBatch', [event, 5])).errors?.map(({ path }) => path),
    ).toEqual(['/0/timestamp', '/1']);
  });
});

it('queryObject reads each parameter once, for any number of parameters', () => {
  const search = new URLSearchParams(
    Array.from({ length: 2000 }, (_, n): [string, string] => [`p${n % 1000}`, `${n}`]),
  );
  const getAll = vi.spyOn(search, 'getAll');
  expect(Object.entries(queryObject(search)).at(-1)).toEqual(['p999', ['999', '1999']]);
  expect(getAll).not.toHaveBeenCalled();
});

it('queryObject returns a list for a repeated parameter', () => {
  expect(queryObject(new URLSearchParams('a=1&b=&a=2&__proto__=x'))).toEqual(
    Object.fromEntries([
      ['a', ['1', '2']],
      ['b', ''],
      ['__proto__', 'x'],
    ]),
  );
});

describe('readBytes', () => {
  const request = (body: ReadableStream | null, headers: Record<string, string> = {}) =>
    new Request('http://x/', { method: 'POST', body, headers, duplex: 'half' } as RequestInit);

  it('reads nothing where there is no body', async () => {
    expect(parseBody(await readBytes(request(null), 10, undefined), null, null)).toBe(noBody);
  });

  it('reads a chunked body up to the limit', async () => {
    const pieces = (...texts: string[]) =>
      new ReadableStream({
        start(controller) {
          for (const text of texts) controller.enqueue(Buffer.from(text));
          controller.close();
        },
      });
    expect(
      Buffer.from(await readBytes(request(pieces('[1,', '2', ']')), 5, undefined)).toString(),
    ).toBe('[1,2]');
    await expect(readBytes(request(pieces('[1,', '2', ']')), 4, undefined)).rejects.toMatchObject({
      code: 'body_too_large',
    });
  });

  it('invalid_json for an aborted body', async () => {
    const broken = new ReadableStream({
      pull: (controller) => controller.error(new Error('reset')),
    });
    await expect(readBytes(request(broken), 10, undefined)).rejects.toMatchObject({
      code: 'invalid_json',
    });
  });
});

describe('the Content-Type of a body', () => {
  const bytes = Buffer.from('{}');

  it.each([
    ...[null, undefined, 'application/json', 'Application/JSON; charset=utf-8'],
    ...['application/json;charset=latin1', 'application/merge-patch+json'],
    ...['application/problem+json', 'application/vnd.acme+json;v=1'],
  ])('may be %s', (type) => expect(parseBody(bytes, type, null).json).toEqual({}));

  it.each([
    ...['', ';', 'json', '+json', 'application/+', 'text/json', 'text/plain'],
    ...['application/jsonp', 'application/jsonx', 'application/json-seq', 'application/x-ndjson'],
    ...['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'],
  ])('may not be "%s"', (type) => {
    expect(errorFrom(() => parseBody(bytes, type, null)).code).toBe('unsupported_media_type');
  });

  it('is irrelevant without a body', () => {
    expect(parseBody(new Uint8Array(), 'text/plain', 'gzip')).toBe(noBody);
  });

  it('comes with Content-Encoding: identity at most', () => {
    const parse = (encoding: string) => () => parseBody(bytes, 'application/json', encoding);
    expect(parse('Identity')().json).toEqual({});
    expect(errorFrom(parse('gzip')).code).toBe('unsupported_media_type');
  });
});

describe('an Idempotency-Key that is a secret', () => {
  const keyOf = (key: string) => () =>
    secretIdempotencyKey({ header: () => key, incoming: undefined } as unknown as RequestContext);

  it.each([`!${'~'.repeat(15)}`, 'x'.repeat(255)])('may be %s', (key) => {
    expect(keyOf(key)()).toBe(key);
  });

  it.each(['', 'x'.repeat(15), 'x'.repeat(256), 'aaaaaaaa aaaaaaaa', 'aaaaaaaaaaaaaaaé'])(
    'may not be "%s"',
    (key) => {
      const { code, errors, message } = errorFrom(keyOf(key));
      expect([code, errors?.[0]?.path]).toEqual(['invalid_request', 'header.idempotency-key']);
      if (key) expect(message).not.toContain(key);
    },
  );
});

describe('problem', () => {
  const bodyOf = async (error: SignageError) => {
    const answer = problemResponse(problemParts(error, 'id'));
    return {
      status: answer.status,
      retry: answer.headers.get('retry-after'),
      body: (await answer.json()) as Record<string, unknown>,
    };
  };

  it('always has errors with invalid_request', async () => {
    expect((await bodyOf(new SignageError('invalid_request', 'No.'))).body).toMatchObject({
      errors: [],
    });
  });

  it('truncates detail, paths and messages, and reports omitted errors', async () => {
    const long = '\u0001'.repeat(100_000);
    const errors = Array.from({ length: 20 }, () => ({ path: `/${long}`, message: long }));
    const { body } = await bodyOf(
      new SignageError('invalid_request', long, { errors, truncated: true }),
    );
    expect(body).toMatchObject({ truncated: true, detail: expect.stringMatching(/^[^…]{299}…$/) });
    for (const { path, message } of body.errors as { path: string; message: string }[])
      expect([path.length, message.length]).toEqual([200, 300]);
  });

  it('always has Retry-After with unavailable', async () => {
    expect(await bodyOf(new SignageError('unavailable', 'No.'))).toMatchObject({
      status: 503,
      retry: '5',
    });
    expect(
      await bodyOf(new SignageError('unavailable', 'No.', { retryAfterSeconds: 7 })),
    ).toMatchObject({ retry: '7' });
  });

  it.each([
    new Error('secret'),
    'secret',
    undefined,
    new SignageError('store_damaged', 'secret'),
    new SignageError('toString' as ErrorCode, 'secret'),
  ])('is an internal error for any other thrown value', async (thrown) => {
    const { status, body } = await bodyOf(asSignageError(thrown));
    expect([status, body.code]).toEqual([500, 'internal_error']);
    expect(JSON.stringify(body)).not.toContain('secret');
  });
});
