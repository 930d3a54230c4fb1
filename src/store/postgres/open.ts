import { type Clock, type Random, systemClock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { publicUrl } from '../../domain/store-url.ts';
import { ChangeTopics } from '../change-topics.ts';
import { openChain } from './audit/chain.ts';
import { type Connect, type DatabaseLimits, makeConnect } from './connection/connect.ts';
import { Database } from './connection/database.ts';
import { parseDatabaseUrl } from './connection/database-url.ts';
import { describeTlsFailure, isConnectionLost, isQueryTimeout } from './connection/errors.ts';
import { databaseLocked, refuseUnfinishedCopy } from './connection/instance-lock.ts';
import { migrate } from './connection/migrate.ts';
import { EventLog } from './events/event-log.ts';
import { Rollups } from './events/rollups.ts';
import { SharedGuessCounters } from './guess-counters.ts';
import { createPartitionsMs, flushMs, foldMs, purgeMs, startJobs } from './jobs.ts';
import { LastActivityTable } from './last-activity.ts';
import { Listener } from './notify/listener.ts';
import { Notifier } from './notify/notifier.ts';
import { PostgresStore } from './postgres-store.ts';
import { VersionedRows } from './rows/versioned-rows.ts';
import { Writer } from './rows/writer.ts';

export interface PostgresOptions extends DatabaseLimits {
  /** The store's time; `undefined` for the database's. */
  clock: Clock | undefined;
  random: Random;
  warn: (message: string, cause?: unknown) => void;
}

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
      return await assemble(database, connect, options);
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

async function assemble(
  database: Database,
  connect: Connect,
  options: PostgresOptions,
): Promise<PostgresStore> {
  const { clock, random, warn } = options;
  const topics = new ChangeTopics();
  const instance = Buffer.from(random(8)).toString('hex');
  const notifier = new Notifier(database, topics, instance);
  const listener = new Listener(connect, options, { topics, instance, clock: systemClock });
  const notify = (changed: ReadonlySet<string>) => notifier.changed(changed);
  const rows = new VersionedRows(database.query);
  const writer = new Writer(database, rows, { clock, random, committed: notify });
  const events = new EventLog(database, clock, notify);
  const rollups = new Rollups(database);
  const lastActivity = new LastActivityTable(database);
  const guessCounters = new SharedGuessCounters(database, clock);
  await refuseUnfinishedCopy(database.query);
  const secret = await sharedSecret(database, random);
  const chainKey = await openChain(database.query, secret, random);
  await events.createPartitions();
  await listener.start();
  if (listener.isLockedByCopy) {
    await listener.close();
    throw databaseLocked('The database', 'signage store copy');
  }
  const stopJobs = startJobs(
    [
      { everyMs: foldMs, name: 'Adding up impressions', work: () => rollups.fold() },
      {
        everyMs: flushMs,
        name: 'Writing the activity of devices',
        work: () => lastActivity.flush(),
      },
      {
        everyMs: purgeMs,
        name: 'Deleting expired guess counters',
        work: () => guessCounters.purge(),
      },
      {
        everyMs: createPartitionsMs,
        name: 'Creating partitions',
        work: () => events.createPartitions(),
      },
    ],
    clock ?? systemClock,
    warn,
  );
  return new PostgresStore({
    database,
    topics,
    notifier,
    listener,
    rows,
    writer,
    events,
    rollups,
    lastActivity,
    guessCounters,
    secret,
    chainKey,
    warn,
    stopJobs,
  });
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
