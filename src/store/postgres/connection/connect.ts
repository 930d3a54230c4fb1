import type { Client, ClientConfig, Pool } from 'pg';
import { secondMs } from '../../../domain/clock.ts';
import type { DatabaseAddress } from './database-url.ts';

/** Limits on the use of the database. Durations in milliseconds. */
export interface DatabaseLimits {
  /** Size of the connection pool, without the listening connection. Minimum: 2. */
  poolSize: number;
  /** Timeout of one statement. */
  statementTimeoutMs: number;
  /** Timeout for a lock held by another change. */
  lockTimeoutMs: number;
}

/** Creates connections to one database. */
export interface Connect {
  isPooled: boolean;
  pool(limits: DatabaseLimits): Pool;
  client(limits: DatabaseLimits): Client;
}

const connectTimeoutMs = 5 * secondMs;
const keepAliveMs = 15 * secondMs;
const bigint = 20;

/**
 * Loads the driver and returns a connection factory. Sets every option that the driver would
 * otherwise read from the environment, so that only the URL counts.
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
    pool: (limits) =>
      new Pool({ ...configured(ssl, limits), max: limits.poolSize, idleTimeoutMillis: 0 }),
    client: (limits) => new Client(configured(ssl, limits)),
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
  const socket = {
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  };
  const numbers = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === bigint ? Number : parserOf(oid, format),
  };
  return {
    host,
    port,
    database,
    user,
    password: () => password,
    ssl: ssl as ClientConfig['ssl'],
    application_name: applicationName,
    ...socket,
    ...(isPooled ? {} : session),
    sslnegotiation: 'postgres',
    pipeline: true,
    types: numbers,
  } as ClientConfig;
}

/** Closes a connection without a goodbye message, which a broken network would not deliver. */
export function destroy(client: object): void {
  (client as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
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
