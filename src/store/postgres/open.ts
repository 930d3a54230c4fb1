import type { Random } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { publicUrl } from '../../domain/store-url.ts';
import { openChain } from './audit/chain.ts';
import { type Connect, makeConnect } from './connection/connect.ts';
import { Database } from './connection/database.ts';
import { parseDatabaseUrl } from './connection/database-url.ts';
import { describeTlsFailure, isConnectionLost, isQueryTimeout } from './connection/errors.ts';
import { refuseUnfinishedCopy } from './connection/instance-lock.ts';
import { migrate } from './connection/migrate.ts';
import { type PostgresOptions, PostgresStore } from './postgres-store.ts';

/** Opens the store in a database and migrates its schema. */
export async function openPostgresStore(
  url: string,
  options: PostgresOptions,
): Promise<PostgresStore> {
  const address = parseDatabaseUrl(url);
  const connect = await makeConnect(address);
  return explainConnectError({ url, host: address.host }, async () => {
    await migrate(connect);
    const database = new Database(connect, options);
    try {
      return await startStore(database, connect, options);
    } catch (error) {
      await database.close();
      throw error;
    }
  });
}

/**
 * Migrates the schema to the newest version. Returns the names of the migrations applied, or with
 * `dryRun` of those to apply.
 */
export async function migrateDatabase(url: string, how: { dryRun: boolean }): Promise<string[]> {
  const address = parseDatabaseUrl(url);
  const connect = await makeConnect(address);
  return explainConnectError({ url, host: address.host }, () => migrate(connect, how));
}

async function startStore(
  database: Database,
  connect: Connect,
  options: PostgresOptions,
): Promise<PostgresStore> {
  await refuseUnfinishedCopy(database.query);
  const secret = await sharedSecret(database, options.random);
  const chainKey = await openChain(database.query, secret, options.random);
  const store = new PostgresStore(database, connect, { ...options, secret, chainKey });
  await store.start();
  return store;
}

/** Returns the secret that all instances share. The first instance creates it. */
async function sharedSecret(database: Database, random: Random): Promise<Uint8Array> {
  const made = Buffer.from(random(32)).toString('hex');
  await database.query('INSERT INTO signage.server (secret) VALUES ($1) ON CONFLICT DO NOTHING', [
    made,
  ]);
  const [{ secret }] = (await database.query('SELECT secret FROM signage.server')) as [
    { secret: string },
  ];
  return Buffer.from(secret, 'hex');
}

/**
 * Rethrows an error as `store_unreachable` or `store_unusable`, naming the database and the reason.
 */
export async function explainConnectError<T>(
  { url, host }: { url: string; host: string },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SignageError && error.code !== 'unavailable') throw error;
    const reason = error instanceof SignageError ? (error.cause ?? error) : error;
    const [code, problem] = isConnectionLost(reason)
      ? ['store_unreachable', 'cannot be reached']
      : ['store_unusable', 'cannot be used'];
    const cause = describeTlsFailure(reason, host) ?? messageOf(reason);
    throw new SignageError(code, `The database ${publicUrl(url)} ${problem}: ${cause}.`, {
      cause: error,
    });
  }
}

/** Returns the message of an error. A host may have several addresses, each with its own error. */
function messageOf(reason: unknown): string {
  if (isQueryTimeout(reason)) return 'The database does not answer.';
  return reason instanceof AggregateError
    ? reason.errors.map(messageOf).join(', ')
    : (reason as Error).message;
}
