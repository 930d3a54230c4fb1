import { inject } from 'vitest';
import { inDatabase } from './in-database.ts';

/** Creates an empty database with the schema. Returns its URL. */
export async function freshDatabase(): Promise<string> {
  const answer = await fetch(inject('databases'), { method: 'POST' });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`No PostgreSQL for the tests: ${text}`);
  return text;
}

/** Deletes all rows of a store, which is faster than a new database. */
export function emptyDatabase(url: string): Promise<void> {
  return inDatabase(url, async (sql) => {
    const tables = await sql(`
      SELECT relname AS name FROM pg_class
      WHERE relnamespace = 'signage'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
        AND relname NOT IN ('schema', 'turn', 'server', 'log_head', 'rollup_mark')`);
    const heads = ['log_head', 'rollup_mark'].map(
      (name) => `UPDATE signage.${name} SET received_at = 0, seq = 0`,
    );
    await sql([...tables.map(({ name }) => `DELETE FROM signage.${name}`), ...heads].join(';'));
  });
}
