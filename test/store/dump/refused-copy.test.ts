import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { iso } from '../../../src/domain/clock.ts';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import { type DumpTarget, restoreDump } from '../../../src/store/dump/restore-dump.ts';
import { writeDump } from '../../../src/store/dump/write-dump.ts';
import { readFolder } from '../../../src/store/json/dump/folder-state.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { copyStore, planCopy } from '../../../src/store/maintenance/copy.ts';
import { contextOf } from '../../../src/store/maintenance/data-folder.ts';
import { openTarget } from '../../../src/store/maintenance/restore.ts';
import type { Store } from '../../../src/store/store.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { inDatabase } from '../../support/postgres/in-database.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { inStore } from '../../support/service/in-store.ts';
import { change, copyOf, contentsOf as filesIn, flipped, namesIn } from '../json/store-folder.ts';
import { batchOf, impression } from '../sample-batch.ts';
import { auditRow, tenantRow, venueRow } from '../sample-rows.ts';
import { contentsOf, sampleFolder } from './sample-store.ts';

const clock = new ManualClock();
const folder = async () => join(await temporaryFolder(), 'data');
const expectRefused = (copying: Promise<unknown>, code: string, message: string) =>
  expect(copying).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
const places = [
  ['a data folder', folder, 'folder_not_empty'],
  ['a database', freshDatabase, 'store_not_empty'],
] as const;

const within = <T>(location: string, work: (store: Store) => Promise<T>) =>
  inStore(location, work, { clock });

let original: string;
beforeAll(async () => {
  ({ original } = await sampleFolder(clock));
});

async function begun(location: string): Promise<string> {
  await within(location, (store) => store.write((tx) => tx.put('tenants', tenantRow(1))));
  return location;
}

describe.each(places)('copyStore with %s', (_, place, code) => {
  it('store_locked while a service runs on either side; its data stays', async () => {
    const location = await begun(await place());
    const store = await openStore(location, { clock });
    await expectRefused(copyStore(location, await folder(), { clock }), 'store_locked', 'in use');
    await expectRefused(copyStore(original, location, { clock }), 'store_locked', 'in use');
    await expectRefused(planCopy(location, await folder()), 'store_locked', 'in use');
    expect((await store.list('tenants', { limit: 9 })).items).toEqual([tenantRow(1)]);
    await store.close();
  });

  it('prevents a service start while it runs', async () => {
    const location = await place();
    const target = await openTarget(location, clock);
    await expectRefused(openStore(location, { clock }), 'store_locked', 'in use');
    await target.close();
    await (await openStore(location, { clock })).close();
  });

  it('refuses a target with data, which is not changed', async () => {
    const location = await begun(await place());
    const before = await within(location, contentsOf);
    for (const copy of [copyStore, planCopy])
      await expectRefused(copy(original, location), code, 'is not empty');
    expect(await within(location, contentsOf)).toEqual(before);
  });

  it('leaves nothing behind when it is interrupted, and succeeds the next time', async () => {
    const location = await place();
    const interruption = new AbortController();
    const options = { clock, signal: interruption.signal, onProgress: () => interruption.abort() };
    await expectRefused(copyStore(original, location, options), 'interrupted', 'Nothing');
    await planCopy(original, location);
    const { counts } = await copyStore(original, location, { clock });
    expect(counts.batches).toBe(152);
  });

  it('store_unusable for an empty source', async () => {
    const location = await place();
    if (location.startsWith('postgres'))
      await inDatabase(location, (sql) => sql('DELETE FROM signage.server'));
    await expectRefused(
      copyStore(location, await folder(), { clock }),
      'store_unusable',
      'holds no data',
    );
  });

  it('planCopy counts the records and changes nothing', async () => {
    const to = await place();
    const before = await filesIn(original);
    const planned = await planCopy(original, to);
    expect(planned).toMatchObject({ batches: 152, tokens: 2 });
    expect(await filesIn(original)).toEqual(before);
    if (to.startsWith('postgres'))
      expect(await inDatabase(to, (sql) => sql('SELECT FROM signage.batches'))).toEqual([]);
    else expect(await namesIn(join(to, '..'))).toEqual([]);
  });
});

describe('a failed copy', () => {
  it('leaves nothing when the connection to the database is lost, and succeeds the next time', async () => {
    const to = await freshDatabase();
    const others = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;
    let cut: Promise<unknown> | undefined;
    const onProgress = () => {
      cut ??= inDatabase(to, (sql) => sql(others));
    };
    await expect(copyStore(original, to, { clock, onProgress })).rejects.toMatchObject({
      code: 'unavailable',
    });
    await cut;
    expect(await inDatabase(to, (sql) => sql('SELECT FROM signage.batches'))).toEqual([]);
    expect((await copyStore(original, to, { clock })).counts.batches).toBe(152);
  });

  it.each(places)(
    'copy_differs for %s that does not hold every record, and leaves nothing',
    async (...row) => {
      const [, place] = row;
      const to = await place();
      const target = await openTarget(to, clock);
      const lossy = decorateStore(target, {
        accept: (section, records) =>
          target.accept(section, section === 'audit' ? records.slice(1) : records),
      } as Partial<DumpTarget>);
      const dump = writeDump(await readFolder(contextOf(original)), iso(clock.now()));
      await expect(restoreDump(dump, lossy)).rejects.toMatchObject({
        code: 'copy_differs',
        message: expect.stringContaining('audit: 3 records dumped, 2 written'),
      });
      await copyStore(original, to, { clock });
    },
  );
});

describe('copyStore', () => {
  it('invalid_option for the same store twice, and for a connection pooler', async () => {
    await expect(copyStore(original, `${original}/.`, { clock })).rejects.toMatchObject({
      code: 'invalid_option',
    });
    await expectRefused(
      copyStore(original, 'postgres://me@127.0.0.1/x?prepare=false', { clock }),
      'invalid_option',
      'pooler',
    );
  });

  it('store_unreachable for a missing database, store_unusable for one without a schema', async () => {
    await expect(
      copyStore('postgres://me@127.0.0.1:1/x', await folder(), { clock }),
    ).rejects.toMatchObject({ code: 'store_unreachable' });
    const url = await freshDatabase();
    await inDatabase(url, (sql) => sql('DROP SCHEMA signage CASCADE'));
    await expectRefused(
      copyStore(url, await folder(), { clock }),
      'store_unusable',
      'has no schema',
    );
    expect(await planCopy(original, url)).toMatchObject({ batches: 152 });
    await copyStore(original, url, { clock });
  });

  it('folder_not_empty for a folder of other files', async () => {
    const strange = await temporaryFolder();
    await writeFile(join(strange, 'letter.txt'), 'mine');
    await expectRefused(copyStore(original, strange, { clock }), 'folder_not_empty', 'letter.txt');
  });

  it('copies changes that a crash left only in journal and logs, and does not change the source', async () => {
    const live = await copyOf(original);
    const store = await openStore(live, { clock });
    await store.appendBatch(batchOf([impression(clock.now())], { key: 'last' }));
    await store.write((tx) => tx.audit(auditRow(77, { at: clock.now() })));
    const crashed = await copyOf(live);
    await store.close();
    const contents = await within(await copyOf(crashed), contentsOf);
    const before = await filesIn(crashed);
    for (const place of [await folder(), await freshDatabase()]) {
      await copyStore(crashed, place, { clock });
      expect(await within(place, contentsOf)).toEqual(contents);
    }
    expect(await filesIn(crashed)).toEqual(before);
  });

  it.each(['events/2026-11-22.ndjson', 'audit/2026-11-22.ndjson'])(
    'store_damaged when %s is damaged',
    async (file) => {
      const harmed = await copyOf(original);
      const to = await folder();
      await change(join(harmed, file), flipped(150));
      await expectRefused(copyStore(harmed, to, { clock }), 'store_damaged', file);
      expect(await namesIn(join(to, '..'))).toEqual([]);
    },
  );

  it('copies tables of many pages', async () => {
    const large = await folder();
    const database = await freshDatabase();
    const back = await folder();
    await within(large, (store) =>
      store.write(async (tx) => {
        for (let number = 1; number <= 2001; number++) await tx.put('venues', venueRow(number));
      }),
    );
    for (const [from, to] of [
      [large, database],
      [database, back],
    ] as const) {
      expect((await copyStore(from, to, { clock })).counts).toEqual({ server: 1, venues: 2001 });
    }
  });

  it('copies an empty store, and one whose events were all deleted', async () => {
    const bare = await folder();
    await (await openStore(bare, { clock })).close();
    const database = await freshDatabase();
    const back = await folder();
    for (const [from, to] of [
      [bare, database],
      [database, back],
    ] as const) {
      expect((await copyStore(from, to, { clock })).counts).toEqual({ server: 1 });
    }
    const store = await openStore(back, { clock });
    await store.appendBatch(batchOf([impression(1)], { key: 'one' }));
    const [{ id } = { id: '' }] = (
      await store.events({ tenantId: tenantRow(1).id, order: 'asc', limit: 1 })
    ).items;
    clock.set(clock.now() + 9 * 86_400_000);
    await store.purgeBefore(clock.now());
    await store.close();
    const database2 = await freshDatabase();
    const back2 = await folder();
    await copyStore(back, database2, { clock });
    await copyStore(database2, back2, { clock });
    for (const place of [database2, back2]) {
      const moved = await openStore(place, { clock });
      expect(await moved.appendBatch(batchOf([impression(1)], { key: 'one' }))).toBe('repeated');
      await moved.appendBatch(batchOf([impression(2)]));
      const [next] = (await moved.events({ tenantId: tenantRow(1).id, order: 'asc', limit: 1 }))
        .items;
      expect((next?.id ?? '') > id).toBe(true);
      expect(
        await moved.impressions({ tenantId: tenantRow(1).id, by: 'timestamp', groupBy: 'day' }),
      ).toMatchObject([{ impressions: 2 }]);
      await moved.close();
    }
  });
});
