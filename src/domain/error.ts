import type { ErrorCode } from './error-code.ts';

/**
 * An error in one member of a request. `path` is a JSON Pointer into the body
 * (`/deviceInfo/macAddress`), `query.limit`, or `header.idempotency-key`.
 */
export interface FieldError {
  path: string;
  message: string;
}

/** Optional properties of an error. */
export interface ErrorExtras {
  /** The wrong members, with `invalid_request`. */
  errors?: FieldError[];
  /** True if there are further errors that are not listed. */
  truncated?: boolean;
  /** Id of the record that already has the name, with `name_taken`. */
  existingId?: string;
  /** Whole seconds after which to retry. Absent if the service gave no time. */
  retryAfterSeconds?: number;
  /** HTTP status of the response, if the error came from a service. */
  status?: number;
  /** Id of the request, if the error came from a service. */
  requestId?: string;
  /** A suggestion for the user of the command line. */
  hint?: string;
  /** The methods that the path allows, with `method_not_allowed`. */
  allow?: string[];
  /** The underlying error. It is logged, but never sent to the caller. */
  cause?: unknown;
}

/**
 * The error class of this package. `code` is stable and meant for programs. The message is for
 * people, and `cause` is for the log. Codes and their HTTP statuses are in `wire/errors.ts`
 * (docs/protocol.md §1.4).
 */
export class SignageError extends Error {
  override readonly name = 'SignageError';
  readonly code: ErrorCode;
  readonly errors?: FieldError[];
  readonly truncated?: boolean;
  readonly existingId?: string;
  readonly retryAfterSeconds?: number;
  readonly status?: number;
  readonly requestId?: string;
  readonly hint?: string;
  readonly allow?: string[];

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.code = code;
    const { cause: _, ...members } = extras;
    Object.assign(this, members);
  }
}

/**
 * Returns whether a caught value is a `SignageError` with this code.
 *
 * @example
 * try {
 *   await management.call('getVenue', { id });
 * } catch (error) {
 *   if (!hasCode(error, 'venue_not_found')) throw error;
 * }
 */
export function hasCode(error: unknown, code: ErrorCode): error is SignageError {
  return error instanceof SignageError && error.code === code;
}

/** Maximum number of errors listed. Default of `invalid`. */
export const maxErrors = 20;

/** Returns a 400 `invalid_request` that lists each wrong member, up to `max`. */
export function invalid(all: readonly FieldError[], max = maxErrors): SignageError {
  const errors = all.slice(0, max);
  const truncated = all.length > max;
  const [first] = errors;
  const detail = first
    ? `${first.path || 'the body'}: ${first.message}`
    : 'The request is not valid.';
  const rest = truncated
    ? ` (and at least ${max} more)`
    : errors.length > 1
      ? ` (and ${errors.length - 1} more)`
      : '';
  return new SignageError('invalid_request', detail + rest, {
    errors,
    ...(truncated && { truncated }),
  });
}
