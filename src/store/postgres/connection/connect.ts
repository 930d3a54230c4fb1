import type { Client, ClientConfig, Pool } from 'pg';
import { secondMs } from '../../../domain/clock.ts';
import type { DatabaseAddress } from './database-url.ts';

/** How the database is used. Spans in milliseconds. */
export interface DatabaseLimits {
  /** Connections of this instance, beside the one that listens: 2 or more. */
  poolSize: number;
  /** The longest that one statement may take. */
  statementTimeoutMs: number;
  /** The longest that one may wait for another's change. */
  lockTimeoutMs: number;
}

/** Makes connections to one database. */
export interface Connect {
  isPooled: boolean;
  pool(limits: DatabaseLimits): Pool;
  client(limits: DatabaseLimits): Client;
}

const connectTimeoutMs = 5 * secondMs;
const keepAliveMs = 15 * secondMs;
const bigint = 20;

/** Loads the library, and says how to connect. What it would take from the environment is said here: what the URL does not have is nowhere. */
export async function connector(address: DatabaseAddress): Promise<Connect> {
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
    // An instance that is stopped in the middle of a change must not hold up the others for long.
    idle_in_transaction_session_timeout: statementTimeoutMs,
    options:
      '-c default_transaction_isolation=read\\ committed -c default_transaction_read_only=off -c client_encoding=UTF8',
  };
  const line = {
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  };
  const numbers = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === bigint ? Number : parserOf(oid, format),
  };
  return {
    ...{
      host,
      port,
      database,
      user,
      password: () => password,
      ssl: ssl as ClientConfig['ssl'],
      application_name: applicationName,
    },
    ...{
      ...line,
      ...(isPooled ? {} : session),
      sslnegotiation: 'postgres',
      pipeline: true,
      types: numbers,
    },
  } as ClientConfig;
}

const untrusted = { rejectUnauthorized: false };

/** TLS if the server has it. Any other trouble is told by whoever connects next. */
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
