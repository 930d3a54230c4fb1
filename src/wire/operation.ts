import type { Role } from '../domain/records/role.ts';
import type { ErrorCode } from './errors.ts';
import type { SchemaName } from './schemas.ts';

/** The records that a path can name. */
export type RecordKind = 'tenant' | 'token' | 'venue' | 'screen' | 'device' | 'pairing_code';

/** One operation of the interface, as plain data. */
export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  /** Nobody needs to say who they are; a TV with its key; or a management token of at least this role. */
  access: 'public' | 'device' | Role;
  summary: string;
  /** Takes a token of the whole tenant, and none that is bound to venues. */
  wholeTenant?: boolean;
  /** The record that `:id` or `:code` names: it is looked up before query and body are judged. */
  record?: RecordKind;
  query?: SchemaName;
  body?: SchemaName;
  /** The body may be left out. */
  bodyOptional?: boolean;
  /** The most bytes a body may have; 1 MiB unless said. */
  bodyLimit?: number;
  /** The most objects, arrays and members that a body may have in all; 1,000 unless said. */
  partLimit?: number;
  /** The status of success, and the schema of its body. */
  status: 200 | 201 | 202 | 204;
  answer?: SchemaName;
  /** Answers `ETag`, and 304 to `If-None-Match`. */
  conditional?: boolean;
  /** Request headers that mean something here. */
  headers?: readonly 'Idempotency-Key'[];
  /** Errors beside those that access, record and body bring with them. */
  errors?: readonly ErrorCode[];
  /** Noun and verb of the command that does this. */
  command?: readonly [noun: string, verb: string];
}
