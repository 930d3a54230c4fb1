import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import { copyBetween } from '../../../src/store/copy/copy-between.ts';
import { copyStore, planCopy } from '../../../src/store/copy/copy-store.ts';
import type { StoreSource, StoreTarget } from '../../../src/store/copy/transfer.ts';
import { openFolderSource } from '../../../src/store/json/copy/folder-source.ts';
import { FolderTarget, openFolderTarget } from '../../../src/store/json/copy/folder-target.ts';
import { nodeFileSystem } from '../../../src/store/json/disk/file-system.ts';
import { openStore } from '../../../src/store/open.ts';
import { openDatabaseSource } from '../../../src/store/postgres/copy/database-source.ts';
import { openDatabaseTarget } from '../../../src/store/postgres/copy/database-target.ts';
import { faultyDisk } from '../../support/disk/faulty-disk.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { inDatabase } from '../../support/postgres/in-database.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { inStore } from '../../support/service/in-store.ts';
import { venueRow } from '../sample-rows.ts';
import { contentsOf, interruptCopy, sampleFolder } from './sample-store.ts';

const clock = new ManualClock();
const stepSize = 40;
const folder = async () => join(await temporaryFolder(), 'data');
const injectedError = new Error('injected');

/** The call after `calls` calls throws. */
function failing(calls: number) {
  let left = calls;
  return () => {
    if (left-- === 0) throw injectedError;
  };
}

/** A target that fails before or after accepting records. */
function failingTarget(target: StoreTarget, calls: number, when: 'before' | 'after'): StoreTarget {
  const step = failing(calls);
  return decorateStore(target, {
    async accept(section, records) {
      if (when === 'before') step();
      await target.accept(section, records);
      if (when === 'after') step();
    },
    async complete(section) {
      await target.complete(section);
      step();
    },
    async finish() {
      step();
      await target.finish();
      step();
    },
  });
}

async function attempt(
  source: StoreSource,
  target: StoreTarget,
  wrapped: StoreTarget,
): Promise<'done' | 'broken off'> {
  try {
    await target.begin(source);
    const compared = await copyBetween(source, wrapped, { stepSize });
    expect(compared.filter(({ same }) => !same)).toEqual([]);
    return 'done';
  } catch (error) {
    if (error !== injectedError) throw error;
    return 'broken off';
  } finally {
    await target.close();
  }
}

let original: string;
let contents: object;
beforeAll(async () => {
  ({ original, contents } = await sampleFolder(clock));
});

const contentsAt = (location: string) => inStore(location, contentsOf, { clock });

describe('an interrupted copy', () => {
  it.each([
    ['a data folder', folder, (to: string) => openFolderTarget(to, clock), freshDatabase],
    ['a database', freshDatabase, openDatabaseTarget, folder],
  ])('resumes after each step, and %s cannot be opened before the end', async (...row) => {
    const [, place, open, sourcePlace] = row;
    const to = await place();
    const from = await sourcePlace();
    await copyStore(original, from, { clock });
    const source = await (from.startsWith('postgres') ? openDatabaseSource : openFolderSource)(
      from,
    );
    let attempts = 0;
    for (let outcome = 'broken off'; outcome !== 'done'; attempts++) {
      const target = await open(to);
      outcome = await attempt(
        source,
        target,
        failingTarget(target, 1 + attempts, attempts % 2 === 0 ? 'before' : 'after'),
      );
      if (outcome === 'done') break;
      await expect(openStore(to, { clock })).rejects.toMatchObject({
        code: 'copy_unfinished',
        message: expect.stringContaining('signage store copy'),
      });
    }
    await source.close();
    expect(attempts).toBeGreaterThan(5);
    expect(await contentsAt(to)).toEqual(contents);
  });

  it('resumes after any failed disk operation of a data folder', async () => {
    const to = await folder();
    await nodeFileSystem.makeDirectory(to);
    const source = await openFolderSource(original);
    for (let nth = 3; ; nth += 7) {
      const disk = faultyDisk(nodeFileSystem);
      const step = failing(nth);
      disk.fault = (operation) =>
        void (['write', 'rename', 'datasync'].includes(operation) && step());
      const target = new FolderTarget(
        { disk, directory: to, clock, lowWaterBytes: 0, warn: () => {} },
        async () => {},
      );
      const outcome = await attempt(source, target, target).catch((error: Error) => error);
      if (outcome === 'done') break;
    }
    await source.close();
    expect(await contentsAt(to)).toEqual(contents);
  });

  it('ends as interrupted on request, and copyStore resumes it', async () => {
    const to = await freshDatabase();
    const interruption = new AbortController();
    const onProgress = (_: string, section: string) =>
      void (section === 'screens' && interruption.abort());
    await expect(
      copyStore(original, to, { onProgress, signal: interruption.signal }),
    ).rejects.toMatchObject({ code: 'interrupted' });
    const planned = await planCopy(original, to);
    expect(planned.find(({ section }) => section === 'batches')).toEqual({
      section: 'batches',
      records: 152,
      copied: 152,
    });
    expect(planned.find(({ section }) => section === 'marks')).toEqual({
      section: 'marks',
      records: 2,
      copied: 0,
    });
    const told: string[] = [];
    await copyStore(original, to, {
      onResume: () => told.push('resumed'),
      onProgress: (what, section) => told.push(`${what} ${section}`),
    });
    expect([told[0], told]).toEqual(['resumed', expect.not.arrayContaining(['copying batches'])]);
    expect(await contentsAt(to)).toEqual(contents);
  });

  it('resumes after the database was unavailable', async () => {
    const to = await freshDatabase();
    const source = await openFolderSource(original);
    const target = await openDatabaseTarget(to);
    await target.begin(source);
    const cut = decorateStore(target, {
      async accept(section, records) {
        const others = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;
        if (section === 'devices') await inDatabase(to, (sql) => sql(others));
        await target.accept(section, records);
      },
    });
    await expect(copyBetween(source, cut)).rejects.toMatchObject({ code: 'unavailable' });
    await target.close();
    await source.close();
    const resumed: string[] = [];
    await copyStore(original, to, { onResume: () => void resumed.push('resumed') });
    expect(resumed).toEqual(['resumed']);
    expect(await contentsAt(to)).toEqual(contents);
  });

  it('is not resumed when the source has changed', async () => {
    const from = await folder();
    const to = await folder();
    await copyStore(original, from, { clock });
    await interruptCopy(from, to, clock);
    await inStore(from, (store) => store.write((tx) => tx.put('venues', venueRow(4))), { clock });
    for (const again of [copyStore, planCopy])
      await expect(again(from, to)).rejects.toMatchObject({
        code: 'store_not_empty',
        message: expect.stringContaining('has changed'),
      });
  });

  it('leaves a differing target unusable', async () => {
    const to = await folder();
    const source = await openFolderSource(original);
    const target = await openFolderTarget(to, clock);
    await target.begin(source);
    const lossy = decorateStore(target, {
      accept: (section, records) =>
        target.accept(section, section === 'audit' ? records.slice(1) : records),
    } as Partial<StoreTarget>);
    const compared = await copyBetween(source, lossy);
    expect(compared.filter(({ same }) => !same)).toEqual([
      expect.objectContaining({ section: 'audit', source: 7, target: 6 }),
    ]);
    await target.close();
    await source.close();
    await expect(openStore(to, { clock })).rejects.toMatchObject({ code: 'copy_unfinished' });
  });
});
