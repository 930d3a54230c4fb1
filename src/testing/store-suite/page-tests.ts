import assert from 'node:assert/strict';
import { maxPageBytes } from '../../domain/page-items.ts';
import type { Slice } from '../../store/queries.ts';
import { batchOf, guid, tenantA } from './sample-batch.ts';
import { auditRow, pastPlaylistRow, venueRow } from './sample-rows.ts';
import type { TestGroup } from './store-test.ts';

const count = 40;
const numbers = Array.from({ length: count }, (_, n) => n + 1);
/** A page has room for 20 records with this text. Two pages have room for all 40 records. */
const large = 'x'.repeat(50_000);

/** Tests of the maximum size of a page. */
export function pageTests({ it, store, reopen }: TestGroup): void {
  /** Returns the items of each page. */
  async function walk<T>(ask: (after: string | null) => Promise<Slice<T>>): Promise<T[][]> {
    const pages: T[][] = [];
    for (let after: string | null = null; ; ) {
      const { items, next }: Slice<T> = await ask(after);
      pages.push(items);
      if (next === null) return pages;
      after = next;
    }
  }

  function assertPages(pages: { n: number; bytes: number }[][], order: readonly number[]): void {
    assert.deepEqual(
      pages.flat().map(({ n }) => n),
      order,
    );
    for (const page of pages)
      assert.ok(page.reduce((sum, { bytes }) => sum + bytes, 0) <= maxPageBytes);
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
    const pages = await walk((after) =>
      store.list('venues', { limit: 200, ...(after === null ? {} : { after }) }),
    );
    const sized = pages.map((page) =>
      page.map((row) => ({ n: Number(row.id.slice(-4)), bytes: JSON.stringify(row).length })),
    );
    assertPages(sized, numbers);
  });

  it('of a table, after many large rows that do not match the query', async () => {
    await store.write(async (tx) => {
      for (const n of numbers) await tx.put('venues', venueRow(n, { labels: { note: large } }));
      await tx.put('venues', venueRow(count + 1, { labels: { floor: '\ud800' } }));
      await tx.put('venues', venueRow(count + 2, { labels: { floor: '\ufffd' } }));
    });
    const found = await walk((after) =>
      store.list('venues', {
        limit: 200,
        labels: { floor: '\ud800' },
        ...(after === null ? {} : { after }),
      }),
    );
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
    const pages = await walk((after) =>
      store.audit({ tenantIds: [tenantA], limit: 200, ...(after === null ? {} : { after }) }),
    );
    const sized = pages.map((page) =>
      page.map((entry) => ({ n: Number(entry.details.n), bytes: JSON.stringify(entry).length })),
    );
    assertPages(sized, numbers.toReversed());
  });

  for (const order of ['asc', 'desc'] as const)
    it(`of events of any type (${order})`, async () => {
      for (const n of numbers)
        await store.appendBatch(
          batchOf([{ type: n === 1 ? 'log' : 'heartbeat', timestamp: 1, n, note: large }]),
        );
      const ordered = order === 'asc' ? numbers : numbers.toReversed();
      const query = { tenantId: tenantA, order, limit: 200 };
      const pages = await walk((after) =>
        store.events({ ...query, ...(after === null ? {} : { after }) }),
      );
      const sized = pages.map((page) =>
        page.map(({ event }) => ({ n: Number(event.n), bytes: JSON.stringify(event).length })),
      );
      assertPages(sized, ordered);
      const typed = await walk((after) =>
        store.events({ ...query, type: 'heartbeat', ...(after === null ? {} : { after }) }),
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
