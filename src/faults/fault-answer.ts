import { STATUS_CODES } from 'node:http';
import type { FieldError } from '../domain/error.ts';
import type { ServiceErrorCode } from '../wire/errors.ts';
import type { StatusEffect } from './faults.ts';
import { defaultCode, type TvOperation } from './tv-call.ts';

const detail = 'A fault rule caused this answer.';

/** Default `Retry-After` in seconds (docs/protocol.md §1.4). */
const retryAfter: Readonly<Record<string, number>> = {
  too_many_attempts: 60,
  unavailable: 5,
  playlist_fetch_failed: 5,
  config_fetch_failed: 5,
};

/** The answer of a rule with a status. */
export interface FaultAnswer {
  status: number;
  /** Absent if the answer looks like the answer of a proxy. */
  code: ServiceErrorCode | undefined;
  detail: string;
  /** Names are in lower case. */
  headers: Record<string, string>;
  text: string;
}

/**
 * Returns the answer of a rule with a status: a problem document with the code of the rule or of
 * the protocol. If there is no such code, returns an HTML page, as a proxy does.
 */
export function faultAnswer(
  { status, code: given, retryAfterSeconds }: StatusEffect,
  operation: TvOperation | undefined,
  requestId: string,
  errors: readonly FieldError[] = [{ path: '', message: 'is rejected by a fault rule' }],
): FaultAnswer {
  const documented = operation && defaultCode(operation, status);
  const code = given === 'uncoded' ? undefined : (given ?? documented);
  const title = STATUS_CODES[status] ?? 'Error';
  const headers: Record<string, string> = {
    'content-type': code ? 'application/problem+json' : 'text/html',
    'cache-control': 'no-store',
  };
  const isInvalid = code !== 'device_key_missing';
  if (status === 401)
    headers['www-authenticate'] =
      `Bearer realm="signage"${isInvalid ? ', error="invalid_token"' : ''}`;
  const seconds = retryAfterSeconds ?? retryAfter[code ?? ''];
  if (seconds !== undefined) headers['retry-after'] = String(seconds);
  const problem = {
    type: 'about:blank',
    title,
    status,
    detail,
    code,
    requestId,
    errors: code === 'invalid_request' ? errors : undefined,
  };
  const page = `<html><body><h1>${status} ${title}</h1></body></html>`;
  return { status, code, detail, headers, text: code ? JSON.stringify(problem) : page };
}
