import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../../src/store/open.ts';
import { inDatabase } from '../../support/in-database.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres-server.ts';

const path = (name: string) =>
  fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url));
const text = (name: string) => readFileSync(path(name), 'utf8');

/** Returns for each of the store's connections whether it is encrypted. */
async function encrypted(url: string): Promise<boolean[]> {
  const store = await openStore(url);
  const rows = await inDatabase(url.replace(/\?.*/, ''), (sql) =>
    sql(
      `SELECT DISTINCT s.ssl FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) WHERE a.application_name = 'signage'`,
    ),
  );
  await store.close();
  return rows.map(({ ssl }) => ssl);
}

describe('a database with TLS', () => {
  let server: PostgresServer;
  const url = (query: string, host = '127.0.0.1') =>
    `${server.url('postgres').replace('127.0.0.1', host)}?${query}`;
  beforeAll(async () => {
    const files = { 'server.crt': text('first.cert.pem'), 'server.key': text('first.key.pem') };
    server = await startPostgres({
      files,
      settings: ['ssl=on', 'ssl_cert_file=../server.crt', 'ssl_key_file=../server.key'],
    });
  }, 60_000);
  afterAll(() => server.end());

  it.each([
    ['sslmode=prefer', [true]],
    ['sslmode=require', [true]],
    ['sslmode=disable', [false]],
  ])('%s', async (query, expected) => {
    expect(await encrypted(url(query))).toEqual(expected);
  });

  it.each(['require', 'verify-ca', 'verify-full'])(
    'sslmode=%s accepts the certificate that sslrootcert trusts',
    async (mode) => {
      expect(await encrypted(url(`sslmode=${mode}&sslrootcert=${path('first.cert.pem')}`))).toEqual(
        [true],
      );
    },
  );

  it.each([
    ['another certificate than the trusted one', 'sslmode=verify-full', 'second.cert.pem'],
    ['another certificate, with require', 'sslmode=require', 'second.cert.pem'],
    ['a certificate of an unknown authority', 'sslmode=verify-full', undefined],
  ])('store_unreachable for %s', async (_, query, ca) => {
    const refused = openStore(url(ca === undefined ? query : `${query}&sslrootcert=${path(ca)}`));
    await expect(refused).rejects.toMatchObject({
      code: 'store_unreachable',
      message: expect.stringContaining('certificate'),
    });
  });

  it('verify-full checks the name in the certificate, verify-ca does not', async () => {
    await server.end();
    const files = {
      'server.crt': text('elsewhere.cert.pem'),
      'server.key': text('elsewhere.key.pem'),
    };
    server = await startPostgres({
      files,
      settings: ['ssl=on', 'ssl_cert_file=../server.crt', 'ssl_key_file=../server.key'],
    });
    const trusted = `sslrootcert=${path('elsewhere.cert.pem')}`;
    expect(await encrypted(url(`sslmode=verify-ca&${trusted}`))).toEqual([true]);
    await expect(openStore(url(`sslmode=verify-full&${trusted}`))).rejects.toMatchObject({
      code: 'store_unreachable',
    });
  });
});
