// Vitest runs this setup once for all test files, in its main process. The first request for a
// database starts the PostgreSQL server.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { TestProject } from 'vitest/node';
import { openStore } from '../../../src/store/location/open.ts';
import { inDatabase } from './in-database.ts';
import { type PostgresServer, secured, startPostgres } from './postgres-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** URL that creates a database with the schema on POST, and returns its URL. */
    databases: string;
  }
}

const template = 'template_signage';

async function startWithTemplate(): Promise<PostgresServer> {
  const server = await startPostgres();
  await inDatabase(server.url('postgres'), async (sql) => {
    await sql(`CREATE ROLE ${secured.user} LOGIN SUPERUSER PASSWORD '${secured.password}'`);
    await sql(`CREATE DATABASE ${template}`);
  });
  // Includes the partitions of the current days, which take longest.
  await (await openStore(server.url(template))).close();
  return server;
}

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  let server: Promise<PostgresServer> | undefined;
  let made = 0;

  async function makeDatabase(): Promise<string> {
    server ??= startWithTemplate();
    const { url } = await server;
    const name = `test_${++made}`;
    await inDatabase(url('postgres'), (sql) => sql(`CREATE DATABASE ${name} TEMPLATE ${template}`));
    return url(name);
  }

  const http = createServer((_request, response) => {
    makeDatabase().then(
      (url) => response.end(url),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as { port: number };
  provide('databases', `http://127.0.0.1:${port}`);
  return async () => {
    http.close();
    await (await server)?.end();
  };
}
