import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { hasPassword, isDatabaseUrl, publicUrl } from '../../../../src/domain/store-url.ts';
import { openStore } from '../../../../src/store/location/open.ts';
import { parseDatabaseUrl } from '../../../../src/store/postgres/connection/database-url.ts';
import { freshDatabase } from '../../../support/postgres/postgres.ts';
import { secured } from '../../../support/postgres/postgres-server.ts';

const ca = fileURLToPath(new URL('../../../../package.json', import.meta.url));
const ssl = (query: string, host = 'db.example') =>
  parseDatabaseUrl(`postgres://me@${host}/signage${query}`).ssl;

describe('the URL of a database', () => {
  it('is parsed into address and credentials', () => {
    expect(
      parseDatabaseUrl(
        'postgres://me:p%40ss%2Fword@db.example:6432/my%20data?sslmode=disable&application_name=tv',
      ),
    ).toEqual({
      host: 'db.example',
      port: 6432,
      database: 'my data',
      user: 'me',
      password: 'p@ss/word',
      ssl: false,
      applicationName: 'tv',
      isPooled: false,
    });
    expect(parseDatabaseUrl('postgresql://me@[::1]/signage')).toMatchObject({
      host: '::1',
      port: 5432,
      password: '',
      applicationName: 'signage',
    });
    expect(
      parseDatabaseUrl('postgres://me@localhost/signage?host=/var/run/postgresql'),
    ).toMatchObject({
      host: '/var/run/postgresql',
      ssl: false,
    });
  });

  it('supports the sslmode values of PostgreSQL', () => {
    expect(ssl('?sslmode=prefer')).toBe('prefer');
    expect(ssl('?sslmode=prefer', 'localhost')).toBe('prefer');
    expect(ssl('?sslmode=require')).toEqual({ rejectUnauthorized: false });
    expect(ssl('?sslmode=verify-full')).toEqual({ rejectUnauthorized: true });
    expect(ssl('?sslmode=verify-full&sslrootcert=system')).toEqual({ rejectUnauthorized: true });
    const text = readFileSync(ca, 'utf8');
    expect(ssl(`?sslmode=verify-full&sslrootcert=${ca}`)).toEqual({
      rejectUnauthorized: true,
      ca: text,
    });
    for (const mode of ['require', 'verify-ca']) {
      const anyName = {
        rejectUnauthorized: true,
        ca: text,
        checkServerIdentity: expect.any(Function),
      };
      expect(ssl(`?sslmode=${mode}&sslrootcert=${ca}`)).toEqual(anyName);
    }
    expect(ssl('?sslmode=verify-ca')).toMatchObject({ checkServerIdentity: expect.any(Function) });
  });

  it.each(['localhost', 'LOCALHOST', '127.0.0.1', '127.9.9.9', '[::1]'])(
    'needs no TLS for %s, which is this machine',
    (host) => {
      expect(ssl('', host)).toBe(false);
      expect(ssl('?sslmode=verify-full', host)).toEqual({ rejectUnauthorized: true });
      expect(ssl(`?sslrootcert=${ca}`, host)).toMatchObject({ rejectUnauthorized: true });
    },
  );

  it.each([
    'db.example',
    'localhost.example',
    'db.localhost',
    'localhost.',
    '127.1',
    '127.0.0.1.example',
    '2130706433',
    '0.0.0.0',
    '[::]',
    '[::ffff:10.0.0.1]',
    '10.0.0.1',
  ])('verifies the certificate of %s by default', (host) => {
    expect(ssl('', host)).toEqual({ rejectUnauthorized: true });
    expect(ssl(`?sslrootcert=${ca}`, host)).toEqual({
      rejectUnauthorized: true,
      ca: readFileSync(ca, 'utf8'),
    });
    expect(ssl('?sslmode=disable', host)).toBe(false);
  });

  it('derives the default sslmode from the host that it connects to', () => {
    expect(ssl('?host=/var/run/postgresql', 'db.example')).toBe(false);
    expect(ssl('?host=db.example', 'localhost')).toEqual({ rejectUnauthorized: true });
  });

  it.each([
    ['postgres://', 'host'],
    ['postgres://me@db.example:0/signage', 'port'],
    ['postgres://me@localhost/signage?host=', 'host'],
    ['postgres://me:s3cret@db.example:port/signage', 'postgres://user:password@host'],
    ['postgres://me:s3cret@db.example', 'database'],
    ['postgres://me:s3cret@db.example/', 'database'],
    ['postgres://me:s3cret@db.example/a/b', 'database'],
    ['postgres://db.example/signage', 'user'],
    ['postgres://me:s3cret%@db.example/signage', '%25'],
    ['postgres://me:s3cret@db.example/signage?sslmode=maybe', 'verify-full'],
    ['postgres://me:s3cret@db.example/signage?sslmod=require', 'sslmod'],
    ['postgres://me:s3cret@db.example/signage?prepare=no', 'prepare'],
    ['postgres://me:s3cret@db.example/signage?sslmode=verify-ca&sslrootcert=/nowhere', '/nowhere'],
  ])('invalid_option for %s, without the password', (url, hint) => {
    expect(() => parseDatabaseUrl(url)).toThrow(
      expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining(hint) }),
    );
    expect(() => parseDatabaseUrl(url)).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('s3cret') }),
    );
  });

  it('is displayed without password and parameters', () => {
    expect(publicUrl('postgres://me:s3cret@db.example:5432/signage?sslmode=require')).toBe(
      'postgres://me@db.example:5432/signage',
    );
    expect(publicUrl('postgres://db.example/signage')).toBe('postgres://db.example/signage');
    expect(publicUrl('postgres://me:s3cret@:x')).toBe('postgres://…');
  });

  it('is recognized as a URL, not a folder, and with or without a password', () => {
    expect(
      ['postgres://x', 'postgresql://x', 'POSTGRES://x', 'postgres', './postgres:', 'memory:'].map(
        isDatabaseUrl,
      ),
    ).toEqual([true, true, true, false, false, false]);
    expect(
      ['postgres://a:b@c/d', 'postgres://a@c/d', 'postgres://a:b@:x'].map(hasPassword),
    ).toEqual([true, false, false]);
  });
});

describe('openStore with a URL', () => {
  const as = async (password: string) => {
    const url = new URL(await freshDatabase());
    [url.username, url.password] = [secured.user, encodeURIComponent(password)];
    return url.href;
  };

  it('sends its password to the database', async () => {
    const store = await openStore(await as(secured.password), { database: { poolSize: 2 } });
    await store.ready();
    await store.close();
  });

  it('explains an invalid URL without showing the password', async () => {
    const refused = openStore(await as('wr0ng'));
    await expect(refused).rejects.toMatchObject({
      code: 'store_unreachable',
      message: expect.stringContaining('authentication failed'),
    });
    const error = await refused.catch((one: Error) => one);
    for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
      expect(`${cause.stack} ${JSON.stringify(cause)}`).not.toContain('wr0ng');
    }
  });

  it('store_unreachable for a database that does not exist', async () => {
    const url = new URL(await freshDatabase());
    url.pathname = '/nothing';
    await expect(openStore(url.href)).rejects.toMatchObject({
      code: 'store_unreachable',
      message: expect.stringContaining('"nothing"'),
    });
  });

  it('names the unreachable address, with and without required TLS', async () => {
    for (const mode of ['prefer', 'require', 'disable']) {
      const refused = openStore(`postgres://me@127.0.0.1:1/signage?sslmode=${mode}`);
      await expect(refused).rejects.toMatchObject({
        code: 'store_unreachable',
        message: expect.stringContaining('127.0.0.1:1'),
      });
    }
    await expect(openStore('postgres://me@localhost:1/signage')).rejects.toMatchObject({
      message: expect.stringMatching(/REFUSED .*:1/),
    });
  });

  it.each([
    ['poolSize', 1],
    ['poolSize', 201],
    ['statementTimeoutSeconds', 0],
    ['lockTimeoutSeconds', 1.5],
  ])('invalid_option for a %s of %d', async (name, value) => {
    await expect(
      openStore('postgres://me@localhost/signage', { database: { [name]: value } }),
    ).rejects.toMatchObject({
      code: 'invalid_option',
    });
  });
});
