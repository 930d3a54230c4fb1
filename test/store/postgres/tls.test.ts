import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { openStore } from '../../../src/store/location/open.ts';
import { copyStore } from '../../../src/store/maintenance/copy.ts';
import { migrateDatabase } from '../../../src/store/postgres/open.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { inDatabase } from '../../support/postgres/in-database.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import {
  type PostgresServer,
  secured,
  startPostgres,
} from '../../support/postgres/postgres-server.ts';

const path = (name: string) =>
  fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url));
const text = (name: string) => readFileSync(path(name), 'utf8');
/** Resolves to 127.0.0.1, but is not recognized as this machine. */
const elsewhere = '127.1';
/**
 * Length 8, then 1234 and 5679:
 * https://www.postgresql.org/docs/current/protocol-message-formats.html.
 */
const sslRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
const askForPassword = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]);

/** Returns for each of the store's connections whether it is encrypted. */
async function encrypted(url: string): Promise<boolean[]> {
  const connections = () =>
    inDatabase(url.replace(/\?.*/, ''), (sql) =>
      sql(
        `SELECT DISTINCT s.ssl FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) WHERE a.application_name = 'signage'`,
      ),
    );
  // The server ends a connection a moment after its client.
  await expect.poll(connections).toEqual([]);
  const store = await openStore(url);
  const rows = await connections();
  await store.close();
  return rows.map(({ ssl }) => ssl);
}

const at = (url: string, host: string, query = '') => {
  const { port, pathname } = new URL(url);
  return `postgres://${secured.user}:${encodeURIComponent(secured.password)}@${host}:${port}${pathname}${query}`;
};
/** Returns the error of `openStore`, with its causes. */
async function refusal(url: string) {
  const error = await openStore(url).then(
    () => Promise.reject(new Error('The store opened.')),
    (one: Error & { code: string }) => one,
  );
  return {
    code: error.code,
    message: error.message,
    all: inspect(error, { depth: null, showHidden: true }),
  };
}

const startWithTls = (name: 'first' | 'elsewhere') =>
  startPostgres({
    files: { 'server.crt': text(`${name}.cert.pem`), 'server.key': text(`${name}.key.pem`) },
    settings: ['ssl=on', 'ssl_cert_file=../server.crt', 'ssl_key_file=../server.key'],
  });

describe('a database with TLS', () => {
  let server: PostgresServer;
  const url = (query: string) => `${server.url('postgres')}?${query}`;
  beforeAll(async () => {
    server = await startWithTls('first');
  });
  afterAll(() => server.end());

  const trusted = `sslrootcert=${path('first.cert.pem')}`;
  it.each([
    ['sslmode=prefer', [true]],
    ['sslmode=require', [true]],
    ['sslmode=disable', [false]],
    [`sslmode=require&${trusted}`, [true]],
    [`sslmode=verify-ca&${trusted}`, [true]],
    [`sslmode=verify-full&${trusted}`, [true]],
  ])('is connected with %s', async (query, expected) => {
    expect(await encrypted(url(query))).toEqual(expected);
  });

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
});

describe('a database that may be on another machine', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startWithTls('elsewhere');
  });
  afterAll(() => server.end());

  it.each([
    ['without TLS', () => freshDatabase()],
    ['with a certificate of an unknown authority', async () => server.url('postgres')],
  ])('is rejected %s, and the error names host and options but no password', async (_, url) => {
    const { code, message, all } = await refusal(at(await url(), elsewhere));
    expect(code).toBe('store_unreachable');
    for (const part of [
      elsewhere,
      'sslmode=verify-full',
      'sslmode=require',
      'sslmode=disable',
      'sslrootcert',
    ])
      expect(message).toContain(part);
    expect(all).not.toContain(secured.password);
  });

  it('is rejected with a certificate of another name', async () => {
    const { code, message } = await refusal(
      at(server.url('postgres'), elsewhere, `?sslrootcert=${path('elsewhere.cert.pem')}`),
    );
    expect([code, message]).toEqual([
      'store_unreachable',
      expect.stringMatching(/certificate of 127\.1 cannot be verified .*altnames/),
    ]);
  });

  it.each([
    ['sslmode=require', [true]],
    ['sslmode=disable', [false]],
  ])('is connected with %s', async (query, expected) => {
    const url = server.url('postgres').replace('127.0.0.1', elsewhere);
    expect(await encrypted(`${url}?${query}`)).toEqual(expected);
  });

  it('verify-full checks the name in the certificate, verify-ca does not', async () => {
    const url = (mode: string) =>
      `${server.url('postgres')}?sslmode=${mode}&sslrootcert=${path('elsewhere.cert.pem')}`;
    expect(await encrypted(url('verify-ca'))).toEqual([true]);
    await expect(openStore(url('verify-full'))).rejects.toMatchObject({
      code: 'store_unreachable',
    });
  });

  it('is rejected with the same explanation by a migration and a copy', async () => {
    const url = at(await freshDatabase(), elsewhere);
    const explained = {
      code: 'store_unreachable',
      message: expect.stringMatching(/127\.1 refuses TLS.*sslmode=disable/),
    };
    await expect(migrateDatabase(url, { dryRun: true })).rejects.toMatchObject(explained);
    await expect(copyStore(url, await temporaryFolder())).rejects.toMatchObject(explained);
  });
});

describe('a database on this machine', () => {
  it.each(['', '?sslmode=prefer'])('is connected without TLS (%s)', async (query) => {
    const store = await openStore(at(await freshDatabase(), '127.0.0.1', query));
    await store.ready();
    await store.close();
  });

  it.each(['require', 'verify-full'])('is rejected without TLS with sslmode=%s', async (mode) => {
    const { code, message } = await refusal(
      at(await freshDatabase(), '127.0.0.1', `?sslmode=${mode}`),
    );
    expect(code).toBe('store_unreachable');
    expect(message).toMatch(/127\.0\.0\.1 refuses TLS.*sslmode=disable/);
  });
});

describe('a server that answers the TLS request', () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.close();
    vi.unstubAllEnvs();
  });

  /** Listens in place of a database. Returns its URL and all bytes received. */
  async function listener(answer: Buffer) {
    const heard: Buffer[] = [];
    server = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (data) => {
        heard.push(data);
        // Unencrypted: asks for the password.
        socket.write(data.equals(sslRequest) ? answer : askForPassword);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return {
      url: `postgres://x:1@127.0.0.1:${(server.address() as { port: number }).port}/x`,
      heard,
    };
  }

  it.each([
    ['with no', Buffer.from('N')],
    ['with an error', Buffer.from('E')],
    ['with yes and unencrypted data', Buffer.concat([Buffer.from('S'), askForPassword])],
  ])('%s receives nothing else', async (_, answer) => {
    const { url, heard } = await listener(answer);
    const { message } = await refusal(at(url, elsewhere));
    expect(message).toContain(`${elsewhere} refuses TLS`);
    expect(heard).toEqual([sslRequest]);
  });

  it('with no receives nothing else, whatever environment variables are set', async () => {
    const { url, heard } = await listener(Buffer.from('N'));
    const leaks = {
      PGSSLMODE: 'disable',
      PGSSLNEGOTIATION: 'direct',
      PGHOST: '127.0.0.1',
      PGHOSTADDR: '127.0.0.1',
      PGPORT: '1',
      PGUSER: 'other',
      PGPASSWORD: 'other',
      PGDATABASE: 'other',
      PGSERVICE: 'other',
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
    };
    for (const [name, value] of Object.entries(leaks)) vi.stubEnv(name, value);
    expect((await refusal(at(url, elsewhere))).message).toContain(`${elsewhere} refuses TLS`);
    expect(heard).toEqual([sslRequest]);
  });
});
