import { type FieldError, SignageError } from '../domain/error.ts';
import { errorKind } from '../wire/errors.ts';

/** Any thrown thing as our error: what is none of ours is an internal one, its cause for the log alone. */
export function asSignageError(thrown: unknown): SignageError {
  if (thrown instanceof SignageError && errorKind(thrown.code).code === thrown.code) return thrown;
  const detail =
    'Something went wrong here; the log tells what. Try again, and pass the requestId on if it stays.';
  return new SignageError('internal_error', detail, { cause: thrown });
}

/** In characters. With 20 complaints of control characters, each of which takes six bytes in JSON, an answer stays below 32 KiB. */
const longestDetail = 300;
const longestPath = 200;

const shortened = (text: string, longest: number) =>
  text.length > longest ? `${text.slice(0, longest - 1)}…` : text;

function shortComplaint({ path, message }: FieldError): FieldError {
  return { path: shortened(path, longestPath), message: shortened(message, longestDetail) };
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
  const { truncated, existingId, retryAfterSeconds, allow } = error;
  const errors = error.errors?.map(shortComplaint) ?? (code === 'invalid_request' ? [] : undefined);
  const detail = shortened(error.message, longestDetail);
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
  };
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
