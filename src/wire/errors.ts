import type { ServiceErrorCode } from '../domain/error.ts';

export type { ServiceErrorCode };

/**
 * HTTP status of an error code, and the title of its problem: the status phrase (RFC 9110 §15).
 */
interface ErrorKind {
  status: number;
  title: string;
}

function kinds<const C extends ServiceErrorCode>(
  status: number,
  title: string,
  codes: readonly C[],
): Record<C, ErrorKind> {
  return Object.fromEntries(codes.map((code) => [code, { status, title }])) as Record<C, ErrorKind>;
}

/**
 * The only table of error codes and statuses (docs/protocol.md §1.4). Used by server and client.
 */
export const errorKinds = {
  ...kinds(400, 'Bad Request', [
    'invalid_request',
    'invalid_json',
    'malformed_request',
    'idempotency_key_reused',
    'tenant_required',
    'timezone_required',
    'digest_mismatch',
    'address_refused',
  ]),
  ...kinds(401, 'Unauthorized', [
    'credential_missing',
    'credential_invalid',
    'credential_expired',
    'device_key_missing',
    'device_key_invalid',
    'device_key_revoked',
    'device_key_orphaned',
    'device_key_mismatch',
  ]),
  ...kinds(403, 'Forbidden', ['insufficient_role', 'origin_refused']),
  ...kinds(404, 'Not Found', [
    'not_found',
    'tenant_not_found',
    'token_not_found',
    'venue_not_found',
    'screen_not_found',
    'device_not_found',
    'pairing_code_not_found',
    'claim_not_found',
    'ticket_not_found',
    'login_not_found',
    'playlist_not_found',
    'config_not_found',
    'schedule_not_found',
    'takeover_not_found',
    'media_not_found',
    'campaign_not_found',
    'webhook_not_found',
    'statement_not_found',
  ]),
  ...kinds(405, 'Method Not Allowed', ['method_not_allowed']),
  ...kinds(408, 'Request Timeout', ['request_timeout']),
  ...kinds(409, 'Conflict', [
    'name_taken',
    'not_repeatable',
    'pairing_code_used',
    'pairing_code_not_pending',
    'claim_offered',
    'too_many_tickets',
    'login_approved',
    'screen_already_bound',
    'screen_active',
    'timezone_in_use',
    'venue_not_empty',
    'tenant_not_empty',
    'last_tenant',
    'last_token',
    'media_in_use',
    'media_offset',
    'playlist_quota_exceeded',
  ]),
  ...kinds(410, 'Gone', ['pairing_code_expired', 'pairing_code_cancelled']),
  ...kinds(412, 'Precondition Failed', ['precondition_failed']),
  ...kinds(413, 'Content Too Large', ['body_too_large', 'media_too_large', 'media_quota_exceeded']),
  ...kinds(415, 'Unsupported Media Type', ['unsupported_media_type', 'media_not_accepted']),
  ...kinds(416, 'Range Not Satisfiable', ['range_not_satisfiable']),
  ...kinds(429, 'Too Many Requests', ['too_many_attempts']),
  ...kinds(431, 'Request Header Fields Too Large', ['headers_too_large']),
  ...kinds(500, 'Internal Server Error', [
    'internal_error',
    'playlist_fetch_failed',
    'config_fetch_failed',
  ]),
  ...kinds(501, 'Not Implemented', [
    'transfer_encoding_unsupported',
    'method_unknown',
    'not_supported',
  ]),
  ...kinds(503, 'Service Unavailable', ['unavailable']),
} satisfies Record<ServiceErrorCode, ErrorKind>;

/** Returns the status and title of a code. Unknown codes become `internal_error`. */
export function errorKind(code: string): ErrorKind & { code: ServiceErrorCode } {
  const known = Object.hasOwn(errorKinds, code) ? (code as ServiceErrorCode) : 'internal_error';
  return { ...errorKinds[known], code: known };
}
