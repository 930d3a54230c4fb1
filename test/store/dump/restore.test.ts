import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { iso } from '../../../src/domain/clock.ts';
import { lineOf } from '../../../src/store/dump/dump.ts';
import { restoreDump } from '../../../src/store/dump/restore-dump.ts';
import { makeMemoryFileSystem } from '../../../src/store/json/disk/memory-file-system.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { restoreStore } from '../../../src/store/maintenance/restore.ts';
import { FailingDisk } from '../../faults/disk/failing-disk.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { inDatabase } from '../../support/postgres/in-database.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { inStore } from '../../support/service/in-store.ts';
import { contentsOf as filesIn } from '../json/store-folder.ts';
import { add, bytesOf, streamOf, targetOn } from './backup-load.ts';
import { contentsOf, sampleFolder } from './sample-store.ts';

const clock = new ManualClock();
const thisFile = fileURLToPath(import.meta.url);
const folder = async () => join(await temporaryFolder(), 'data');
const places = [
  ['a data folder', folder],
  ['a database', freshDatabase],
] as const;

const backupOf = (location: string) =>
  inStore(location, async (store) => bytesOf(await store.backup()), { clock });

let small: Buffer;
let original: string;
let contents: object;
beforeAll(async () => {
  ({ original, contents } = await sampleFolder(clock));
  const store = await openStore('memory:', { clock });
  for (let number = 1; number <= 3; number++) await add(store, clock, number);
  small = Buffer.from(await bytesOf(await store.backup()));
  await store.close();
});

/** The lines of the small dump, with their line feeds. */
const lines = (): string[] => small.toString().match(/.*\n/g) ?? [];

// biome-ignore lint/suspicious/noExplicitAny: a record of any section
const change = (number: number, how: (record: any) => object) =>
  lines().map((line, at) =>
    at === number - 1 ? lineOf(JSON.stringify(how(JSON.parse(line.slice(9))))) : line,
  );

/** The number of the first line of a section. */
const lineIn = (section: string) =>
  1 + lines().findIndex((line) => line.slice(9).startsWith(`{"section":"${section}"`));

/** Expects a refusal that names this line and reason, and an untouched target. */
async function expectRefused(dump: readonly string[], line: number, reason: string) {
  const parent = await temporaryFolder();
  const restoring = restoreStore(streamOf(Buffer.from(dump.join(''))), join(parent, 'data'), {
    clock,
    name: 'monday.dump',
  });
  await expect(restoring, reason).rejects.toMatchObject({
    code: 'backup_unusable',
    message: expect.stringContaining(
      `monday.dump cannot be used as a backup: line ${line}: ${reason}`,
    ),
  });
  expect(await readdir(parent)).toEqual([]);
}

describe.each(places)('restoreStore into %s', (_, place) => {
  it.each(places)(
    'restores the backup of %s, whose next backup has the same bytes',
    async (...row) => {
      const [, from] = row;
      const source = await from();
      await restoreStore(streamOf(await backupOf(original)), source, { clock });
      const backup = await backupOf(source);
      const to = await place();
      const { at, counts } = await restoreStore(streamOf(backup), to, { clock });
      expect([at, counts.batches]).toEqual([iso(clock.now()), 152]);
      expect(await backupOf(to)).toEqual(backup);
      expect(await inStore(to, contentsOf, { clock })).toEqual(contents);
    },
  );

  it('refuses a damaged dump, and leaves nothing', async () => {
    const to = await place();
    const [first, ...rest] = lines();
    const dump = [first, ...rest.slice(0, -3), ...rest.slice(-2)].join('');
    await expect(restoreStore(streamOf(Buffer.from(dump)), to, { clock })).rejects.toMatchObject({
      code: 'backup_unusable',
    });
    if (to.startsWith('postgres'))
      for (const table of ['venues', 'batches', 'server'])
        expect(await inDatabase(to, (sql) => sql(`SELECT FROM signage.${table}`))).toHaveLength(
          table === 'server' ? 1 : 0,
        );
    else expect(await readdir(join(to, '..'))).toEqual([]);
    await restoreStore(streamOf(small), to, { clock });
  });
});

describe('restoreStore', () => {
  it('refuses a non-empty folder, and changes nothing', async () => {
    const own = await temporaryFolder();
    await writeFile(join(own, 'notes.txt'), 'mine');
    await expect(restoreStore(streamOf(small), own)).rejects.toMatchObject({
      code: 'folder_not_empty',
      message: expect.stringContaining('is not empty (notes.txt)'),
    });
    expect(await filesIn(own)).toEqual({ 'notes.txt': 'mine' });
  });

  it('refuses the folder of a running store', async () => {
    const running = await temporaryFolder();
    const store = await openStore(running, { clock });
    await expect(restoreStore(streamOf(small), running)).rejects.toMatchObject({
      code: 'store_locked',
    });
    await store.close();
  });

  it('refuses every changed line, and names it', async () => {
    for (const [at, line] of lines().entries()) {
      const bytes = Buffer.from(line);
      const place = at % (bytes.length - 1);
      bytes[place] = (bytes[place] ?? 0) ^ 1;
      const dump: string[] = lines();
      dump[at] = bytes.toString('latin1');
      await expectRefused(dump, at + 1, 'it');
    }
  });

  it('refuses a dump that is cut short at any line or within one, and names the line', async () => {
    for (let kept = 0; kept < lines().length; kept += 3) {
      const whole = lines().slice(0, kept);
      await expectRefused(whole, kept + 1, 'the dump ends here, without its last line');
      const next = lines()[kept] as string;
      await expectRefused([...whole, next.slice(0, -1)], kept + 1, 'it is cut short');
    }
  });

  it.each<[string, () => readonly string[], () => number, reason: string]>([
    ['another text', () => ['PK\u0003\u0004\n'], () => 1, 'it does not begin with a checksum'],
    ['other JSON', () => [lineOf('{"a":1}')], () => 1, 'it is not the first line of a dump'],
    ['no JSON', () => [lineOf('{')], () => 1, 'it is not JSON'],
    [
      'another format',
      () => change(1, ({ dump }) => ({ dump: { ...dump, format: 3 } })),
      () => 1,
      'the first line is not valid: format',
    ],
    ['no head', () => lines().slice(1), () => 1, 'it is not the first line of a dump'],
    ['no record of the server', () => lines().toSpliced(1, 1), () => 2, 'the record of the server'],
    [
      'an unknown section',
      () => change(3, (record) => ({ ...record, section: 'films' })),
      () => 3,
      'it has no section that this version knows',
    ],
    [
      'an unknown member of a row',
      () =>
        change(lineIn('venues'), ({ row }) => ({
          section: 'venues',
          row: { ...row, owner: 1 },
        })),
      () => lineIn('venues'),
      'the record of venues is not valid',
    ],
    [
      'a member of another type',
      () =>
        change(lineIn('venues'), ({ row }) => ({
          section: 'venues',
          row: { ...row, name: 1 },
        })),
      () => lineIn('venues'),
      'the record of venues is not valid: name',
    ],
    [
      'events that are no array',
      () =>
        change(lineIn('batches'), ({ row }) => ({
          section: 'batches',
          row: { ...row, events: 1 },
        })),
      () => lineIn('batches'),
      'the record of batches is not valid: body',
    ],
    [
      'a record twice',
      () => lines().toSpliced(lineIn('venues'), 0, lines()[lineIn('venues') - 1] as string),
      () => lineIn('venues') + 1,
      'the record of venues is out of order, or is repeated',
    ],
    [
      'sections in another order',
      () => lines().toSpliced(lineIn('venues') - 1, 0, lines()[lineIn('screens') - 1] as string),
      () => lineIn('venues') + 1,
      'section venues is out of order',
    ],
    [
      'a unique key twice',
      () =>
        change(lineIn('venues'), ({ row }) => ({
          section: 'venues',
          row: { ...row, name: 'Venue 2' },
        })),
      () => lineIn('venues'),
      'one of the records up to line',
    ],
    [
      'a record left out',
      () => lines().toSpliced(lineIn('venues') - 1, 1),
      () => lines().length - 1,
      'the counts of the records differ',
    ],
    [
      'another row with a valid checksum',
      () =>
        change(lineIn('venues'), ({ row }) => ({
          section: 'venues',
          row: { ...row, name: 'Other' },
        })),
      () => lines().length,
      'the SHA-256 of the dump differs',
    ],
    [
      'two ends',
      () => [...lines(), ...lines().slice(-1)],
      () => lines().length + 1,
      'something stands after the end',
    ],
    [
      'a day that is a path',
      () =>
        change(lineIn('impressions'), ({ section, row }) => ({
          section,
          row: { ...row, day: '2026-11-20/../../../new' },
        })),
      () => lineIn('impressions'),
      'the record of impressions is not valid: day',
    ],
  ])('refuses a dump with %s', async (_what, dump, line, reason) => {
    await expectRefused(dump(), line(), reason);
  });

  it('keeps an existing folder and its empty subfolders when it fails', async () => {
    const own = await temporaryFolder();
    await mkdir(join(own, 'documents'));
    const half = small.subarray(0, small.length / 2);
    await expect(restoreStore(streamOf(half), own)).rejects.toThrow();
    expect(await readdir(own)).toEqual(['documents']);
    expect((await restoreStore(streamOf(small), own)).counts.venues).toBe(3);
  });

  it.each([
    ['a folder that cannot be made', '/proc/no-such-folder/data'],
    ['a folder below a file', join(thisFile, 'data')],
    ['a file', thisFile],
  ])('store_unusable for %s', async (_what, path) => {
    await expect(restoreStore(streamOf(small), path)).rejects.toMatchObject({
      code: 'store_unusable',
    });
  });

  it('leaves no file when any operation of the disk fails', { timeout: 60_000 }, async () => {
    const run = async (number: number) => {
      const failing = new FailingDisk();
      const memory = makeMemoryFileSystem();
      failing.failAt(number, 'ENOSPC');
      const target = targetOn(failing.over(memory), 'data', clock);
      const error = await restoreDump(streamOf(small), target).then(
        () => undefined,
        (failed: Error) => failed,
      );
      const names = ['', '/documents', '/audit', '/events', '/journal'];
      const left = (await Promise.all(names.map((name) => memory.list(`data${name}`))))
        .flat()
        .filter((name) => !names.includes(`/${name}`));
      return { operation: failing.operations[number - 1], error, left };
    };
    for (let number = 1; ; number++) {
      const { operation, error, left } = await run(number);
      if (operation === undefined) break;
      if (error) expect(left, operation).toEqual([]);
    }
  });
});
