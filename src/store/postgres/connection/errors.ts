import { SignageError } from '../../../domain/error.ts';

/** The code of a failure: the system's, or an SQLSTATE (PostgreSQL, Appendix A). */
function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return error instanceof SignageError || typeof code !== 'string' ? '' : code;
}

const systemCodes =
  /^(ECONN|EHOST|ENET|EPIPE|ENOTFOUND|ENOENT|EACCES|EAI_|ETIMEDOUT|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|CERT_)/;
/** What the library says without a code. */
const lostMessages =
  /^(Connection terminated|timeout expired|Client (has encountered a connection error|was closed)|The server does not support SSL|There was an error establishing an SSL)/;

/** The database did not answer in time. */
export class QueryTimeout extends Error {}

/** Whether the database was not reached, or has gone: what it does not answer it does not answer to others either. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof SignageError) return false;
  if (error instanceof QueryTimeout) return true;
  const code = codeOf(error);
  if (error instanceof AggregateError) return error.errors.some(isConnectionLost);
  if (code === '') return error instanceof Error && lostMessages.test(error.message);
  // 08: connection exceptions; 57P: the server is stopping or starting; 25006: it has become a standby, and another is the server now; 28: it does not let us
  // in; 3D: no such database.
  return systemCodes.test(code) || /^(08|57P|25006|28|3D)/.test(code);
}

/** What the library says without a code when the server answers the request for TLS with a no, or with nonsense. */
const noTls = /^(The server does not support SSL|There was an error establishing an SSL)/;
const untrusted = /^(ERR_TLS_CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|CERT_|HOSTNAME_MISMATCH)/;

/** What is wrong with the TLS of a host, and which parameters of the URL decide about it; `undefined` for any other failure. */
export function tlsFailure(error: unknown, host: string): string | undefined {
  const how =
    'sslmode=verify-full asks for a certificate that sslrootcert=<file of the authority> or a public authority vouches for, sslmode=require encrypts without verifying it, and sslmode=disable sends everything in clear';
  if (error instanceof Error && noTls.test(error.message))
    return `${host} refuses TLS, and nothing was sent. Set sslmode in the URL: ${how}`;
  if (!untrusted.test(codeOf(error))) return undefined;
  return `the certificate of ${host} cannot be verified (${(error as Error).message}), and nothing was sent. Set sslmode and sslrootcert in the URL: ${how}`;
}

/** What the change has read is not so any more; `beginning` is what it read first. */
export class SerializationConflict extends Error {
  readonly beginning: string;

  constructor(beginning: string) {
    super('The change met another.');
    this.beginning = beginning;
  }
}

/** Whether the change met another at the same moment: run again, it finds a different state. 23505: a key that somebody has taken since it was looked up. */
export function isSerializationConflict(error: unknown): boolean {
  return (
    error instanceof SerializationConflict || ['40001', '40P01', '23505'].includes(codeOf(error))
  );
}

/** Somebody else holds what a statement must have for itself. */
export function isLockHeld(error: unknown): boolean {
  return (
    codeOf(error) === '55P03' || (error instanceof SignageError && codeOf(error.cause) === '55P03')
  );
}

/** No partition for the day (23514, `check_violation`, is what PostgreSQL says of it). */
export function lacksPartition(error: unknown): boolean {
  return codeOf(error) === '23514';
}

// 53: out of memory, disk or connections; 58: its disk fails; 57014: it took too long; 55P03: so did another's change; 25P03: we did.
const passing = /^(53|58)|^(57014|55P03|25P03|40001|40P01)$/;

/** What callers are told. What is not passing is a mistake, and flies on as it is. */
export function translated(error: unknown): unknown {
  if (isConnectionLost(error))
    return unavailable('The database cannot be reached right now.', error);
  // All connections are busy, and stay so.
  const busy = error instanceof Error && error.message.startsWith('timeout exceeded');
  if (busy || passing.test(codeOf(error)))
    return unavailable('The database cannot take this right now.', error);
  return error;
}

export function unavailable(message: string, cause?: unknown): SignageError {
  return new SignageError('unavailable', message, {
    retryAfterSeconds: 5,
    ...(cause === undefined ? {} : { cause }),
  });
}
