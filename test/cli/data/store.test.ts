import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { inDatabase } from '../../support/postgres/in-database.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { adminToken } from '../../support/service/service.ts';
import { type CliOptions, runCli } from '../run-cli.ts';

/** A database URL with a password; the database accepts any password. */
async function withPassword(): Promise<string> {
  const url = new URL(await freshDatabase());
  url.password = 's3cret';
  return url.href;
}

/** Runs signage serve until it is ready, then stops it. */
const serve = (argv: string[], options: CliOptions = {}) =>
  runCli(['serve', '--port', '0', ...argv], {
    ...options,
    async during(io) {
      await io.until(/Try: |signage: /);
      await options.during?.(io);
      io.signal('SIGTERM');
    },
  });

describe('signage serve --store postgres://…', () => {
  it('reads the URL from SIGNAGE_STORE, and prints it without the password', async () => {
    const url = await withPassword();
    const run = await serve([], { env: { SIGNAGE_STORE: url, SIGNAGE_ADMIN_TOKEN: adminToken } });
    expect(run.code, run.stderr).toBe(0);
    expect(run.stdout).toContain(`Data       ${url.replace(':s3cret', '')}`);
    expect(run.stdout + run.stderr).not.toContain('s3cret');
    expect(run.stderr).not.toContain('password');
    expect(
      await inDatabase(url, (sql) => sql('SELECT count(*)::integer AS found FROM signage.tokens')),
    ).toEqual([{ found: 1 }]);
  });

  it('reads the URL from a file', async () => {
    const file = join(await temporaryFolder(), 'url');
    await writeFile(file, `${await withPassword()}\n`, { mode: 0o600 });
    const run = await serve(['--store-file', file, '--database-pool-size', '3'], {
      env: { SIGNAGE_ADMIN_TOKEN: adminToken },
    });
    expect(run.code, run.stderr).toBe(0);
    expect(run.stdout + run.stderr).not.toContain('s3cret');
  });

  it('reads the URL from the command line, and warns of a password', async () => {
    const env = { SIGNAGE_ADMIN_TOKEN: adminToken };
    const url = await withPassword();
    const warned = await serve(['--store', url], { env });
    expect([warned.code, warned.stderr]).toEqual([
      0,
      expect.stringContaining('The database password is in the command line'),
    ]);
    expect(warned.stdout + warned.stderr).not.toContain('s3cret');
    expect((await serve(['--store', url.replace(':s3cret', '')], { env })).stderr).not.toContain(
      'password',
    );
  });

  it('shows the first token at a terminal, and stores it nowhere else', async () => {
    const store = await freshDatabase();
    const first = await serve([], { tty: true, env: { SIGNAGE_STORE: store } });
    expect(first.stdout).toMatch(/mak_[0-9A-Za-z]{49}/);
    const again = await serve([], { env: { SIGNAGE_STORE: store } });
    expect([again.code, again.stdout]).toEqual([0, expect.not.stringContaining('mak_')]);
  });

  it('2 for a first start without a terminal and a token, and starts nothing', async () => {
    const store = await freshDatabase();
    const run = await serve([], { env: { SIGNAGE_STORE: store } });
    expect([run.code, run.stderr]).toEqual([2, expect.stringContaining('SIGNAGE_ADMIN_TOKEN')]);
    expect(
      await inDatabase(store, (sql) =>
        sql('SELECT count(*)::integer AS found FROM signage.tenants'),
      ),
    ).toEqual([{ found: 0 }]);
  });

  it('7 for an unreachable database, printed without its password', async () => {
    const run = await serve([], {
      env: {
        SIGNAGE_STORE: 'postgres://me:s3cret@127.0.0.1:1/nothing',
        SIGNAGE_ADMIN_TOKEN: adminToken,
      },
    });
    expect([run.code, run.stderr]).toEqual([
      7,
      expect.stringContaining('postgres://me@127.0.0.1:1/nothing cannot be reached'),
    ]);
    expect(run.stderr).not.toContain('s3cret');
  });
});

describe('signage store migrate', () => {
  const migrate = (url: string, ...argv: string[]) =>
    runCli(['store', 'migrate', ...argv], { env: { SIGNAGE_STORE: url } });
  const tables = (url: string) =>
    inDatabase(url, (sql) => sql(`SELECT to_regclass('signage.tenants') IS NOT NULL AS there`));

  it('--dry-run lists the steps; then it runs them, and finds none left', async () => {
    const url = await freshDatabase();
    await inDatabase(url, (sql) => sql('DROP SCHEMA signage CASCADE'));
    const planned = await migrate(url, '--dry-run', '-o', 'json');
    expect([planned.code, planned.json[0], planned.stderr]).toEqual([
      0,
      { step: 'schema.sql' },
      'Pending steps:\n',
    ]);
    expect(await tables(url)).toEqual([{ there: false }]);
    const made = await migrate(url);
    expect([made.code, made.stdout, made.stderr]).toEqual([
      0,
      expect.stringContaining('schema.sql'),
      'Completed steps:\n',
    ]);
    expect(await tables(url)).toEqual([{ there: true }]);
    const again = await migrate(url, '-o', 'name');
    expect([again.code, again.stdout, again.stderr]).toEqual([
      0,
      '',
      'The schema is up to date.\n',
    ]);
  });

  it('warns of a password in the command line, and does not repeat it', async () => {
    const url = new URL(await freshDatabase());
    url.password = 's3cret';
    const run = await runCli(['store', 'migrate', '--store', url.href]);
    expect([run.code, run.stderr]).toEqual([
      0,
      expect.stringContaining('The database password is in the command line'),
    ]);
    expect(run.stdout + run.stderr).not.toContain('s3cret');
  });

  it('7 for an unreachable database', async () => {
    expect((await migrate('postgres://me@127.0.0.1:1/nothing')).code).toBe(7);
  });
});
