import { maskSecrets } from '../../domain/api-key.ts';
import { type FieldError, SignageError } from '../../domain/error.ts';
import { errorKind, type ServiceErrorCode } from '../../wire/errors.ts';

/**
 * Returns a `SignageError` with a known code unchanged. Converts any other thrown value to
 * `internal_error`, with the value as `cause` for the log only.
 */
export function asSignageError(thrown: unknown): SignageError {
  if (thrown instanceof SignageError && errorKind(thrown.code).code === thrown.code) return thrown;
  const detail =
    'Internal error: see the log of the service. Retry, and report the requestId if the error persists.';
  return new SignageError('internal_error', detail, { cause: thrown });
}

/**
 * Limits in characters. They keep a response below 32 KiB, even with 20 paths of control
 * characters, which take six bytes each in JSON.
 */
const maxDetail = 300;
const maxPath = 200;

/** Masks secrets, such as a token that was sent as the name of a query parameter. */
function truncate(text: string, max: number): string {
  const masked = maskSecrets(text);
  return masked.length > max ? `${masked.slice(0, max - 1)}…` : masked;
}

function truncateError({ path, message }: FieldError): FieldError {
  return { path: truncate(path, maxPath), message: truncate(message, maxDetail) };
}

/**
 * Returns the `WWW-Authenticate` challenge of a 401. It has no `error` member if the request had no
 * credential (RFC 6750 §3.1).
 */
function challengeOf(code: ServiceErrorCode): string {
  const isMissing = code === 'credential_missing' || code === 'device_key_missing';
  return isMissing ? 'Bearer realm="signage"' : 'Bearer realm="signage", error="invalid_token"';
}

type ProblemHeaders = Record<string, string> & { 'Content-Type': string };

/** Status, headers and body of an error response. */
export interface ProblemParts {
  status: number;
  code: ServiceErrorCode;
  detail: string;
  headers: ProblemHeaders;
  text: string;
}

/**
 * Returns an error as a problem document (RFC 9457), without stack traces and secrets
 * (docs/protocol.md §1.4).
 */
export function problemParts(error: SignageError, requestId: string): ProblemParts {
  const { status, title, code } = errorKind(error.code);
  const { truncated, existingId, screen, received, size, retryAfterSeconds, allow } = error;
  const errors = error.errors?.map(truncateError) ?? (code === 'invalid_request' ? [] : undefined);
  const detail = truncate(error.message, maxDetail);
  const body = {
    type: 'about:blank',
    title,
    status,
    detail,
    code,
    requestId,
    errors,
    truncated,
    existingId,
    screen,
    received,
  };
  const headers: ProblemHeaders = {
    'Content-Type': 'application/problem+json',
    'Cache-Control': 'no-store',
  };
  if (status === 401) headers['WWW-Authenticate'] = challengeOf(code);
  if (allow) headers.Allow = allow.join(', ');
  if (size !== undefined) headers['Content-Range'] = `bytes */${size}`;
  const wait = retryAfterSeconds ?? (status === 503 ? 5 : undefined);
  if (wait !== undefined) headers['Retry-After'] = String(wait);
  return { status, code, detail, headers, text: JSON.stringify(body) };
}

export function problemResponse({ status, headers, text }: ProblemParts): Response {
  return new Response(text, { status, headers });
}
