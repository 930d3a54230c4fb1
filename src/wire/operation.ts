import type { RequiredRole } from '../domain/records/role.ts';
import type { ServiceErrorCode } from './errors.ts';
import type { SchemaName } from './schemas.ts';

/** Kinds of records that a path can name. */
export type RecordKind =
  | 'tenant'
  | 'token'
  | 'venue'
  | 'screen'
  | 'device'
  | 'pairing_code'
  | 'claim'
  | 'ticket'
  | 'login'
  | 'media'
  | 'campaign'
  | 'webhook';

/** One operation of the API, as plain data. */
export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  /**
   * Required credential: none, a device key, or a management token for which `mayAct` allows this
   * role.
   */
  access: 'public' | 'device' | RequiredRole;
  summary: string;
  /** Whether tokens that are bound to venues are rejected. */
  wholeTenant?: boolean;
  /**
   * Kind of the record that `:id`, `:name`, `:code` or `:claim` names. The record is looked up
   * before query and body are validated.
   */
  record?: RecordKind;
  query?: SchemaName;
  body?: SchemaName;
  /**
   * Whether the body is bytes of a file, which the handler reads while they arrive. Its limits of
   * size and time are its own.
   */
  upload?: boolean;
  /** Whether requests may omit the body. */
  bodyOptional?: boolean;
  /** Maximum size of the body in bytes. Default: 1 MiB. */
  bodyLimit?: number;
  /** Maximum number of objects, arrays and members in the body. Default: 1,000. */
  partLimit?: number;
  /** Whether the answer needs a long search, so that the limit for lists of a token applies. */
  searches?: boolean;
  /** Further successful statuses, with the schemas of their bodies. */
  otherAnswers?: Readonly<Partial<Record<200 | 202, SchemaName>>>;
  /** Status of a successful response. */
  status: 200 | 201 | 202 | 204;
  answer?: SchemaName;
  /** Whether responses have an `ETag`, and `If-None-Match` and `If-Match` are honoured. */
  conditional?: boolean;
  /**
   * Whether responses have the revision of the record as `ETag`. Changes then honour `If-Match` and
   * `If-None-Match` (docs/protocol.md §5.10).
   */
  revision?: boolean;
  /** Request headers that the operation reads. */
  headers?: readonly 'Idempotency-Key'[];
  /** Errors in addition to `impliedErrors`. */
  errors?: readonly ServiceErrorCode[];
  /** Noun and verb of the CLI command. Absent if the operation has no command of its own. */
  command?: readonly [noun: string, verb: string];
}

type OperationDetails = Omit<Operation, 'method' | 'path' | 'access' | 'status'>;

function describing<const M extends Operation['method'], const S extends Operation['status']>(
  method: M,
  status: S,
) {
  return <
    const P extends string,
    const A extends Operation['access'],
    const D extends OperationDetails,
  >(
    path: P,
    access: A,
    details: D & Record<Exclude<keyof D, keyof OperationDetails>, never>,
  ) => ({ method, path, access, status, ...(details as D) });
}

export const get = describing('GET', 200);
export const put = describing('PUT', 200);
export const patch = describing('PATCH', 200);
export const remove = describing('DELETE', 204);
/** `PUT` that stores a record under an id that the caller gives. */
export const store = describing('PUT', 201);
/** `POST` that creates a record. */
export const create = describing('POST', 201);
/** `POST` that accepts the body and responds with 202. */
export const accept = describing('POST', 202);
export const post = describing('POST', 200);

const deviceKeyErrors = [
  'device_key_missing',
  'device_key_invalid',
  'device_key_revoked',
  'device_key_orphaned',
  'device_key_mismatch',
] as const satisfies ServiceErrorCode[];

/**
 * Returns whether a platform token must name a tenant. Operations on tenants, backups and `/v1/me`
 * require no tenant.
 */
export function needsTenant({ access }: Operation): boolean {
  return access !== 'platform' && access !== 'backup' && access !== 'any';
}

function accessErrors(operation: Operation): ServiceErrorCode[] {
  const { access } = operation;
  if (access === 'public') return operation.method === 'GET' ? [] : ['origin_refused'];
  if (access === 'device') return [...deviceKeyErrors];
  return [
    'credential_missing',
    'credential_invalid',
    'credential_expired',
    ...(access === 'any' ? [] : (['insufficient_role'] as const)),
    ...(needsTenant(operation) ? (['tenant_required'] as const) : []),
    'tenant_not_found',
  ];
}

/** Returns whether an operation changes a record and honours preconditions. */
export function takesPrecondition({ revision, method }: Operation): boolean {
  return revision === true && method !== 'GET' && method !== 'POST';
}

/** Returns whether a management operation is carried out once per `Idempotency-Key`. */
function createsOnce({ access, headers }: Operation): boolean {
  return (
    access !== 'public' && access !== 'device' && headers?.includes('Idempotency-Key') === true
  );
}

function requestErrors(operation: Operation): ServiceErrorCode[] {
  const { record, body, upload, query, headers, conditional } = operation;
  return [
    ...(body ? (['body_too_large', 'unsupported_media_type', 'invalid_json'] as const) : []),
    ...(upload ? (['unsupported_media_type'] as const) : []),
    ...(record ? ([`${record}_not_found`] as const) : []),
    ...(body || query || headers ? (['invalid_request'] as const) : []),
    ...(conditional || takesPrecondition(operation) ? (['precondition_failed'] as const) : []),
    ...(createsOnce(operation) ? (['idempotency_key_reused', 'not_repeatable'] as const) : []),
  ];
}

/**
 * Returns the errors that follow from the other members of an operation, such as access and body.
 * Lists each error once, credential errors first.
 */
export function impliedErrors(operation: Operation): ServiceErrorCode[] {
  return [
    ...new Set<ServiceErrorCode>([
      ...accessErrors(operation),
      ...requestErrors(operation),
      'internal_error',
      'unavailable',
    ]),
  ];
}

/**
 * Returns every error that an operation may return, once each.
 *
 * @example possibleErrors(operations.getVenue).includes('venue_not_found') // true
 */
export function possibleErrors(operation: Operation): ServiceErrorCode[] {
  return [...new Set([...impliedErrors(operation), ...(operation.errors ?? [])])];
}
