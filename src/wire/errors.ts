/** HTTP status and title of an error code. */
interface ErrorKind {
  status: number;
  title: string;
}

function kinds<const C extends string>(
  status: number,
  titles: Record<C, string>,
): Record<C, ErrorKind> {
  const entries = Object.entries<string>(titles).map(([code, title]) => [code, { status, title }]);
  return Object.fromEntries(entries) as Record<C, ErrorKind>;
}

/**
 * The only table of error codes and statuses (docs/protocol.md §1.4). Used by server and client.
 */
export const errorKinds = {
  ...kinds(400, {
    invalid_request: 'The request is not valid',
    invalid_json: 'The body is not JSON',
    malformed_request: 'Malformed or ambiguous HTTP request',
    idempotency_key_reused: 'The Idempotency-Key belongs to another request',
    tenant_required: 'A tenant is required',
  }),
  ...kinds(401, {
    credential_missing: 'A management token is needed',
    credential_invalid: 'The management token is not valid',
    credential_expired: 'The management token has expired',
    device_key_missing: 'A device key is needed',
    device_key_invalid: 'The device key is not valid',
    device_key_revoked: 'The device key was revoked',
    device_key_orphaned: 'The screen of the device key was deleted',
    device_key_mismatch: 'The device key is for another screen',
  }),
  ...kinds(403, { insufficient_role: 'The token may not do this' }),
  ...kinds(404, {
    not_found: 'Not found',
    tenant_not_found: 'No such tenant',
    token_not_found: 'No such token',
    venue_not_found: 'No such venue',
    screen_not_found: 'No such screen',
    device_not_found: 'No such device',
    pairing_code_not_found: 'No such pairing code',
    playlist_not_found: 'No playlist',
    config_not_found: 'No config is stored here',
  }),
  ...kinds(405, { method_not_allowed: 'Method not allowed' }),
  ...kinds(408, { request_timeout: 'The request did not arrive in time' }),
  ...kinds(409, {
    name_taken: 'The name is taken',
    pairing_code_used: 'The pairing code was used',
    pairing_code_not_pending: 'The pairing code is finished',
    screen_already_bound: 'The screen has a device',
    screen_active: 'The screen has a device',
    venue_not_empty: 'The venue has screens',
    tenant_not_empty: 'The tenant has venues',
    last_tenant: 'The last tenant cannot be deleted',
    last_token: 'The last platform token cannot be deleted',
    not_supported: 'Not supported by this deployment',
  }),
  ...kinds(410, {
    pairing_code_expired: 'The pairing code expired',
    pairing_code_cancelled: 'The pairing code was cancelled',
  }),
  ...kinds(412, { precondition_failed: 'The record has changed' }),
  ...kinds(413, { body_too_large: 'The body is too large' }),
  ...kinds(415, { unsupported_media_type: 'The body must be JSON' }),
  ...kinds(429, { too_many_attempts: 'Too many unknown pairing codes' }),
  ...kinds(431, { headers_too_large: 'The headers are too large' }),
  ...kinds(500, {
    internal_error: 'Internal error',
    playlist_fetch_failed: 'The playlist cannot be fetched',
    config_fetch_failed: 'The config cannot be fetched',
  }),
  ...kinds(501, { transfer_encoding_unsupported: 'The transfer coding is not supported' }),
  ...kinds(503, { unavailable: 'Not available right now' }),
} satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorKinds;

/** Returns the status and title of a code. Unknown codes become `internal_error`. */
export function errorKind(code: string): ErrorKind & { code: ErrorCode } {
  const known = Object.hasOwn(errorKinds, code) ? (code as ErrorCode) : 'internal_error';
  return { ...errorKinds[known], code: known };
}
