import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/store/open.ts';
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

  it.each([
    ['a newer version', 'UPDATE signage.schema SET format = 9'],
    ['an unreleased build', 'DROP TABLE signage.schema'],
  ])('store_other_format for the schema of %s, and nothing is changed', async (_, change) => {
    const url = await freshDatabase();
    await inDatabase(url, (sql) => sql(change));
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
