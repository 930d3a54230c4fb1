import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/store/location/open.ts';
import { migrateDatabase } from '../../../src/store/postgres/open.ts';
import { inDatabase } from '../../support/postgres/in-database.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';

const make = { dryRun: false };

/** Creates an empty database. */
async function emptyDatabase(): Promise<string> {
  const url = await freshDatabase();
  await inDatabase(url, (sql) => sql('DROP SCHEMA signage CASCADE'));
  return url;
}

const formatOf = (url: string) =>
  inDatabase(url, (sql) => sql('SELECT format FROM signage.schema'));

describe('the schema', () => {
  it('is created once by instances that start concurrently on an empty database, and they share a secret', async () => {
    const url = await emptyDatabase();
    const stores = await Promise.all([1, 2, 3, 4].map(() => openStore(url)));
    for (const store of stores) expect(store.secret).toEqual(stores[0]?.secret);
    expect(await formatOf(url)).toHaveLength(1);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('is created by migrate, which returns the file applied, and none the second time', async () => {
    const url = await emptyDatabase();
    const planned = await migrateDatabase(url, { dryRun: true });
    expect(planned).toEqual(['schema.sql']);
    expect(
      await inDatabase(url, (sql) => sql(`SELECT to_regnamespace('signage') AS there`)),
    ).toEqual([{ there: null }]);
    expect(await migrateDatabase(url, make)).toEqual(planned);
    expect(await migrateDatabase(url, make)).toEqual([]);
  });

  it('store_other_format for the schema of a newer version, and nothing is changed', async () => {
    const url = await freshDatabase();
    await inDatabase(url, (sql) => sql('UPDATE signage.schema SET format = 9'));
    const read = (place: string) =>
      inDatabase(place, (sql) =>
        sql(`SELECT relname FROM pg_class WHERE relnamespace = 'signage'::regnamespace ORDER BY 1`),
      );
    const before = await read(url);
    for (const open of [
      () => openStore(url),
      () => migrateDatabase(url, make),
      () => migrateDatabase(url, { dryRun: true }),
    ]) {
      await expect(open()).rejects.toMatchObject({
        code: 'store_other_format',
        message: expect.stringContaining('use an empty database'),
      });
    }
    expect(await read(url)).toEqual(before);
  });

  it('turns the schema of 0.1.0 into the present one, and names the step', async () => {
    const url = await freshDatabase();
    await inDatabase(url, (sql) => sql('UPDATE signage.schema SET format = 6'));
    expect(await migrateDatabase(url, { dryRun: true })).toEqual(['format 8']);
    expect(await formatOf(url)).toEqual([{ format: 6 }]);
    expect(await migrateDatabase(url, make)).toEqual(['format 8']);
    expect(await formatOf(url)).toEqual([{ format: 8 }]);
    await (await openStore(url)).close();
  });

  it('rolls back a failed creation', async () => {
    const url = await emptyDatabase();
    // Conflicts with the schema.
    await inDatabase(url, (sql) =>
      sql('CREATE SCHEMA signage; CREATE TABLE signage.rollup_mark ()'),
    );
    await expect(openStore(url)).rejects.toMatchObject({
      code: 'store_unusable',
      message: expect.stringContaining('rollup_mark'),
    });
    const left = await inDatabase(url, (sql) =>
      sql(`SELECT relname FROM pg_class WHERE relnamespace = 'signage'::regnamespace`),
    );
    expect(left).toEqual([{ relname: 'rollup_mark' }]);
  });

  it.each([
    ['creates no schema', '', 'GRANT CREATE ON DATABASE "%d" TO "%r";'],
    ['may not connect', 'REVOKE CONNECT ON DATABASE "%d" FROM PUBLIC', 'GRANT CONNECT ON'],
    ['uses no schema', 'CREATE SCHEMA signage', 'GRANT USAGE, CREATE ON SCHEMA signage TO "%r";'],
    [
      'reads no table',
      'CREATE SCHEMA signage; CREATE TABLE signage.server (); CREATE TABLE signage.schema (format integer); GRANT ALL ON SCHEMA signage TO "%r"',
      'GRANT ALL ON ALL TABLES IN SCHEMA signage TO "%r";',
    ],
  ])('store_unusable for a role that %s, with the missing GRANT', async (_, prepare, grant) => {
    const url = new URL(await emptyDatabase());
    const database = url.pathname.slice(1);
    const role = `role_${database}`;
    const filled = (text: string) => text.replaceAll('%d', database).replaceAll('%r', role);
    await inDatabase(url.href, (sql) =>
      sql(`CREATE ROLE "${role}" LOGIN PASSWORD 'weak'; ${filled(prepare)}`),
    );
    url.username = role;
    url.password = 'weak';
    await expect(openStore(url.href)).rejects.toMatchObject({
      code: 'store_unusable',
      hint: expect.stringContaining(filled(grant)),
    });
  });

  it('store_unusable for a database without UTF-8 encoding', async () => {
    const url = new URL(await freshDatabase());
    const database = `latin_${url.pathname.slice(1)}`;
    await inDatabase(url.href, (sql) =>
      sql(`CREATE DATABASE ${database} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`),
    );
    url.pathname = database;
    await expect(openStore(url.href)).rejects.toMatchObject({
      code: 'store_unusable',
      message: expect.stringContaining('UTF8'),
    });
  });
});
