import { Socket } from 'node:net';
import type { Client, ClientConfig, Pool } from 'pg';
import { hourMs, secondMs } from '../../../domain/clock.ts';
import { SignageError } from '../../../domain/error.ts';
import { publicUrl } from '../../../domain/store-url.ts';
import { type DatabaseAddress, parseDatabaseUrl } from './database-url.ts';
import { describeTlsFailure, isConnectionLost, isQueryTimeout, nextStepAfter } from './errors.ts';

/** Limits on the use of the database. Durations in milliseconds. */
export interface DatabaseLimits {
  /** Size of the connection pool, without the listening connection. Minimum: 2. */
  poolSize: number;
  statementTimeoutMs: number;
  /** Timeout for a lock held by another change. */
  lockTimeoutMs: number;
}

/**
 * Limits for long statements, such as sorting all roll-ups. Use them only while no client waits for
 * the locks that such statements hold.
 */
export const longTimeouts: DatabaseLimits = {
  poolSize: 2,
  statementTimeoutMs: hourMs,
  lockTimeoutMs: hourMs,
};

/** Creates the socket of a connection. */
type MakeSocket = () => Socket;

/** Creates connections to one database. */
export interface Connect {
  isPooled: boolean;
  pool(limits: DatabaseLimits, makeSocket: MakeSocket): Pool;
  client(limits: DatabaseLimits, makeSocket?: MakeSocket): Client;
}

/**
 * Grace period after the server's own statement timeout. Without an answer by then, the network or
 * the server is down.
 */
const gracePeriodMs = 2 * secondMs;
const connectTimeoutMs = 5 * secondMs;
const keepAliveMs = 15 * secondMs;
const bigint = 20;

/**
 * Runs `work` with connections to the database of a URL. Rethrows errors of the driver as
 * `store_unreachable` or `store_unusable`, naming the database and the reason. Throws
 * `invalid_option` for a malformed URL.
 */
export async function connectTo<T>(
  url: string,
  work: (connect: Connect) => Promise<T>,
): Promise<T> {
  const address = parseDatabaseUrl(url);
  const connect = await makeConnect(address);
  try {
    return await work(connect);
  } catch (error) {
    if (error instanceof SignageError && error.code !== 'unavailable') throw error;
    const reason = error instanceof SignageError ? (error.cause ?? error) : error;
    const [code, problem] = isConnectionLost(reason)
      ? (['store_unreachable', 'cannot be reached'] as const)
      : (['store_unusable', 'cannot be used'] as const);
    const hint = nextStepAfter(reason, address);
    const cause = describeTlsFailure(reason, address.host) ?? messageOf(reason);
    throw new SignageError(code, `The database ${publicUrl(url)} ${problem}: ${cause}.`, {
      cause: error,
      ...(hint !== undefined && { hint }),
    });
  }
}

/**
 * Returns the message of an error. If a host has several addresses, joins the messages of all
 * attempts.
 */
function messageOf(reason: unknown): string {
  if (isQueryTimeout(reason)) return 'it does not answer';
  return reason instanceof AggregateError
    ? reason.errors.map(messageOf).join(', ')
    : (reason as Error).message;
}

/**
 * Loads the driver and returns a connection factory. Sets every option that the driver would
 * otherwise read from the environment. So only the URL has an effect.
 */
export async function makeConnect(address: DatabaseAddress): Promise<Connect> {
  const { Client, Pool, types } = await import('pg');
  const configured = (ssl: DatabaseAddress['ssl'], limits: DatabaseLimits) =>
    config({ ...address, ssl }, limits, types.getTypeParser);
  const ssl =
    address.ssl === 'prefer'
      ? await preferredTls((ssl, limits) => new Client(configured(ssl, limits)))
      : address.ssl;
  return {
    isPooled: address.isPooled,
    pool: (limits, stream) =>
      new Pool({ ...configured(ssl, limits), stream, max: limits.poolSize, idleTimeoutMillis: 0 }),
    client: (limits, stream = () => new Socket()) =>
      new Client({ ...configured(ssl, limits), stream }),
  };
}

function config(
  { host, port, database, user, password, ssl, applicationName, isPooled }: DatabaseAddress,
  { statementTimeoutMs, lockTimeoutMs }: DatabaseLimits,
  parserOf: (oid: number, format?: 'text' | 'binary') => unknown,
): ClientConfig {
  const session = {
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    // A suspended instance must not block the others for long with an open transaction.
    idle_in_transaction_session_timeout: statementTimeoutMs,
    options:
      '-c default_transaction_isolation=read\\ committed -c default_transaction_read_only=off -c client_encoding=UTF8',
  };
  return {
    host,
    port,
    database,
    user,
    password: () => password,
    ssl: ssl as ClientConfig['ssl'],
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    ...(isPooled ? {} : session),
    sslnegotiation: 'postgres',
    query_timeout: statementTimeoutMs + gracePeriodMs,
    pipeline: true,
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === bigint ? Number : parserOf(oid, format),
    },
  } as ClientConfig;
}

const untrusted = { rejectUnauthorized: false };

/**
 * Detects whether the server supports TLS. Other errors are left to the next connection attempt.
 */
async function preferredTls(
  connect: (ssl: DatabaseAddress['ssl'], limits: DatabaseLimits) => Client,
): Promise<DatabaseAddress['ssl']> {
  const client = connect(untrusted, {
    poolSize: 1,
    statementTimeoutMs: connectTimeoutMs,
    lockTimeoutMs: connectTimeoutMs,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return untrusted;
  } catch (error) {
    return /does not support SSL/.test((error as Error).message) ? false : untrusted;
  } finally {
    client.end().catch(() => {});
  }
}
