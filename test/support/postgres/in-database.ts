import { Client } from 'pg';

/** Executes SQL and returns the rows. */
// biome-ignore lint/suspicious/noExplicitAny: rows of every shape
export type Sql = (text: string, parameters?: unknown[]) => Promise<any[]>;

/** Connects to a database outside the store. */
export async function inDatabase<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(async (text, parameters) => (await client.query(text, parameters)).rows);
  } finally {
    await client.end();
  }
}
