import { SignageError } from '../../../domain/error.ts';
import { unavailable } from '../../unavailable.ts';

/** Returns the code of an error: a system error code or an SQLSTATE (PostgreSQL, Appendix A). */
function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return error instanceof SignageError || typeof code !== 'string' ? '' : code;
}

const systemCodes =
  /^(ECONN|EHOST|ENET|EPIPE|ENOTFOUND|ENOENT|EACCES|EAI_|ETIMEDOUT|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|CERT_)/;
/** Driver errors without a code. */
const lostMessages =
  /^(Connection terminated|timeout expired|Client (has encountered a connection error|was closed)|The server does not support SSL|There was an error establishing an SSL)/;

/**
 * Whether the database did not answer in time. Such errors come from the driver or from
 * `withTimeout`.
 */
export function isQueryTimeout(error: unknown): boolean {
  if (error instanceof SignageError) return error.code === 'origin_timeout';
  return error instanceof Error && error.message === 'Query read timeout';
}

/** Whether the database is unreachable. Other queries would fail, too. */
export function isConnectionLost(error: unknown): boolean {
  if (isQueryTimeout(error)) return true;
  if (error instanceof SignageError) return false;
  const code = codeOf(error);
  if (error instanceof AggregateError) return error.errors.some(isConnectionLost);
  if (code === '') return error instanceof Error && lostMessages.test(error.message);
  // 08: connection exception. 57P: server stopping or starting. 25006: the server is a standby, and
  // another is primary. 28: invalid authorization. 3D: no such database.
  return systemCodes.test(code) || /^(08|57P|25006|28|3D)/.test(code);
}

/** Driver errors without a code: the server refuses TLS, or sends an invalid reply. */
const noTls = /^(The server does not support SSL|There was an error establishing an SSL)/;
const untrusted = /^(ERR_TLS_CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|CERT_|HOSTNAME_MISMATCH)/;

/**
 * Explains a TLS failure and names the URL parameters that control it. Returns `undefined` for any
 * other error.
 */
export function describeTlsFailure(error: unknown, host: string): string | undefined {
  const how =
    'sslmode=verify-full requires a certificate signed by a public authority or by that of sslrootcert=<file>, sslmode=require encrypts without verifying it, and sslmode=disable sends everything unencrypted';
  if (error instanceof Error && noTls.test(error.message))
    return `${host} refuses TLS, and nothing was sent. Set sslmode in the URL: ${how}`;
  if (!untrusted.test(codeOf(error))) return undefined;
  return `the certificate of ${host} cannot be verified (${(error as Error).message}), and nothing was sent. Set sslmode and sslrootcert in the URL: ${how}`;
}

/** Returns the statement that grants the right whose lack an error reports. */
function missingGrant({ message = '', detail = '' }: MissingRight, user: string, database: string) {
  const grants: readonly (readonly [RegExp, string])[] = [
    [/CONNECT/, `CONNECT ON DATABASE ${identifier(database)}`],
    [/for database/, `CREATE ON DATABASE ${identifier(database)}`],
    [/for schema/, 'USAGE, CREATE ON SCHEMA signage'],
    [/for (table|view|relation)/, 'ALL ON ALL TABLES IN SCHEMA signage'],
    [/for sequence/, 'ALL ON ALL SEQUENCES IN SCHEMA signage'],
  ];
  const [, right] = grants.find(([pattern]) => pattern.test(`${message} ${detail}`)) ?? [];
  return right === undefined
    ? `The schema signage belongs to another role: use that role in the URL of the store.`
    : `Let its owner or a superuser run: GRANT ${right} TO ${identifier(user)};`;
}

interface MissingRight {
  message?: string;
  detail?: string | undefined;
}

const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** Next steps by error code. `host` includes the port. */
const nextSteps: readonly (readonly [RegExp, (host: string, database: string) => string])[] = [
  [
    /^(ECONNREFUSED|ENOENT)$/,
    (host) => `Start PostgreSQL on ${host}, or correct host and port in the URL of the store.`,
  ],
  [/^(ENOTFOUND|EAI_)/, () => 'Correct the host in the URL of the store.'],
  [
    /^3D/,
    (_, database) =>
      `Create the database with createdb ${database}, or correct its name in the URL of the store.`,
  ],
  [
    /^28/,
    () =>
      'Correct user and password in the URL of the store. Pass a password in --store-file or SIGNAGE_STORE.',
  ],
];

/** Returns the next step after a connection that failed. `undefined`: none is known. */
export function nextStepAfter(
  error: unknown,
  { host, port, database, user }: { host: string; port: number; database: string; user: string },
): string | undefined {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  if (codeOf(first) === '42501') return missingGrant(first as MissingRight, user, database);
  const [, text] = nextSteps.find(([codes]) => codes.test(codeOf(first))) ?? [];
  return text?.(`${host}:${port}`, database);
}

/** A row that the change has read was modified meanwhile. */
export class SerializationConflict extends Error {}

/**
 * Whether the change conflicts with a concurrent one, so a retry may succeed. 23505: another change
 * took a unique key after the look-up.
 */
export function isSerializationConflict(error: unknown): boolean {
  return (
    error instanceof SerializationConflict || ['40001', '40P01', '23505'].includes(codeOf(error))
  );
}

/** Whether a statement failed because another session holds a lock. */
export function isLockHeld(error: unknown): boolean {
  return (
    codeOf(error) === '55P03' || (error instanceof SignageError && codeOf(error.cause) === '55P03')
  );
}

/** Whether the day has no partition. PostgreSQL reports this as 23514, `check_violation`. */
export function lacksPartition(error: unknown): boolean {
  return codeOf(error) === '23514';
}

// 53: out of memory, disk or connections. 58: system error, such as a failing disk. 57014:
// statement timeout. 55P03: lock timeout. 25P03: idle transaction timeout.
const temporaryCodes = /^(53|58)|^(57014|55P03|25P03|40001|40P01)$/;

/** Translates temporary errors to `unavailable`. Returns others, which are bugs, unchanged. */
export function translateError(error: unknown): unknown {
  if (isConnectionLost(error))
    return unavailable('The database cannot be reached right now.', error);
  // The pool timed out, because all connections were busy.
  const busy = error instanceof Error && error.message.startsWith('timeout exceeded');
  if (busy || temporaryCodes.test(codeOf(error)))
    return unavailable('The database cannot process this right now.', error);
  return error;
}
