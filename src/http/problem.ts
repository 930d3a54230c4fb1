import { SignageError } from '../domain/error.ts';
import { errorKind } from '../wire/errors.ts';

/** Any thrown thing as our error: what is none of ours is an internal one, its cause for the log alone. */
export function asSignageError(thrown: unknown): SignageError {
  if (thrown instanceof SignageError && errorKind(thrown.code).code === thrown.code) return thrown;
  const detail = 'Something went wrong here; the log tells what. Try again, and pass the requestId on if it stays.';
  return new SignageError('internal_error', detail, { cause: thrown });
}

/** An error as a problem document (RFC 9457): never a stack trace, never a secret (docs/protocol.md §1.4). */
export function problem(error: SignageError, requestId: string): Response {
  const { status, title, code } = errorKind(error.code);
  const { errors = code === 'invalid_request' ? [] : undefined, existingId, retryAfterSeconds, allow } = error;
  const body = { type: 'about:blank', title, status, detail: error.message, code, requestId, errors, existingId };
  const headers = new Headers({ 'Content-Type': 'application/problem+json' });
  if (status === 401) headers.set('WWW-Authenticate', 'Bearer');
  if (allow) headers.set('Allow', allow.join(', '));
  const wait = retryAfterSeconds ?? (status === 503 ? 5 : undefined);
  if (wait !== undefined) headers.set('Retry-After', String(wait));
  if (code === 'body_too_large') headers.set('Connection', 'close');
  return new Response(JSON.stringify(body), { status, headers });
}
