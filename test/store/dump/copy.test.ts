import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { copyStore } from '../../../src/store/maintenance/copy.ts';
import { tableSchema } from '../../../src/store/postgres/rows/columns.ts';
import { tableNames } from '../../../src/store/sections.ts';
import type { Store } from '../../../src/store/store.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { inDatabase } from '../../support/postgres/in-database.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { inStore } from '../../support/service/in-store.ts';
import { batchOf, guid, impression, tenantA } from '../sample-batch.ts';
import { auditRow } from '../sample-rows.ts';
import { contentsOf, fillStore, sampleBatch, sampleFolder } from './sample-store.ts';

const clock = new ManualClock();
const copy = (from: string, to: string) => copyStore(from, to, { clock });

const within = <T>(location: string, work: (store: Store) => Promise<T>) =>
  inStore(location, work, { clock });

const folder = async () => join(await temporaryFolder(), 'data');

let original: string;
let contents: object;
beforeAll(async () => {
  ({ original, contents } = await sampleFolder(clock));
});

describe('copyStore', () => {
  it('copies everything from a data folder to a database, another database, back, and to another folder, as the same bytes', async () => {
    const [database, other, back, again] = [
      await freshDatabase(),
      await freshDatabase(),
      await folder(),
      await folder(),
    ];
    const hashes = new Set<string>();
    for (const [from, to] of [
      [original, database],
      [database, other],
      [other, back],
      [back, again],
    ] as const) {
      const { counts, sha256 } = await copy(from, to);
      expect(counts).toMatchObject({ server: 1, batches: 152, pastPlaylists: 6, marks: 2 });
      hashes.add(sha256);
    }
    // The time of the dump is the same, so all hashes are.
    expect(hashes.size).toBe(1);
    for (const place of [database, other, back, again])
      expect(await within(place, contentsOf)).toEqual(contents);
  });

  it('writes rows and audit entries to a database as changes do', async () => {
    const copied = await freshDatabase();
    const filled = await freshDatabase();
    await copy(original, copied);
    const own = new ManualClock();
    await inStore(filled, (store) => fillStore(store, own), { clock: own });
    const kept = (url: string, table: string) =>
      inDatabase(url, (sql) => sql(`SELECT * FROM ${table} ORDER BY 1`));
    for (const { name } of tableNames.map((table) => tableSchema(table)))
      expect(await kept(copied, name), name).toEqual(await kept(filled, name));
    const entries = `(SELECT entry, at, tenant_id, action, subject_id, venue_ids FROM signage.audit WHERE at > 1750000000000) AS audit`;
    const late = (await kept(copied, entries)).slice(-3);
    expect(late).toEqual((await kept(filled, entries)).slice(-3));
    expect(late).toHaveLength(3);
  });

  it.each([
    ['a data folder', folder],
    ['a database', freshDatabase],
  ])('leaves a store in %s that continues where the source was', async (_, place) => {
    const to = await place();
    await copy(original, to);
    await within(to, async (store) => {
      const { items: before } = await store.events({ tenantId: tenantA, order: 'desc', limit: 1 });
      for (let day = 0; day < 5; day++)
        expect(await store.appendBatch(sampleBatch(day, 1))).toBe('repeated');
      await expect(
        store.appendBatch(batchOf([impression(1)], { key: 'key 0' })),
      ).rejects.toMatchObject({ code: 'idempotency_key_reused' });
      const second = { deviceId: guid('devi', 2) };
      expect(
        await store.appendBatch(
          batchOf([impression(139, { duration: 1.1 })], { key: 'many 139', ...second }),
        ),
      ).toBe('repeated');
      expect(
        await store.appendBatch(
          batchOf([impression(11, { duration: 1.1 })], { key: 'many 11', ...second }),
        ),
      ).toBe('stored');
      const { items: after } = await store.events({ tenantId: tenantA, order: 'desc', limit: 2 });
      expect(after[1]).toEqual(before[0]);
      expect((after[0]?.id ?? '') > (before[0]?.id ?? '')).toBe(true);
      await store.write((tx) => tx.audit(auditRow(500, { at: clock.now() })));
      expect(
        (await store.audit({ tenantIds: [tenantA], limit: 2 })).items.map(({ id }) => id),
      ).toEqual([guid('audi', 500), guid('audi', 4)]);
    });
    await within(to, async (store) => {
      expect(await store.appendBatch(sampleBatch(4, 3))).toBe('repeated');
      const [row] = await store.impressions({
        tenantId: tenantA,
        groupBy: 'venue',
        by: 'received',
      });
      const [known] = await within(original, (other) =>
        other.impressions({ tenantId: tenantA, groupBy: 'venue', by: 'received' }),
      );
      expect(row?.impressions).toBe((known?.impressions ?? 0) + 1);
    });
  });
});
