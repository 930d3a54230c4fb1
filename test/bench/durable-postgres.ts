import { inDatabase } from '../support/postgres/in-database.ts';
import { startPostgres } from '../support/postgres/postgres-server.ts';

/** Starts a PostgreSQL server that syncs its writes. */
export async function startDurablePostgres() {
  const server = await startPostgres({ settings: ['fsync=on', 'full_page_writes=on'] });
  return {
    ...server,
    /** Creates a database. Returns its URL. */
    async create(database: string): Promise<string> {
      await inDatabase(server.url('postgres'), (sql) => sql(`CREATE DATABASE ${database}`));
      return server.url(database);
    },
  };
}

export type DurablePostgres = Awaited<ReturnType<typeof startDurablePostgres>>;
