import type { Client } from 'pg';
import { readAsset } from '../../../assets.ts';
import { SignageError } from '../../../domain/error.ts';
import { type Connect, longTimeouts } from './connect.ts';
import { sendAll } from './query.ts';

const schemaFile = 'schema.sql';
/** The format that `schema.sql` stores. Databases of other formats are refused. */
const schemaFormat = 3;

/** Key of the advisory lock: `SIGN` in ASCII. */
const lockKey = 0x5349474e;
const minServerVersion = 140_000;

/** Whether the database has the schema. Throws `store_other_format` for another format. */
async function hasSchema(client: Client): Promise<boolean> {
  const [table] = await sendAll<{ current: string | null; tenants: string | null }>(
    client,
    `SELECT to_regclass('signage.schema')::text AS current, to_regclass('signage.tenants')::text AS tenants`,
  );
  if (table?.tenants == null) return false;
  const [found] =
    table.current === null
      ? []
      : await sendAll<{ format: number }>(client, 'SELECT format FROM signage.schema');
  if (found?.format === schemaFormat) return true;
  throw new SignageError(
    'store_other_format',
    `The database has the schema of another version (format ${found?.format ?? 1}, not ${schemaFormat}): start that version, or use an empty database. Nothing was changed.`,
  );
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
 * Creates the schema in an empty database. Returns the names of the files applied: none if the
 * schema exists. With `dryRun` it applies nothing, and returns the same names. Throws
 * `store_unusable`, or `store_other_format` for the schema of another version.
 */
export async function migrate(connect: Connect, { dryRun } = { dryRun: false }): Promise<string[]> {
  // Another instance may be creating the schema.
  const client = connect.client(longTimeouts);
  client.on('error', () => {});
  await client.connect();
  try {
    await checkServer(client);
    if (await hasSchema(client)) return [];
    return dryRun ? [schemaFile] : await createSchema(client);
  } finally {
    await client.end();
  }
}

/**
 * Creates the schema, unless another instance has created it meanwhile. After an error, closing the
 * connection rolls the transaction back.
 */
async function createSchema(client: Client): Promise<string[]> {
  await sendAll(client, `BEGIN; SELECT pg_advisory_xact_lock(${lockKey})`);
  if (await hasSchema(client)) return [];
  // Creates the schema only if it is missing, since the user may lack the right to create schemas.
  await sendAll(
    client,
    `DO $$ BEGIN IF to_regnamespace('signage') IS NULL THEN CREATE SCHEMA signage; END IF; END $$`,
  );
  await sendAll(client, readAsset('schema', schemaFile).toString());
  await sendAll(client, 'COMMIT');
  return [schemaFile];
}
