import type { Client } from 'pg';
import { SignageError } from '../../../domain/error.ts';
import { readAsset } from '../../../package/assets.ts';
import { type TableName, tableNames } from '../../sections.ts';
import { type Connect, longTimeouts } from '../connection/connect.ts';
import { send, sendAll } from '../connection/query.ts';
import { tableSchema } from '../rows/columns.ts';
import { functionStatements, tableStatements } from '../rows/row-tables.ts';
import { rowColumns } from '../rows/transaction-steps.ts';

const schemaFile = 'schema.sql';
const playsFile = 'plays.sql';
/** The format that `schema.sql` stores. Databases of unknown formats are refused. */
const schemaFormat = 8;
/**
 * 6: of 0.1.0. Its rows are rows of this format without newer members. `plays.sql` adds what it
 * lacks.
 */
const convertibleFormats: readonly number[] = [6];
const formatStep = `format ${schemaFormat}`;

/** Key of the advisory lock: `SIGN` in ASCII. */
const lockKey = 0x5349474e;
const minServerVersion = 140_000;
/** Number of rows whose columns are computed at a time. A playlist may take 1 MiB. */
const rowsPerStatement = 50;

/**
 * Returns the format of the schema, or `undefined` if the database has none. Throws
 * `store_other_format` for an unknown one.
 */
async function readFormat(client: Client): Promise<number | undefined> {
  const [table] = await sendAll<{ name: string | null }>(
    client,
    `SELECT to_regclass('signage.schema')::text AS name`,
  );
  if (table?.name == null) return undefined;
  const [found] = await sendAll<{ format: number }>(client, 'SELECT format FROM signage.schema');
  if (found && [schemaFormat, ...convertibleFormats].includes(found.format)) return found.format;
  throw new SignageError(
    'store_other_format',
    `The database has the schema of another version (format ${found?.format}, not ${schemaFormat}): start that version, or use an empty database. Nothing was changed.`,
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
 * Creates the schema in an empty database, and the tables, columns and indexes of sections that the
 * database does not have yet. Returns what was applied: nothing if the schema is complete. With
 * `dryRun` it applies nothing, and returns the same. Throws `store_unusable`, or
 * `store_other_format` for the schema of another version.
 */
export async function migrate(connect: Connect, { dryRun } = { dryRun: false }): Promise<string[]> {
  // Another instance may be creating the schema.
  const client = connect.client(longTimeouts);
  client.on('error', () => {});
  await client.connect();
  try {
    await checkServer(client);
    const steps = await missingSteps(client);
    return dryRun || steps.length === 0 ? steps : await applySteps(client);
  } finally {
    await client.end();
  }
}

async function missingSteps(client: Client): Promise<string[]> {
  const format = await readFormat(client);
  if (format === undefined) return [schemaFile];
  return [...(format === schemaFormat ? [] : [formatStep]), ...(await changedTables(client))];
}

/** Returns the tables whose statements differ from those that the database has executed. */
async function changedTables(client: Client): Promise<TableName[]> {
  const found = await sendAll<{ name: string; statements: string }>(
    client,
    'SELECT name, statements FROM signage.row_tables',
  );
  const applied = new Map(found.map(({ name, statements }) => [name, statements]));
  return tableNames.filter((table) => applied.get(table) !== tableStatements(table));
}

/**
 * Applies the missing steps, unless another instance has applied them meanwhile. After an error,
 * closing the connection rolls the transaction back.
 */
async function applySteps(client: Client): Promise<string[]> {
  await sendAll(client, `BEGIN; SELECT pg_advisory_xact_lock(${lockKey})`);
  const steps = await missingSteps(client);
  if (steps.includes(schemaFile)) {
    // Only if it is missing, since the user may lack the right to create schemas.
    await sendAll(
      client,
      `DO $$ BEGIN IF to_regnamespace('signage') IS NULL THEN CREATE SCHEMA signage; END IF; END $$`,
    );
    await sendAll(client, readAsset('schema', schemaFile).toString());
  }
  if (steps.includes(schemaFile) || steps.includes(formatStep))
    await sendAll(client, readAsset('schema', playsFile).toString());
  if (steps.includes(formatStep))
    await sendAll(client, `UPDATE signage.schema SET format = ${schemaFormat}`);
  const tables = await changedTables(client);
  // No change of another instance may run on half of the tables.
  await sendAll(client, 'LOCK TABLE signage.turn IN EXCLUSIVE MODE');
  for (const table of tables) await sendAll(client, tableStatements(table));
  if (tables.length > 0) await sendAll(client, functionStatements());
  for (const table of tables) {
    await fillColumns(client, table);
    await send(
      client,
      false,
      `INSERT INTO signage.row_tables VALUES ($1, $2)
        ON CONFLICT (name) DO UPDATE SET statements = excluded.statements`,
      [table, tableStatements(table)],
    );
  }
  await sendAll(client, 'COMMIT');
  return steps;
}

/** Computes the columns of all rows of a table from their JSON. */
async function fillColumns(client: Client, table: TableName): Promise<void> {
  const { name, place } = tableSchema(table);
  const put = `SELECT signage.put_row('${place}', columns) FROM json_array_elements($1::json) AS columns`;
  for (let after = ''; ; ) {
    const page = `SELECT id, row FROM ${name} WHERE id > $1 ORDER BY id LIMIT ${rowsPerStatement}`;
    const rows = await send<{ id: string; row: string }>(client, false, page, [after]);
    if (rows.length === 0) return;
    await send(client, false, put, [JSON.stringify(rows.map(({ row }) => rowColumns(table, row)))]);
    after = rows.at(-1)?.id as string;
  }
}
