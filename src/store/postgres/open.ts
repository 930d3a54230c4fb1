import { type Clock, type Random, systemClock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { publicUrl } from '../../domain/store-url.ts';
import { ChangeTopics } from '../change-topics.ts';
import { openChain } from './audit/chain.ts';
import { type Connect, connector, type DatabaseLimits } from './connection/connect.ts';
import { Database } from './connection/database.ts';
import { parseDatabaseUrl } from './connection/database-url.ts';
import { isConnectionLost, tlsFailure } from './connection/errors.ts';
import { databaseLocked, refuseUnfinishedCopy } from './connection/instance-lock.ts';
import { migrate } from './connection/migrate.ts';
import { EventLog } from './events/event-log.ts';
import { Rollups } from './events/rollups.ts';
import { SharedGuessCounters } from './guess-counters.ts';
import { flushMs, foldMs, makeDaysMs, purgeMs, startJobs } from './jobs.ts';
import { LastActivityTable } from './marks.ts';
import { Listener } from './notify/listener.ts';
import { Notifier } from './notify/notifier.ts';
import { PostgresStore } from './postgres-store.ts';
import { VersionedRows } from './rows/versioned-rows.ts';
import { Writer } from './rows/writer.ts';

export interface PostgresOptions extends DatabaseLimits {
  /** Where the store's time comes from; the database's unless given. */
  clock: Clock | undefined;
  random: Random;
  warn: (message: string, cause?: unknown) => void;
}

/** Opens the store in a database, whose schema it makes or brings up to date. */
export async function openPostgresStore(
  url: string,
  options: PostgresOptions,
): Promise<PostgresStore> {
  const address = parseDatabaseUrl(url);
  const connect = await connector(address);
  return explained({ url, host: address.host }, async () => {
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

/** Brings the schema up to date; answers the names of the steps that were made, or with `dryRun` are to be made. */
export async function migrateDatabase(url: string, how: { dryRun: boolean }): Promise<string[]> {
  const address = parseDatabaseUrl(url);
  const connect = await connector(address);
  return explained({ url, host: address.host }, () => migrate(connect, how));
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
  const told = (changed: ReadonlySet<string>) => notifier.changed(changed);
  const rows = new VersionedRows(database.ask);
  const writer = new Writer(database, rows, { clock, random, committed: told });
  const events = new EventLog(database, clock, told);
  const [rollups, marks, attempts] = [
    new Rollups(database),
    new LastActivityTable(database),
    new SharedGuessCounters(database, clock),
  ];
  await refuseUnfinishedCopy(database.ask);
  const secret = await sharedSecret(database, random);
  const chainKey = await openChain(database.ask, secret, random);
  await events.makeDays();
  await listener.start();
  if (listener.isShutOut) {
    await listener.close();
    throw databaseLocked('The database', 'signage store copy');
  }
  const stopUpkeep = startJobs(
    [
      { everyMs: foldMs, name: 'Adding up impressions', work: () => rollups.fold() },
      { everyMs: flushMs, name: 'Writing what devices did last', work: () => marks.flush() },
      { everyMs: purgeMs, name: 'Forgetting old attempts', work: () => attempts.purge() },
      { everyMs: makeDaysMs, name: 'Making partitions', work: () => events.makeDays() },
    ],
    clock ?? systemClock,
    warn,
  );
  const server = { secret, chainKey, warn };
  return new PostgresStore({
    database,
    topics,
    notifier,
    listener,
    rows,
    writer,
    events,
    rollups,
    marks,
    attempts,
    ...server,
    stopUpkeep,
  });
}

/** The first instance makes it; all read the same. */
async function sharedSecret(database: Database, random: Random): Promise<Uint8Array> {
  const made = Buffer.from(random(32)).toString('hex');
  await database.ask('INSERT INTO signage.server (secret) VALUES ($1) ON CONFLICT DO NOTHING', [
    made,
  ]);
  const [{ secret }] = (await database.ask('SELECT secret FROM signage.server')) as [
    { secret: string },
  ];
  return Buffer.from(secret, 'hex');
}

/** Says of a database that cannot be opened which one it is, and why. */
export async function explained<T>(
  { url, host }: { url: string; host: string },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SignageError && error.code !== 'unavailable') throw error;
    const reason = error instanceof SignageError ? (error.cause ?? error) : error;
    const [code, what] = isConnectionLost(reason)
      ? ['store_unreachable', 'cannot be reached']
      : ['store_unusable', 'cannot be used'];
    const why = tlsFailure(reason, host) ?? messageOf(reason);
    throw new SignageError(code, `The database ${publicUrl(url)} ${what}: ${why}.`, {
      cause: error,
    });
  }
}

/** A host may have several addresses; of those that were tried in vain each has its own message. */
function messageOf(reason: unknown): string {
  return reason instanceof AggregateError
    ? reason.errors.map(messageOf).join(', ')
    : (reason as Error).message;
}
