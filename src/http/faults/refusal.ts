import { STATUS_CODES } from 'node:http';
import type { MiddlewareHandler } from 'hono';
import { SignageError } from '../../domain/error.ts';
import { problem } from '../problem.ts';
import type { App, Ctx } from '../request/request-context.ts';
import type { Refusal } from './fault-effect.ts';
import { defaultCode, segmentsOf } from './fault-target.ts';

/** Where the service says nothing of its own: for those that always carry a `Retry-After` (docs/protocol.md §1.4). */
const usualRetryAfter: Readonly<Record<number, number>> = { 429: 60, 500: 5, 503: 5 };
const detail = 'A fault rule of this service planted this answer: X-Signage-Fault says which.';

/** A problem without a code, as from a proxy: the status is not documented for this path. */
function uncoded(
  status: number,
  retryAfterSeconds: number | undefined,
  requestId: string,
): Response {
  const body = {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail,
    requestId,
  };
  const headers = new Headers({ 'Content-Type': 'application/problem+json' });
  if (retryAfterSeconds !== undefined) headers.set('Retry-After', String(retryAfterSeconds));
  return new Response(JSON.stringify(body), { status, headers });
}

function refuse(
  { status, code: named, retryAfterSeconds }: Refusal,
  { req, var: { origin } }: Ctx,
): Response {
  const code = named ?? defaultCode(req.method, segmentsOf(new URL(req.url).pathname), status);
  const isUsual =
    status !== 500 || code === 'playlist_fetch_failed' || code === 'config_fetch_failed';
  const wait = retryAfterSeconds ?? (isUsual ? usualRetryAfter[status] : undefined);
  if (code === undefined) return uncoded(status, wait, origin.requestId);
  const errors =
    code === 'invalid_request' ? [{ path: '', message: 'is refused by a fault rule' }] : undefined;
  const error = new SignageError(code, detail, {
    ...(errors && { errors }),
    ...(wait !== undefined && { retryAfterSeconds: wait }),
  });
  return problem(error, origin.requestId);
}

/** Answers the requests that `withFaults` has marked to be refused; all others go on. */
export const faultResponses: MiddlewareHandler<App> = async (context, next) => {
  const refusal = context.env?.refusal;
  return refusal ? refuse(refusal, context) : next();
};
