import { Client } from 'pg';

/** Sends a statement, or several, behind the store's back; answers the rows. */
// biome-ignore lint/suspicious/noExplicitAny: rows of every shape
export type Sql = (text: string, parameters?: unknown[]) => Promise<any[]>;

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
