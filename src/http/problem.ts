import { SignageError } from '../domain/error.ts';
import { errorKind } from '../wire/errors.ts';

/** Any thrown thing as our error: what is none of ours is an internal one, its cause for the log alone. */
export function asSignageError(thrown: unknown): SignageError {
  if (thrown instanceof SignageError && errorKind(thrown.code).code === thrown.code) return thrown;
  const detail = 'Something went wrong here; the log tells what. Try again, and pass the requestId on if it stays.';
  return new SignageError('internal_error', detail, { cause: thrown });
}

/** What goes out for an error, whichever way. */
export interface ProblemParts {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** An error as a problem document (RFC 9457): never a stack trace, never a secret (docs/protocol.md §1.4). */
export function problemParts(error: SignageError, requestId: string): ProblemParts {
  const { status, title, code } = errorKind(error.code);
  const { errors = code === 'invalid_request' ? [] : undefined, existingId, retryAfterSeconds, allow } = error;
  const body = { type: 'about:blank', title, status, detail: error.message, code, requestId, errors, existingId };
  const headers: Record<string, string> = { 'Content-Type': 'application/problem+json' };
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer';
  if (allow) headers.Allow = allow.join(', ');
  const wait = retryAfterSeconds ?? (status === 503 ? 5 : undefined);
  if (wait !== undefined) headers['Retry-After'] = String(wait);
  if (code === 'body_too_large') headers.Connection = 'close';
  return { status, headers, text: JSON.stringify(body) };
}

/** The same as an answer of the app. */
export function problem(error: SignageError, requestId: string): Response {
  const { status, headers, text } = problemParts(error, requestId);
  return new Response(text, { status, headers });
}
