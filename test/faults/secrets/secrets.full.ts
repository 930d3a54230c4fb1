// Places in which a service on a database, or one that is killed, could leave secrets.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { s3Credentials } from '../../support/network/s3-server.ts';
import { inDatabase } from '../../support/postgres/in-database.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { secured } from '../../support/postgres/postgres-server.ts';
import { checkout, endProcesses, startProcess } from '../../support/process/signage-process.ts';
import { adminToken } from '../../support/service/service.ts';
import { filesIn, type Place, type Search, searchPlaces, searchSecrets } from './checker.ts';
import { runCommands } from './run-commands.ts';
import { Sentinels } from './sentinels.ts';

afterEach(endProcesses);

function tell(name: string, { places, bytes, secrets, found }: Search): void {
  console.log(
    `secrets, ${name}: ${secrets} secrets in ${places} places of ${(bytes / 1e6).toFixed(1)} MB: ${found.length} found`,
  );
  for (const line of found) console.log(`  ${line}`);
  expect(found).toEqual([]);
}

/** Returns all rows of all tables, and the activity that the server shows. */
function dumped(url: string): Promise<Place[]> {
  return inDatabase(url, async (sql) => {
    const tables = await sql(`
      SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS name FROM pg_tables
      WHERE schemaname NOT IN ('pg_catalog', 'information_schema') UNION ALL SELECT 'pg_stat_activity'`);
    const places: Place[] = [];
    for (const { name } of tables) {
      const rows = await sql(
        `SELECT row_to_json(whole_row)::text AS row FROM ${name} AS whole_row`,
      );
      places.push({ where: `the table ${name}`, contents: rows.map(({ row }) => row).join('\n') });
    }
    return places;
  });
}

it('PostgreSQL', async () => {
  const url = await freshDatabase();
  const store = new URL(url);
  [store.username, store.password] = [secured.user, encodeURIComponent(secured.password)];
  const secrets = { 'the password of the database': secured.password };
  tell(
    'PostgreSQL',
    await searchSecrets({
      store: store.href,
      secrets,
      contents: () => dumped(url),
      also: runCommands,
    }),
  );
});

/** Returns the arguments of a process and its children, which all users of the machine can read. */
async function argumentsOf(pid: number): Promise<string[]> {
  const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => []);
  const children = await Promise.all(
    tasks.map(async (task) => (await read(`task/${task}/children`)).split(' ').filter(Boolean)),
  );
  const below = await Promise.all(children.flat().map((child) => argumentsOf(Number(child))));
  return [`${await read('cmdline')} ${await read('comm')}`, ...below.flat()];
}

it.skipIf(process.platform !== 'linux')('a process (skipped where there is no /proc)', async () => {
  const folder = await temporaryFolder();
  const sentinels = new Sentinels();
  const env = {
    SIGNAGE_ADMIN_TOKEN: sentinels.add('the admin token', adminToken),
    SIGNAGE_METRICS_TOKEN: sentinels.add('the metrics token', 'canary-of-the-metrics-3b7e'),
    SIGNAGE_ON_DEMAND_URL: 'http://127.0.0.1:1/{screenId}',
    SIGNAGE_ON_DEMAND_TOKEN: sentinels.add(
      'the token of the on-demand source',
      'canary-of-the-source-91aa',
    ),
    SIGNAGE_OBJECT_STORE: 's3://bucket/copies?endpoint=http://127.0.0.1:1',
    AWS_ACCESS_KEY_ID: s3Credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: sentinels.add(
      'the secret of the object store',
      s3Credentials.secretAccessKey,
    ),
    XDG_CONFIG_HOME: join(folder, 'settings'),
  };
  const options = '--port 0 --demo --no-context --log-level debug'.split(' ');
  const argv = [join(checkout, 'bin/signage.js'), 'serve', ...options];
  const service = startProcess(argv, { cwd: folder, env });
  await service.until(/Try: /);
  const told = await argumentsOf(service.pid);
  expect(told.join()).toContain('serve');
  service.signal('SIGABRT');
  await service.ended;
  const contents = `${service.out()}\n${service.err()}`;
  const places: Place[] = [
    ...(await filesIn(folder)),
    { where: 'what it said', contents },
    { where: 'its arguments', contents: told.join('\n') },
  ];
  tell('a process that is aborted', searchPlaces(sentinels, places));
});
