import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SignageError } from '../../src/domain/error.ts';
import { noBody, parseBody, readBytes } from '../../src/http/body.ts';
import { asSignageError, problem } from '../../src/http/problem.ts';
import { check, queryObject } from '../../src/http/validate.ts';

/** The complaints about a value. */
function complaints(schema: z.ZodType, value: unknown, source: 'body' | 'query' = 'body') {
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
    expect(complaints(schema, { 'a/b': { 'c~d': [1, 'x'] } })).toEqual([{ path: '/a~1b/c~0d/1', message: 'must be a number' }]);
  });

  it('names the body as a whole by the empty pointer', () => {
    expect(complaints(z.object({}, 'must be an object'), 1)).toEqual([{ path: '', message: 'must be an object' }]);
  });

  it('names members and parameters that it does not know', () => {
    const schema = z.strictObject({ in: z.strictObject({}) });
    expect(complaints(schema, { in: { x: 1, y: 2 }, z: 3 })?.map(({ path }) => path)).toEqual(['/in/x', '/in/y', '/z']);
    expect(complaints(z.strictObject({}), { x: '1' }, 'query')).toEqual([
      { path: 'query.x', message: 'is no query parameter that we know: check its spelling' },
    ]);
  });

  it('says what is wrong with a key', () => {
    const schema = z.record(z.string().max(1, 'must have at most 1 character'), z.number());
    expect(complaints(schema, { ab: 1 })).toEqual([{ path: '/ab', message: 'must have at most 1 character' }]);
  });

  it('names each member once', () => {
    const schema = z.string().min(3, 'must be longer').regex(/^a/, 'must begin with a');
    expect(complaints(z.object({ x: schema }), { x: 'b' })).toEqual([{ path: '/x', message: 'must be longer' }]);
  });

  it('is quick with a body full of nonsense', () => {
    const body = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`member${n}`, n]));
    const started = performance.now();
    expect(complaints(z.strictObject({}), body)).toHaveLength(100_000);
    // Quadratic work would take minutes.
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

it('queryObject makes a list of what is given several times', () => {
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

  it('reads what comes in pieces, and no more than it may', async () => {
    const pieces = (...texts: string[]) =>
      new ReadableStream({
        start(controller) {
          for (const text of texts) controller.enqueue(Buffer.from(text));
          controller.close();
        },
      });
    expect(Buffer.from(await readBytes(request(pieces('[1,', '2', ']')), 5, undefined)).toString()).toBe('[1,2]');
    await expect(readBytes(request(pieces('[1,', '2', ']')), 4, undefined)).rejects.toMatchObject({ code: 'body_too_large' });
  });

  it('invalid_json for what breaks off', async () => {
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error('reset')) });
    await expect(readBytes(request(broken), 10, undefined)).rejects.toMatchObject({ code: 'invalid_json' });
  });
});

describe('problem', () => {
  const bodyOf = async (error: SignageError) => {
    const answer = problem(error, 'id');
    return { status: answer.status, retry: answer.headers.get('retry-after'), body: (await answer.json()) as Record<string, unknown> };
  };

  it('always has errors with invalid_request', async () => {
    expect((await bodyOf(new SignageError('invalid_request', 'No.'))).body).toMatchObject({ errors: [] });
  });

  it('always has Retry-After with unavailable', async () => {
    expect(await bodyOf(new SignageError('unavailable', 'No.'))).toMatchObject({ status: 503, retry: '5' });
    expect(await bodyOf(new SignageError('unavailable', 'No.', { retryAfterSeconds: 7 }))).toMatchObject({ retry: '7' });
  });

  it.each([new Error('secret'), 'secret', undefined, new SignageError('store_damaged', 'secret'), new SignageError('toString', 'secret')])(
    'is an internal error for whatever else is thrown',
    async (thrown) => {
      const { status, body } = await bodyOf(asSignageError(thrown));
      expect([status, body.code]).toEqual([500, 'internal_error']);
      expect(JSON.stringify(body)).not.toContain('secret');
    },
  );
});
