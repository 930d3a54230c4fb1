import { STATUS_CODES } from 'node:http';
import type { MiddlewareHandler } from 'hono';
import { SignageError } from '../../domain/error.ts';
import { problemParts, problemResponse } from '../problem.ts';
import type { App, Ctx } from '../request/request-context.ts';
import type { StatusEffect } from './fault-rule.ts';
import { defaultCode, segmentsOf, tvOperationAt } from './fault-target.ts';

/**
 * Default `Retry-After` in seconds, by status (docs/protocol.md §1.4). A 500 has the header only
 * after a failed fetch of a playlist or config.
 */
const defaultRetryAfter: Readonly<Record<number, number>> = { 429: 60, 500: 5, 503: 5 };
const detail = 'A fault rule of this service caused this response. X-Signage-Fault names the rule.';

/**
 * Returns a problem document without a code, as a proxy sends it. Used for a status that is not
 * documented for the path.
 */
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

function respond({ status, code: named, retryAfterSeconds }: StatusEffect, context: Ctx): Response {
  const {
    req,
    var: { client },
  } = context;
  const segments = segmentsOf(new URL(req.url).pathname);
  const code = named ?? defaultCode(req.method, segments, status);
  const isRetryable =
    status !== 500 || code === 'playlist_fetch_failed' || code === 'config_fetch_failed';
  const retryAfter = retryAfterSeconds ?? (isRetryable ? defaultRetryAfter[status] : undefined);
  const target = tvOperationAt(req.method, segments);
  client.namedId = target?.namedId;
  if (target) context.set('operation', target.operation);
  if (code === undefined) return uncoded(status, retryAfter, client.requestId);
  const errors =
    code === 'invalid_request' ? [{ path: '', message: 'is rejected by a fault rule' }] : undefined;
  const error = new SignageError(code, detail, {
    ...(errors && { errors }),
    ...(retryAfter !== undefined && { retryAfterSeconds: retryAfter }),
  });
  client.problem = problemParts(error, client.requestId);
  return problemResponse(client.problem);
}

/**
 * Answers the requests that `withFaults` has marked with a status. Passes all other requests on.
 */
export const faultResponses: MiddlewareHandler<App> = async (context, next) => {
  const effect = context.env?.statusEffect;
  return effect ? respond(effect, context) : next();
};
