import assert from 'node:assert/strict';
import { dayMs, minuteMs } from '../../domain/clock.ts';
import { hasCode } from '../../domain/error.ts';
import { smallest } from '../../domain/numbers/extremes.ts';
import { type Rows, sectionOf, type TableName, tableNames } from '../../store/sections.ts';
import type { Store, Tx } from '../../store/store.ts';
import { guid, tenantA, tenantB } from './sample-batch.ts';
import { auditRow, configRow, playlistRow, sampleRow, screenRow, venueRow } from './sample-rows.ts';
import { gate, type TestGroup } from './store-test.ts';

type Row = Rows[TableName];

/** Asserts that a row is found by its id, its unique keys and its indexes. */
async function assertFound({ read }: Store, table: TableName, row: Row): Promise<void> {
  const { row: schema, unique, indexed, multiple } = sectionOf(table);
  assert.deepEqual(schema.parse(await read.get(table, row.id)), row);
  for (const [index, keyOf] of Object.entries(unique)) {
    const key = keyOf(row);
    if (key !== undefined) assert.deepEqual(await read.find(table, index as never, key), row);
  }
  for (const member of indexed) {
    const value = row[member as keyof Row];
    const found = await read.select(table, member as never, [value]);
    assert.ok(found.some(({ id }) => id === row.id));
  }
  for (const [index, valuesOf] of Object.entries(multiple))
    for (const value of valuesOf(row))
      assert.ok((await read.ids(table, index as never, [value])).has(row.id));
}

/** Tests of `write`. */
export function writeTests({ it, store, reopen, alsoAfterReopen, put }: TestGroup): void {
  it('keeps rows of every table, across a restart', async () => {
    const rows = new Map<TableName, Row[]>(
      tableNames.map((table) => [table, [sampleRow(table, 1), sampleRow(table, 2)]]),
    );
    rows.set('screens', [
      screenRow(1, { name: 'Lobby "left" \u2028 \\ ü', labels: { floor: '2' } }),
    ]);
    rows.set('configs', [configRow('tenant', tenantA, { a: [1, null] })]);
    await put(Object.fromEntries(rows));
    await alsoAfterReopen(async () => {
      for (const [table, expected] of rows)
        for (const row of expected) await assertFound(store, table, row);
    });
  });

  it('returns the result of the change', async () => {
    assert.equal(
      await store.write(async (tx) => (await tx.get('tenants', 'nobody')) ?? 'none'),
      'none',
    );
  });

  it('replaces a row, which is then found only by its new keys', async () => {
    await put({ venues: [venueRow(1, { name: 'Old', tenantId: tenantA })] });
    await put({ venues: [venueRow(1, { name: 'New', tenantId: tenantB })] });
    assert.equal((await store.read.get('venues', guid('venu', 1)))?.name, 'New');
    assert.equal(await store.read.find('venues', 'name', `${tenantA}/old`), undefined);
    assert.equal((await store.read.find('venues', 'name', `${tenantB}/new`))?.id, guid('venu', 1));
    assert.equal(await store.read.count('venues', 'tenantId', tenantA), 0);
    assert.equal(await store.read.count('venues', 'tenantId', tenantB), 1);
  });

  it('deletes a row, across a restart, and ignores a missing one', async () => {
    await put({ venues: [venueRow(1), venueRow(2)] });
    await store.write(async (tx) => {
      await tx.delete('venues', guid('venu', 1));
      await tx.delete('venues', guid('venu', 99));
    });
    await reopen();
    assert.equal(await store.read.get('venues', guid('venu', 1)), undefined);
    assert.equal(await store.read.find('venues', 'name', `${tenantA}/venue 1`), undefined);
    assert.deepEqual(await store.read.select('venues', 'tenantId', [tenantA]), [venueRow(2)]);
  });

  it('leaves no trace of a change that throws', async () => {
    await put({ venues: [venueRow(1)] });
    const failing = store.write(async (tx) => {
      await tx.put('venues', venueRow(1, { name: 'Changed' }));
      await tx.put('venues', venueRow(2));
      await tx.delete('venues', guid('venu', 1));
      await tx.audit(auditRow(1));
      throw new Error('no');
    });
    await assert.rejects(failing, { message: 'no' });
    await alsoAfterReopen(async () => {
      assert.deepEqual(await store.read.select('venues', 'tenantId', [tenantA]), [venueRow(1)]);
      assert.deepEqual((await store.audit({ tenantIds: [tenantA], limit: 10 })).items, []);
      await assert.equal(
        await store.write(async (tx) => tx.get('venues', guid('venu', 2))),
        undefined,
      );
    });
  });

  it('serializes 100 concurrent increments of one number', async () => {
    await put({ playlists: [playlistRow(1, 0)] });
    const raise = async (tx: Tx) => {
      const row = await tx.get('playlists', guid('scre', 1));
      assert.ok(row);
      await tx.put('playlists', { ...row, version: row.version + 1 });
      return row.version;
    };
    const seen = await Promise.all(Array.from({ length: 100 }, () => store.write(raise)));
    assert.equal(new Set(seen).size, 100);
    assert.equal((await store.read.get('playlists', guid('scre', 1)))?.version, 100);
  });

  it('gives a name to one of 100 concurrent changes', async () => {
    const racers = Array.from({ length: 100 }, (_, number) =>
      put({ venues: [venueRow(number, { name: 'Wanted' })] }),
    );
    const results = await Promise.allSettled(racers);
    const won = results.filter((result) => result.status === 'fulfilled');
    const refused = results.filter(
      (result) => result.status === 'rejected' && hasCode(result.reason, 'conflict'),
    );
    assert.deepEqual([won.length, refused.length], [1, 99]);
    assert.equal(await store.read.count('venues', 'tenantId', tenantA), 1);
  });

  it('hides a change from others until it is complete', async () => {
    const { opened, open: letGo } = gate();
    const seen: unknown[] = [];
    const change = store.write(async (tx) => {
      await tx.put('venues', venueRow(1));
      seen.push(
        await store.read.get('venues', guid('venu', 1)),
        await store.read.count('venues', 'tenantId', tenantA),
      );
      letGo();
    });
    await opened;
    await change;
    assert.deepEqual(seen, [undefined, 0]);
    assert.deepEqual(await store.read.get('venues', guid('venu', 1)), venueRow(1));
  });

  it('is unaffected when callers modify rows they passed or read', async () => {
    const row = venueRow(1, { labels: { floor: '1' } });
    await store.write(async (tx) => {
      await tx.put('venues', row);
      row.name = 'Changed';
      row.labels.floor = '2';
    });
    const read = await store.read.get('venues', guid('venu', 1));
    assert.ok(read);
    Reflect.set(read.labels, 'floor', '3');
    Reflect.set(read, 'name', 'Changed');
    assert.deepEqual(
      await store.read.get('venues', guid('venu', 1)),
      venueRow(1, { labels: { floor: '1' } }),
    );
  });

  it('has stamps that never decrease, and a decision time', async () => {
    const times: number[] = [];
    for (let turn = 0; turn < 3; turn++) {
      times.push(
        await store.write(async (tx) => tx.put('venues', venueRow(turn)).then(() => tx.stamp)),
      );
    }
    await reopen();
    times.push(await store.write(async (tx) => tx.stamp));
    assert.deepEqual(times, [...times].sort());
    assert.ok(smallest(times) > Date.UTC(2020, 0));
    const now = await store.write(async (tx) => tx.now);
    assert.ok(Math.abs(store.now() - now) < minuteMs);
    assert.ok(Math.abs(store.aheadMs()) < dayMs);
  });

  it('rejects calls of a tx after its change', async () => {
    const { tx } = await store.write(async (tx) => ({ tx }));
    await assert.rejects(tx.put('venues', venueRow(1)));
    await assert.rejects((async () => tx.get('venues', guid('venu', 1)))());
    await assert.rejects(tx.audit(auditRow(1)));
    await assert.rejects(async () => tx.delete('venues', guid('venu', 1)));
    assert.equal(await store.read.get('venues', guid('venu', 1)), undefined);
  });
}
