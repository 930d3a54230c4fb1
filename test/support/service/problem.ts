import { expect } from 'vitest';
import { errorKinds } from '../../../src/wire/errors.ts';
import type { Answer } from './service.ts';

/** Expects a complete problem document with this code, and errors with exactly these `paths`. */
export function expectProblem(
  answer: Answer,
  status: number,
  code: keyof typeof errorKinds,
  paths?: string[],
): void {
  const { body, headers } = answer;
  expect({ status: answer.status, code: body?.code }, answer.text).toEqual({ status, code });
  expect(headers.get('content-type')).toBe('application/problem+json');
  const { errors, existingId: _existingId, screen: _screen, detail, ...rest } = body;
  expect(rest).toEqual({
    type: 'about:blank',
    title: errorKinds[code].title,
    status,
    code,
    requestId: headers.get('x-request-id'),
  });
  expect(detail).toMatch(/\S/);
  expect(answer.text).not.toMatch(/node_modules|\.ts:|\bat \w+ \(/);
  if (code === 'invalid_request') expect(errors.length, answer.text).toBeGreaterThan(0);
  else expect(errors).toBeUndefined();
  if (paths)
    expect(errors.map((error: { path: string }) => error.path).sort()).toEqual([...paths].sort());
  expect(headers.get('www-authenticate') ?? '').toMatch(
    status === 401 ? /^Bearer realm="signage"(, error="invalid_token")?$/ : /^$/,
  );
  expect(headers.has('allow')).toBe(status === 405);
  const later =
    status === 429 ||
    status === 503 ||
    code === 'playlist_fetch_failed' ||
    code === 'config_fetch_failed';
  if (later) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  else expect(headers.has('retry-after')).toBe(false);
}
