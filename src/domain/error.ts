/** One complaint about one member of a request: a JSON Pointer into the body (`/deviceInfo/macAddress`), `query.limit`, or `header.idempotency-key`. */
export interface FieldError {
  path: string;
  message: string;
}

/** What an error may carry beside its code and message. */
export interface ErrorExtras {
  /** The complaints, with `invalid_request`. */
  errors?: FieldError[];
  /** There are further complaints, which are not listed. */
  truncated?: boolean;
  /** The record that already has the name, with `name_taken`. */
  existingId?: string;
  /** Whole seconds after which it is worth trying again. */
  retryAfterSeconds?: number;
  /** The HTTP status that it was answered with, when it came from a service. */
  status?: number;
  /** The id of the request that it answers. */
  requestId?: string;
  /** What to try next, for the person at a command line. */
  hint?: string;
  /** The methods that the path does have, with `method_not_allowed`. */
  allow?: string[];
  /** What went wrong underneath: for the log, never for the caller. */
  cause?: unknown;
}

/**
 * The one error of the project. `code` is stable and for programs, the message is for the person who reads it,
 * `cause` is for the log. Codes and their HTTP statuses stand in `wire/errors.ts` (docs/protocol.md §1.4).
 */
export class SignageError extends Error {
  override readonly name = 'SignageError';
  readonly code: string;
  readonly errors?: FieldError[];
  readonly truncated?: boolean;
  readonly existingId?: string;
  readonly retryAfterSeconds?: number;
  readonly status?: number;
  readonly requestId?: string;
  readonly hint?: string;
  readonly allow?: string[];

  constructor(code: string, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.code = code;
    if (extras.errors) this.errors = extras.errors;
    if (extras.truncated) this.truncated = true;
    if (extras.existingId !== undefined) this.existingId = extras.existingId;
    if (extras.retryAfterSeconds !== undefined) this.retryAfterSeconds = extras.retryAfterSeconds;
    if (extras.status !== undefined) this.status = extras.status;
    if (extras.requestId !== undefined) this.requestId = extras.requestId;
    if (extras.hint !== undefined) this.hint = extras.hint;
    if (extras.allow) this.allow = extras.allow;
  }
}

/** Whether a caught value is our error with this code. */
export function hasCode(error: unknown, code: string): error is SignageError {
  return error instanceof SignageError && error.code === code;
}

/** How many complaints one error lists at most. */
export const mostErrors = 20;

/** A request that is wrong in itself: 400 `invalid_request`, naming each member, and no more than `most`. */
export function invalid(complaints: readonly FieldError[], most = mostErrors): SignageError {
  const errors = complaints.slice(0, most);
  const truncated = complaints.length > most;
  const [first] = errors;
  const detail = first
    ? `${first.path || 'the body'}: ${first.message}`
    : 'The request is not valid.';
  const others = truncated
    ? ` (and at least ${most} more)`
    : errors.length > 1
      ? ` (and ${errors.length - 1} more)`
      : '';
  return new SignageError('invalid_request', detail + others, { errors, truncated });
}
