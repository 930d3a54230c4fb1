import type { ErrorCode } from './errors.ts';
import type { Operation } from './operations.ts';

const deviceKeyErrors = [
  'device_key_missing',
  'device_key_invalid',
  'device_key_revoked',
  'device_key_orphaned',
  'device_key_mismatch',
] as const satisfies ErrorCode[];

/**
 * Returns whether a platform token must name the tenant. Managing tenants and reading `/v1/me` need
 * none.
 */
function needsTenant({ access, answer }: Operation): boolean {
  return access !== 'platform' && answer !== 'me';
}

function accessErrors(operation: Operation): ErrorCode[] {
  const { access } = operation;
  if (access === 'public') return [];
  if (access === 'device') return [...deviceKeyErrors];
  return [
    'credential_missing',
    'credential_invalid',
    'credential_expired',
    ...(access === 'viewer' ? [] : (['insufficient_role'] as const)),
    ...(needsTenant(operation) ? (['tenant_required'] as const) : []),
    'tenant_not_found',
  ];
}

/** Returns whether an operation changes a record that exists, and honours preconditions. */
export function takesPrecondition({ revision, method }: Operation): boolean {
  return revision === true && method !== 'GET' && method !== 'POST';
}

function requestErrors(operation: Operation): ErrorCode[] {
  const { record, body, query, headers } = operation;
  return [
    ...(body ? (['body_too_large', 'unsupported_media_type', 'invalid_json'] as const) : []),
    ...(record ? ([`${record}_not_found`] as const) : []),
    ...(body || query || headers ? (['invalid_request'] as const) : []),
    ...(takesPrecondition(operation) ? (['precondition_failed'] as const) : []),
  ];
}

/**
 * Returns the errors implied by an operation's access, record, body and query, once each, in the
 * order of the checks (docs/protocol.md §1.3).
 */
export function impliedErrors(operation: Operation): ErrorCode[] {
  return [
    ...new Set<ErrorCode>([
      ...accessErrors(operation),
      ...requestErrors(operation),
      'internal_error',
      'unavailable',
    ]),
  ];
}

/**
 * Returns every error that an operation can answer, once each.
 *
 * @example possibleErrors(operations.getVenue).includes('venue_not_found') // true
 */
export function possibleErrors(operation: Operation): ErrorCode[] {
  return [...new Set([...impliedErrors(operation), ...(operation.errors ?? [])])];
}
