/** Codes of error responses. `wire/errors.ts` maps them to statuses (docs/protocol.md §1.4). */
export type ServiceErrorCode =
  | 'invalid_request'
  | 'invalid_json'
  | 'malformed_request'
  | 'idempotency_key_reused'
  | 'tenant_required'
  | 'timezone_required'
  | 'digest_mismatch'
  | 'address_refused'
  | 'credential_missing'
  | 'credential_invalid'
  | 'credential_expired'
  | 'device_key_missing'
  | 'device_key_invalid'
  | 'device_key_revoked'
  | 'device_key_orphaned'
  | 'device_key_mismatch'
  | 'insufficient_role'
  | 'origin_refused'
  | 'not_found'
  | 'tenant_not_found'
  | 'token_not_found'
  | 'venue_not_found'
  | 'screen_not_found'
  | 'device_not_found'
  | 'pairing_code_not_found'
  | 'claim_not_found'
  | 'ticket_not_found'
  | 'login_not_found'
  | 'playlist_not_found'
  | 'config_not_found'
  | 'schedule_not_found'
  | 'takeover_not_found'
  | 'media_not_found'
  | 'campaign_not_found'
  | 'webhook_not_found'
  | 'statement_not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'name_taken'
  | 'not_repeatable'
  | 'pairing_code_used'
  | 'pairing_code_not_pending'
  | 'claim_offered'
  | 'too_many_tickets'
  | 'login_approved'
  | 'screen_already_bound'
  | 'screen_active'
  | 'timezone_in_use'
  | 'venue_not_empty'
  | 'tenant_not_empty'
  | 'last_tenant'
  | 'last_token'
  | 'media_in_use'
  | 'media_offset'
  | 'playlist_quota_exceeded'
  | 'not_supported'
  | 'pairing_code_expired'
  | 'pairing_code_cancelled'
  | 'precondition_failed'
  | 'body_too_large'
  | 'media_too_large'
  | 'media_quota_exceeded'
  | 'unsupported_media_type'
  | 'media_not_accepted'
  | 'range_not_satisfiable'
  | 'too_many_attempts'
  | 'headers_too_large'
  | 'internal_error'
  | 'playlist_fetch_failed'
  | 'config_fetch_failed'
  | 'transfer_encoding_unsupported'
  | 'method_unknown'
  | 'unavailable';

/** Codes of errors of the toolkit itself: of clients, simulator, `serve`, stores and origins. */
export type ToolkitErrorCode =
  | 'unreachable'
  | 'proxy_refused'
  | 'unexpected_answer'
  | 'interrupted'
  | 'invalid_option'
  | 'invalid_file'
  | 'port_taken'
  | 'open_to_others'
  | 'no_pairing_code'
  | 'not_registered'
  | 'skipped'
  | 'set_up_failed'
  | 'conflict'
  | 'store_locked'
  | 'store_damaged'
  | 'store_other_format'
  | 'store_unusable'
  | 'store_unreachable'
  | 'store_not_empty'
  | 'backup_unusable'
  | 'copy_differs'
  | 'restore_unfinished'
  | 'folder_not_empty'
  | 'object_store_unreachable'
  | 'object_store_refused'
  | 'object_too_large'
  | 'origin_unreachable'
  | 'origin_status'
  | 'origin_bad_answer'
  | 'origin_timeout'
  | 'origin_busy'
  | 'origin_skipped'
  | 'origin_outdated';

/** Codes of errors of single commands. Only the command line throws them. */
export type CommandErrorCode =
  | 'usage'
  | 'declined'
  | 'wait_timed_out'
  | 'ambiguous_name'
  | 'context_not_found'
  | 'contexts_unusable'
  | 'not_written'
  | 'token_not_kept'
  | 'token_of_elsewhere'
  | 'state_in_use'
  | 'state_not_saved'
  | 'state_of_elsewhere'
  | 'partly_failed'
  | 'pairing_code_pending'
  | 'device_revoked';

/**
 * The code of a `SignageError`. A later version of the service may send other codes, so handle
 * unknown codes as well.
 */
export type ErrorCode = ServiceErrorCode | ToolkitErrorCode | CommandErrorCode;

/**
 * An error in one member of a request. `path` is a JSON Pointer into the body
 * (`/deviceInfo/macAddress`), or another place such as `query.limit` or `header.idempotency-key`.
 */
export interface FieldError {
  path: string;
  message: string;
}

/** Names of a screen and its venue, for a TV that has nothing to show. */
export interface ScreenPlace {
  name: string;
  venue: { name: string };
}

/** Optional properties of an error. */
export interface ErrorExtras {
  /** The wrong members, with `invalid_request`. */
  errors?: FieldError[];
  /** True if there are further errors that are not listed. */
  truncated?: boolean;
  /** Id of the record that already has the name, with `name_taken`. */
  existingId?: string;
  /** The screen of a TV, with `playlist_not_found`. */
  screen?: ScreenPlace;
  /** Bytes of a file that the service has received, with `media_offset`. */
  received?: number;
  /** The size of a file, with `range_not_satisfiable`. */
  size?: number;
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
  /** The underlying error. It may be logged, but is never sent to a client. */
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
  readonly screen?: ScreenPlace;
  readonly received?: number;
  readonly size?: number;
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
 *   await management.call('getVenue', { params: { id } });
 * } catch (error) {
 *   if (!hasCode(error, 'venue_not_found')) throw error;
 * }
 */
export function hasCode(error: unknown, code: ErrorCode): error is SignageError {
  return error instanceof SignageError && error.code === code;
}

export const invalidOption = (message: string) => new SignageError('invalid_option', message);

/** Default maximum number of errors that `invalid` lists. */
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
