import assert from 'node:assert/strict';
import type { AuditEntry } from '../../domain/records/audit.ts';
import type { Store } from '../../store/store.ts';
import { guid, tenantA, tenantB } from './sample-batch.ts';
import { allPages, type TestGroup } from './store-test.ts';

/** Tests of `audit`. */
export function auditTests({ it, store, alsoAfterReopen }: TestGroup): void {
  const entry = (n: number, more: Partial<AuditEntry> = {}): AuditEntry => ({
    id: guid('audi', n),
    tenantId: tenantA,
    at: Date.UTC(2026, 10, 20, 12) + n * 1000,
    actor: { kind: 'token', id: guid('toke', 1), name: 'ops' },
    action: n % 2 === 0 ? 'screen.create' : 'venue.create',
    subject: { kind: 'screen', id: guid('scre', n % 3) },
    address: null,
    requestId: `request-${n}`,
    details: { n },
    ...more,
  });
  type Query = Parameters<Store['audit']>[0];
  const put = (...entries: AuditEntry[]) =>
    store.write(async (tx) => {
      for (const one of entries) await tx.audit(one);
    });

  async function numbersOf(query: Partial<Query> = {}): Promise<unknown[]> {
    const all = { tenantIds: [tenantA], limit: 3, ...query };
    const pages = await allPages((from) => store.audit({ ...all, ...from }));
    return pages.flat().map(({ details }) => details.n);
  }

  it('is returned newest first, page by page, also after a restart', async () => {
    for (let n = 0; n < 9; n += 3) await put(entry(n), entry(n + 1), entry(n + 2));
    assert.deepEqual((await store.audit({ tenantIds: [tenantA], limit: 1 })).items, [entry(8)]);
    await alsoAfterReopen(async () => {
      for (const limit of [1, 3, 4, 200])
        assert.deepEqual(await numbersOf({ limit }), [8, 7, 6, 5, 4, 3, 2, 1, 0]);
    });
    await put(entry(9));
    assert.deepEqual(await numbersOf(), [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  });

  it('is empty after a cursor that no page returned', async () => {
    await put(entry(0));
    assert.deepEqual(
      await store.audit({ tenantIds: [tenantA], limit: 3, after: guid('none', 1) }),
      { items: [], next: null },
    );
  });

  it('is filtered by action, subject, time and tenant', async () => {
    // Details that name what other entries are found by.
    const others = { action: 'screen.create', screen: guid('scre', 1) };
    for (let n = 0; n < 8; n++) await put(entry(n, { details: { n, ...others } }));
    await put(entry(8, { tenantId: tenantB }), entry(9, { tenantId: null }));
    await alsoAfterReopen(async () => {
      assert.deepEqual(await numbersOf({ action: 'screen.create' }), [6, 4, 2, 0]);
      assert.deepEqual(await numbersOf({ subjectId: guid('scre', 1) }), [7, 4, 1]);
      assert.deepEqual(
        await numbersOf({ action: 'venue.create', subjectId: guid('scre', 1) }),
        [7, 1],
      );
      assert.deepEqual(await numbersOf({ from: entry(2).at, to: entry(5).at }), [4, 3, 2]);
      assert.deepEqual(await numbersOf({ tenantIds: [tenantB] }), [8]);
      assert.deepEqual(await numbersOf({ tenantIds: [null] }), [9]);
      assert.deepEqual(await numbersOf({ tenantIds: [tenantB, null] }), [9, 8]);
      assert.deepEqual(await numbersOf({ tenantIds: [] }), []);
      assert.deepEqual(await numbersOf({ action: 'nothing' }), []);
    });
  });

  it('is filtered by venues: entries about these only, none about the whole tenant', async () => {
    const about = (...venues: number[]) => ({ venueIds: venues.map((n) => guid('venu', n)) });
    await put(
      entry(0),
      entry(1, about(1)),
      entry(2, about(2)),
      entry(3, about(1, 2)),
      entry(4, about()),
      entry(5, about(1)),
    );
    await alsoAfterReopen(async () => {
      for (const limit of [1, 200]) {
        assert.deepEqual(await numbersOf({ limit }), [5, 4, 3, 2, 1, 0]);
        assert.deepEqual(await numbersOf({ limit, ...about(1) }), [5, 1]);
        assert.deepEqual(await numbersOf({ limit, ...about(2, 1) }), [5, 3, 2, 1]);
        assert.deepEqual(await numbersOf({ limit, ...about(1), action: 'venue.create' }), [5, 1]);
        assert.deepEqual(await numbersOf({ limit, ...about(9) }), []);
        assert.deepEqual(await numbersOf({ limit, ...about() }), []);
      }
      assert.deepEqual((await store.audit({ tenantIds: [tenantA], limit: 1, ...about(2) })).items, [
        entry(2, about(2)),
      ]);
    });
  });

  it('has no entry of a failed change', async () => {
    await assert.rejects(
      store.write(async (tx) => {
        await tx.audit(entry(1));
        throw new Error('no');
      }),
      { message: 'no' },
    );
    assert.deepEqual(await numbersOf(), []);
  });
}

/** Tests of `touch` and `marks`. */
export function activityTests({ it, store, alsoAfterReopen }: TestGroup): void {
  it('is visible immediately, merged with earlier activity, and kept across a restart', async () => {
    store.touch('device', guid('devi', 1), { lastSeenAt: 1000, lastAddress: '192.0.2.1' });
    store.touch('device', guid('devi', 1), { lastSeenAt: 2000, lastPlaylistVersion: null });
    store.touch('token', guid('toke', 1), { lastUsedAt: 3000 });
    store.touch('device', guid('devi', 3), { lastRefusedAt: 4000 });
    await alsoAfterReopen(async () => {
      const { seenSince, ...activity } = await store.marks('device', guid('devi', 1));
      // Some stores see only the last call of a minute.
      assert.ok(seenSince === undefined || seenSince === 1000 || seenSince === 2000);
      assert.deepEqual(activity, {
        lastSeenAt: 2000,
        lastAddress: '192.0.2.1',
        lastPlaylistVersion: null,
      });
      assert.deepEqual(await store.marks('token', guid('toke', 1)), { lastUsedAt: 3000 });
      assert.deepEqual(await store.marks('device', guid('devi', 3)), { lastRefusedAt: 4000 });
      assert.deepEqual(await store.marks('device', guid('devi', 2)), {});
    });
  });
}
