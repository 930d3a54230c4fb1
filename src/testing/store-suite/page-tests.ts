import assert from 'node:assert/strict';
import { maxPageBytes } from '../../domain/page-items.ts';
import { batchOf, guid, tenantA } from './sample-batch.ts';
import { auditRow, pastPlaylistRow, venueRow } from './sample-rows.ts';
import { allPages, type TestGroup } from './store-test.ts';

const count = 40;
const numbers = Array.from({ length: count }, (_, n) => n + 1);
/** A page has room for 20 records with this text. Two pages have room for all 40 records. */
const large = 'x'.repeat(50_000);

/** Tests of the maximum size of a page. */
export function pageTests({ it, store, reopen }: TestGroup): void {
  function assertPages<T>(
    pages: T[][],
    numberOf: (item: T) => unknown,
    order: readonly number[],
  ): void {
    assert.deepEqual(pages.flat().map(numberOf), order);
    for (const page of pages)
      assert.ok(page.reduce((sum, item) => sum + JSON.stringify(item).length, 0) <= maxPageBytes);
    assert.deepEqual(
      pages.map(({ length }) => length),
      [20, 20],
    );
  }

  it('of a table', async () => {
    const labels = { note: large };
    await store.write(async (tx) => {
      for (const n of numbers) await tx.put('venues', venueRow(n, { labels }));
    });
    const pages = await allPages((from) => store.list('venues', { limit: 200, ...from }));
    assertPages(pages, (row) => Number(row.id.slice(-4)), numbers);
  });

  it('of a table, after many large rows that do not match the query', async () => {
    await store.write(async (tx) => {
      for (const n of numbers) await tx.put('venues', venueRow(n, { labels: { note: large } }));
      await tx.put('venues', venueRow(count + 1, { labels: { floor: '\ud800' } }));
      await tx.put('venues', venueRow(count + 2, { labels: { floor: '\ufffd' } }));
    });
    const labels = { floor: '\ud800' };
    const found = await allPages((from) => store.list('venues', { limit: 200, labels, ...from }));
    assert.deepEqual(
      found.flat().map(({ id }) => id),
      [guid('venu', count + 1)],
    );
  });

  it('of past playlist versions, after changes since the last start', async () => {
    const put = (n: number) => store.write((tx) => tx.put('pastPlaylists', pastPlaylistRow(1, n)));
    await put(9);
    await put(10);
    await reopen();
    await put(11);
    await store.write((tx) => tx.delete('pastPlaylists', `${guid('scre', 1)}/9`));
    const page = { screenId: guid('scre', 1), below: Number.POSITIVE_INFINITY };
    assert.deepEqual(await store.pastPlaylists({ ...page, limit: 2 }), {
      items: [pastPlaylistRow(1, 11), pastPlaylistRow(1, 10)],
      next: null,
    });
    assert.deepEqual(await store.pastPlaylists({ ...page, limit: 1 }), {
      items: [pastPlaylistRow(1, 11)],
      next: '11',
    });
    assert.deepEqual(await store.pastPlaylists({ ...page, below: 10, limit: 1 }), {
      items: [],
      next: null,
    });
  });

  it('of the audit trail', async () => {
    await store.write(async (tx) => {
      for (const n of numbers) await tx.audit(auditRow(n, { details: { n, note: large } }));
    });
    const query = { tenantIds: [tenantA], limit: 200 };
    const pages = await allPages((from) => store.audit({ ...query, ...from }));
    assertPages(pages, ({ details }) => details.n, numbers.toReversed());
  });

  for (const order of ['asc', 'desc'] as const)
    it(`of events of any type (${order})`, async () => {
      for (const n of numbers)
        await store.appendBatch(
          batchOf([{ type: n === 1 ? 'log' : 'heartbeat', timestamp: 1, n, note: large }]),
        );
      const ordered = order === 'asc' ? numbers : numbers.toReversed();
      const query = { tenantId: tenantA, order, limit: 200 };
      const pages = await allPages((from) => store.events({ ...query, ...from }));
      const events = pages.map((page) => page.map(({ event }) => event));
      assertPages(events, ({ n }) => n, ordered);
      const typed = await allPages((from) =>
        store.events({ ...query, type: 'heartbeat', ...from }),
      );
      assert.deepEqual(
        typed.flat().map(({ event }) => event.n),
        ordered.filter((n) => n !== 1),
      );
      assert.deepEqual(
        typed.map(({ length }) => length),
        [20, 19],
      );
    });

  it('of a single larger record', async () => {
    const labels = { note: 'x'.repeat(maxPageBytes + 1) };
    await store.write(async (tx) => {
      for (const n of [1, 2]) await tx.put('venues', venueRow(n, { labels }));
    });
    const ids = [guid('venu', 1), guid('venu', 2)];
    const first = await store.list('venues', { limit: 200 });
    assert.deepEqual([first.items.map(({ id }) => id), first.next], [[ids[0]], ids[0]]);
    const second = await store.list('venues', { limit: 200, after: ids[0] as string });
    assert.deepEqual([second.items.map(({ id }) => id), second.next], [[ids[1]], null]);
  });
}
