import type { Role } from '../domain/records/role.ts';
import type { ErrorCode } from './errors.ts';
import type { SchemaName } from './schemas.ts';

/** Kinds of records that a path can name. */
export type RecordKind = 'tenant' | 'token' | 'venue' | 'screen' | 'device' | 'pairing_code';

/** One operation of the API, as plain data. */
export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  /** Required credential: none, a device key, or a management token of at least this role. */
  access: 'public' | 'device' | Role;
  summary: string;
  /** Rejects tokens that are bound to venues. */
  wholeTenant?: boolean;
  /**
   * The record that `:id` or `:code` names. It is looked up before query and body are validated.
   */
  record?: RecordKind;
  query?: SchemaName;
  body?: SchemaName;
  /** The body may be left out. */
  bodyOptional?: boolean;
  /** Maximum size of the body in bytes. Default: 1 MiB. */
  bodyLimit?: number;
  /** Maximum number of objects, arrays and members in the body. Default: 1,000. */
  partLimit?: number;
  /** Status of a successful response. `answer` is the schema of its body. */
  status: 200 | 201 | 202 | 204;
  answer?: SchemaName;
  /** Returns an `ETag`, and 304 for a matching `If-None-Match`. */
  conditional?: boolean;
  /**
   * Answers with the revision of the record as `ETag`. Changes honour `If-Match` and
   * `If-None-Match` (docs/protocol.md §5.10).
   */
  revision?: boolean;
  /** Request headers that the operation reads. */
  headers?: readonly 'Idempotency-Key'[];
  /** Errors in addition to those implied by access, record and body. */
  errors?: readonly ErrorCode[];
  /** Noun and verb of the CLI command. */
  command?: readonly [noun: string, verb: string];
}
