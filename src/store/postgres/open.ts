import type { Random } from '../../domain/clock.ts';
import { openChain } from './audit/chain.ts';
import { type Connect, connectTo } from './connection/connect.ts';
import { Database } from './connection/database.ts';
import { migrate } from './migration/migrate.ts';
import { type PostgresOptions, PostgresStore } from './postgres-store.ts';

/** Opens the store in a database. Creates the schema in an empty one. */
export async function openPostgresStore(
  url: string,
  options: PostgresOptions,
): Promise<PostgresStore> {
  return connectTo(url, async (connect) => {
    await migrate(connect);
    const database = new Database(connect, options, options.onReachable);
    try {
      return await startStore(database, connect, options);
    } catch (error) {
      await database.close();
      throw error;
    }
  });
}

/**
 * Creates the schema in an empty database. Returns the names of the files applied. With `dryRun` it
 * applies nothing, and returns the same names.
 */
export function migrateDatabase(url: string, how: { dryRun: boolean }): Promise<string[]> {
  return connectTo(url, (connect) => migrate(connect, how));
}

async function startStore(
  database: Database,
  connect: Connect,
  options: PostgresOptions,
): Promise<PostgresStore> {
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
