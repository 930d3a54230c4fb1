import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { inDatabase } from '../../support/postgres/in-database.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { adminToken, startService } from '../../support/service/service.ts';
import { keyFile, listed, startSeller, verified } from '../../support/statements/seller.ts';
import { cliOf, runCli } from '../run-cli.ts';

const seed = Buffer.alloc(32, 7);
/** Parts of the key that no encoding of it lacks. */
const secrets = [seed.toString('base64').slice(4, 30), seed.toString('hex'), 'PRIVATE+KEY'];

/** Returns the texts of all files in a folder, or of all tables of a database. */
async function contentsOf(store: string): Promise<string> {
  if (!store.startsWith('postgres')) {
    const files = await readdir(store, { recursive: true, withFileTypes: true });
    const texts = files
      .filter((file) => file.isFile())
      .map((file) => readFile(join(file.parentPath, file.name), 'latin1'));
    return (await Promise.all(texts)).join('\n');
  }
  return inDatabase(store, async (sql) => {
    const tables = await sql(
      "select format('%I.%I', table_schema, table_name) as name from information_schema.tables where table_schema not in ('pg_catalog', 'information_schema')",
    );
    const texts: string[] = [];
    for (const { name } of tables) texts.push(JSON.stringify(await sql(`select * from ${name}`)));
    return texts.join('\n');
  });
}

describe.each([
  ['a data folder', async () => join(await temporaryFolder(), 'data')],
  ['a database', freshDatabase],
])('signage statement with %s', (_, place) => {
  let store: string;
  let folder: string;
  let key: string;
  let backup: string;
  const written: string[] = [];
  const note = (level: string) => (fields: object, text?: string) =>
    void written.push(JSON.stringify([level, fields, text]));
  const log = {
    debug: note('debug'),
    info: note('info'),
    warn: note('warn'),
    error: note('error'),
  };
  const options = () => ({ store, statementKeyFile: key, log, clock: systemClock });
  const dayBefore = (days: number) =>
    new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

  /** Starts the service on the store, which seals what is due at once. */
  async function started(count: number, at = store) {
    const service = await startService({ ...options(), store: at });
    const cli = cliOf(service, adminToken);
    const admin = { get: (path: string) => service.manage('GET', path) };
    await expect.poll(async () => (await listed(admin)).items.length).toBe(count);
    return { service, cli, admin };
  }

  beforeAll(async () => {
    store = await place();
    key = await keyFile();
    folder = await temporaryFolder();
    backup = join(folder, 'backup.dump');
    const seller = await startSeller(options());
    await seller.play(...[8, 7, 7].map((days) => `${dayBefore(days)}T12:00:00Z`));
    const cli = cliOf(seller.service, adminToken);
    const { code, json } = await cli([
      ...['statement', 'start', '--campaign', 'summer', '--from', dayBefore(8), '-o', 'json'],
      ...['--settle', '0', '--to', dayBefore(6)],
    ]);
    expect([code, json.number]).toEqual([0, 0]);
    await seller.service.close();
  });

  it('exports what was sealed, and a buyer verifies it with the key', async () => {
    const { service, cli } = await started(2);
    const list = await cli(['statement', 'list', '--campaign', 'summer', '-o', 'json']);
    expect(list.json.map(({ plays }: { plays: number }) => plays)).toEqual([1, 2]);
    const got = await cli(['statement', 'get', 'summer', '2', '-o', 'json']);
    expect(got.json).toEqual(list.json[1]);
    expect((await cli(['statement', 'get', 'summer', '3'])).code).toBe(3);
    const files = [1, 2].map((number) => `summer.${dayBefore(9 - number)}.${number}`);
    const all = await cli(['statement', 'export', '--campaign', 'summer', '--out', folder]);
    expect([all.code, (await readdir(folder)).toSorted()]).toEqual([
      0,
      files.flatMap((file) => [`${file}.ndjson`, `${file}.note`]),
    ]);
    const again = await cli(['statement', 'export', '--campaign', 'summer', '--out', folder]);
    expect([again.code, again.stderr]).toEqual([0, '']);
    const vkey = (await cli(['statement', 'key', '-o', 'json'])).json[0].key;
    const notes = files.map((file) => join(folder, `${file}.note`));
    const verify = await runCli(['statement', 'verify', ...notes, '--key', vkey]);
    expect([verify.code, verify.stdout]).toEqual([0, expect.stringContaining('nothing')]);
    expect((await cli(['data', 'backup', '--out', backup])).code).toBe(0);
    await service.close();
  });

  it('has the key in no store, backup, log or answer', async () => {
    const { service, admin } = await started(2);
    const answers = ['/v1/statements', '/v1/audit', '/v1/statements?campaign=summer'];
    const texts = await Promise.all(answers.map(async (path) => (await admin.get(path)).text));
    await service.close();
    texts.push(written.join('\n'), await readFile(backup, 'latin1'), await contentsOf(store));
    const all = texts.join('\n');
    expect(all).toContain('statement.seal');
    for (const secret of secrets) expect(all).not.toContain(secret);
  });

  it('is paused after a restore, and goes on after the newest statement only', async () => {
    // The original seals a third day, which the backup does not have.
    const original = await started(2);
    await original.cli([
      'statement',
      'start',
      '--campaign',
      'summer',
      '--settle',
      '0',
      '--to',
      dayBefore(5),
    ]);
    await original.service.close();
    const { service, cli, admin } = await started(3);
    await cli(['statement', 'export', '--campaign', 'summer', '--out', folder]);
    const before = await verified(admin);
    await service.close();

    const copy = await place();
    const isDatabase = copy.startsWith('postgres');
    const restored = await runCli(
      ['data', 'restore', backup, ...(isDatabase ? [] : ['--data', copy])],
      isDatabase ? { env: { SIGNAGE_STORE: copy } } : {},
    );
    expect(restored.code, restored.stderr).toBe(0);
    await releaseWatch(copy);
    const second = await started(2, copy);
    const list = await second.cli(['statement', 'list']);
    expect(list.stderr).toContain('A backup was restored');
    await second.cli(['statement', 'start', '--campaign', 'summer', '--settle', '0']);
    const resume = (days: number, number: number) =>
      second.cli([
        ...['statement', 'resume', '-o', 'json', '--last'],
        join(folder, `summer.${dayBefore(days)}.${number}.note`),
      ]);
    const old = await resume(8, 1);
    expect([old.code, old.stderr]).toEqual([6, expect.stringContaining('up to number 2')]);
    const same = await resume(7, 2);
    expect([same.code, same.json.number, same.json.problem]).toEqual([0, 2, null]);
    const newest = await resume(6, 3);
    expect([newest.code, newest.json.number, newest.json.nextDay]).toEqual([0, 3, dayBefore(5)]);
    await second.service.close();

    // It seals the rest at its next start.
    const third = await startService({ ...options(), store: copy });
    const reader = { get: (path: string) => third.manage('GET', path) };
    await expect.poll(async () => (await listed(reader)).items.length).toBeGreaterThan(5);
    const { items } = await listed(reader);
    expect(items.map(({ number }) => number)).toEqual(items.map((_item, place) => place + 1));
    expect(items.slice(0, 3).map(({ note: text }) => text)).toEqual(
      (await noteTexts(folder)).slice(0, 3),
    );
    expect(items[3]?.note).toContain('incomplete: plays may be missing');
    expect(items[3]?.note).toContain(`previous: ${before[2]?.hash}`);
    await third.close();
  });
});

/** Ends the watch of the original, which a backup has with it, so that a copy watches at once. */
async function releaseWatch(place: string): Promise<void> {
  const store = await openStore(place, { clock: systemClock });
  await store.write(async (tx) => {
    const watch = await tx.get('watches', 'watch');
    if (watch) await tx.put('watches', { ...watch, holder: '' });
  });
  await store.close();
}

/** The exported heads, in the order of their numbers. */
async function noteTexts(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.note')).toSorted();
  return Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
}
