import type { Client } from 'pg';
import { assetNames, readAsset } from '../../../assets.ts';
import { SignageError } from '../../../domain/error.ts';
import { type Connect, longTimeouts } from './connect.ts';
import { sendAll } from './query.ts';

/** A migration of the schema, such as `0001-first.sql`. There are no down migrations. */
interface Migration {
  number: number;
  name: string;
  sql: string;
}

/** Key of the advisory lock: `SIGN` in ASCII. */
const lockKey = 0x5349474e;
const minServerVersion = 140_000;

function migrations(): Migration[] {
  const files = assetNames('migrations').filter((file) => /^\d{4}-[a-z0-9-]+\.sql$/.test(file));
  return files.map((file) => ({
    number: Number(file.slice(0, 4)),
    name: file,
    sql: readAsset('migrations', file).toString(),
  }));
}

/** Returns the number of the last applied migration; 0 for an empty database. */
async function currentVersion(client: Client): Promise<number> {
  const [table] = await sendAll<{ name: string | null }>(
    client,
    `SELECT to_regclass('signage.migrations')::text AS name`,
  );
  if (table?.name == null) return 0;
  const [last] = await sendAll<{ number: number | null }>(
    client,
    'SELECT max(number) AS number FROM signage.migrations',
  );
  return last?.number ?? 0;
}

async function checkServer(client: Client): Promise<void> {
  const [server] = await sendAll<{ version: number; encoding: string }>(
    client,
    `SELECT current_setting('server_version_num')::integer AS version, current_setting('server_encoding') AS encoding`,
  );
  if (!server || server.version < minServerVersion)
    throw new SignageError('store_unusable', 'The database must be PostgreSQL 14 or newer.');
  if (server.encoding !== 'UTF8')
    throw new SignageError(
      'store_unusable',
      `The database must have the encoding UTF8, not ${server.encoding}.`,
    );
}

/**
 * Migrates the schema to the newest version. Returns the names of the migrations applied. With
 * `dryRun` it applies none, and returns the names of the missing ones. One instance applies all of
 * them in one transaction. Throws `store_unusable`, or `store_other_format` for the schema of a
 * newer version.
 */
export async function migrate(connect: Connect, { dryRun } = { dryRun: false }): Promise<string[]> {
  // A migration may rewrite large tables, or wait for another instance that is migrating.
  const client = connect.client(longTimeouts);
  client.on('error', () => {});
  await client.connect();
  try {
    await checkServer(client);
    const all = migrations();
    const missing = missingFrom(all, await currentVersion(client));
    if (missing.length === 0 || dryRun) return missing.map(({ name }) => name);
    return await applyMissing(client, all);
  } finally {
    await client.end();
  }
}

/**
 * Applies the missing migrations. After an error, closing the connection rolls the transaction
 * back.
 */
async function applyMissing(client: Client, all: readonly Migration[]): Promise<string[]> {
  await sendAll(client, `BEGIN; SELECT pg_advisory_xact_lock(${lockKey})`);
  // Creates the schema only if it is missing, since the user may lack the right to create schemas.
  await sendAll(
    client,
    `DO $$ BEGIN IF to_regnamespace('signage') IS NULL THEN CREATE SCHEMA signage; END IF; END $$;
    CREATE TABLE IF NOT EXISTS signage.migrations (number integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
  );
  const missing = missingFrom(all, await currentVersion(client));
  for (const { number, name, sql } of missing) {
    await sendAll(client, sql);
    await client.query('INSERT INTO signage.migrations (number, name) VALUES ($1, $2)', [
      number,
      name,
    ]);
  }
  await sendAll(client, 'COMMIT');
  return missing.map(({ name }) => name);
}

function missingFrom(all: readonly Migration[], found: number): Migration[] {
  const newest = all.at(-1)?.number ?? 0;
  if (found <= newest) return all.filter(({ number }) => number > found);
  throw new SignageError(
    'store_other_format',
    `The database has the schema ${found}, and this version of signage knows those up to ${newest}: use a newer version. Nothing was changed.`,
  );
}
