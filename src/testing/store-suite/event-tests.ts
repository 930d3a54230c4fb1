import assert from 'node:assert/strict';
import type { EventPageQuery } from '../../store/queries.ts';
import { batchOf, everything, guid, log, numbers, tenantA, tenantB } from './sample-batch.ts';
import { allPages, gate, type TestGroup } from './store-test.ts';

/** Tests of `events`. */
export function eventTests({ it, store, reopen, alsoAfterReopen }: TestGroup): void {
  /** Returns the items of all pages, in order. */
  const walk = async (query: EventPageQuery) =>
    (await allPages((from) => store.events({ ...query, ...from }))).flat();

  /** Appends 60 events in 20 batches, by two devices on two screens, of two types. */
  async function fill(): Promise<void> {
    for (let batch = 0; batch < 20; batch++) {
      const events = [0, 1, 2].map((place) =>
        log(batch * 3 + place, place === 1 ? 'heartbeat' : 'log'),
      );
      const which = batch % 2 === 0 ? 1 : 2;
      await store.appendBatch(
        batchOf(events, { deviceId: guid('devi', which), screenId: guid('scre', which) }),
      );
    }
  }

  const all = Array.from({ length: 60 }, (_, n) => n);

  it('are returned newest first or oldest first', async () => {
    await fill();
    assert.deepEqual(numbers((await store.events(everything())).items), all.toReversed());
    assert.deepEqual(numbers((await store.events(everything({ order: 'asc' }))).items), all);
  });

  it('are empty before the first batch', async () => {
    assert.deepEqual(await store.events(everything()), { items: [], next: null });
  });

  for (const order of ['asc', 'desc'] as const)
    it(`have unique ids in the order of receipt (${order})`, async () => {
      await fill();
      const ids = (await store.events(everything({ order }))).items.map(({ id }) => id);
      assert.equal(new Set(ids).size, 60);
      assert.deepEqual(ids.toSorted(), order === 'asc' ? ids : ids.toReversed());
    });

  const filters: [string, object, (n: number) => boolean][] = [
    ['type', { type: 'heartbeat' }, (n: number) => n % 3 === 1],
    ['deviceId', { deviceId: guid('devi', 2) }, (n: number) => Math.floor(n / 3) % 2 === 1],
    ['screenId', { screenId: guid('scre', 1) }, (n: number) => Math.floor(n / 3) % 2 === 0],
    [
      'all of these',
      { type: 'log', deviceId: guid('devi', 1), screenId: guid('scre', 1) },
      (n: number) => n % 3 !== 1 && Math.floor(n / 3) % 2 === 0,
    ],
    ['an unknown id', { deviceId: guid('devi', 9) }, () => false],
  ];
  for (const [name, filter, belongs] of filters)
    it(`are filtered by ${name}`, async () => {
      await fill();
      for (const limit of [200, 4])
        assert.deepEqual(
          numbers(await walk(everything({ order: 'asc', limit, ...filter }))),
          all.filter(belongs),
        );
    });

  const lists = [
    ['asc', 1],
    ['asc', 7],
    ['desc', 1],
    ['desc', 7],
    ['desc', 60],
  ] as const;
  for (const [order, limit] of lists)
    it(`form one list over all pages (${order}, ${limit} per page)`, async () => {
      await fill();
      const list = (await store.events(everything({ order }))).items;
      assert.deepEqual(await walk(everything({ order, limit })), list);
    });

  it('are filtered by time of receipt, from (inclusive) to (exclusive)', async () => {
    await fill();
    const list = (await store.events(everything({ order: 'asc' }))).items;
    const times = list.map(({ receivedAt }) => receivedAt);
    for (const [from, to] of [
      [times[0], times[59]],
      [times[29], times[30]],
      [times[10], undefined],
      [undefined, times[45]],
      [0, 1],
    ] as const) {
      const within = list.filter(
        ({ receivedAt: time }) =>
          (from === undefined || time >= from) && (to === undefined || time < to),
      );
      for (const order of ['asc', 'desc'] as const) {
        const query = everything({
          order,
          limit: 8,
          ...(from === undefined ? {} : { from }),
          ...(to === undefined ? {} : { to }),
        });
        assert.deepEqual(await walk(query), order === 'asc' ? within : within.toReversed());
      }
    }
  });

  it('can be followed: nothing comes after the last id until a new batch', async () => {
    await fill();
    const [last] = (await store.events(everything({ limit: 1 }))).items;
    assert.ok(last);
    const query = everything({ order: 'asc', after: last.id });
    assert.deepEqual(await store.events(query), { items: [], next: null });
    const woken = gate();
    const stop = store.watch(`events/${tenantA}`, woken.open);
    await store.appendBatch(batchOf([log(60), log(61)]));
    await woken.opened;
    stop();
    assert.deepEqual(numbers((await store.events(query)).items), [60, 61]);
  });

  it('of another tenant are not returned', async () => {
    await fill();
    await store.appendBatch(batchOf([log(99)], { tenantId: tenantB }));
    assert.deepEqual(numbers((await store.events(everything({ tenantId: tenantB }))).items), [99]);
    assert.ok(!numbers((await store.events(everything())).items).includes(99));
  });

  it('are filtered by none, one and several venues', async () => {
    for (const n of [1, 2, 3, 1])
      await store.appendBatch(
        batchOf([log(n)], { venueId: guid('venu', n), screenId: guid('scre', n) }),
      );
    const within = async (...venues: number[]) => {
      const venueIds = venues.map((n) => guid('venu', n));
      return numbers(await walk(everything({ order: 'asc', limit: 1, venueIds })));
    };
    await alsoAfterReopen(async () => {
      assert.deepEqual(await within(), []);
      assert.deepEqual(await within(1), [1, 1]);
      assert.deepEqual(await within(3, 1), [1, 3, 1]);
      assert.deepEqual(await within(9), []);
      const other = { screenId: guid('scre', 2), venueIds: [guid('venu', 1)] };
      assert.deepEqual((await store.events(everything(other))).items, []);
    });
  });

  it('are empty after an id that no event has', async () => {
    await fill();
    assert.deepEqual(
      (await store.events(everything({ order: 'asc', after: guid('none', 1) }))).items,
      [],
    );
  });

  it('keep their ids across a restart', async () => {
    await fill();
    const before = (await store.events(everything())).items;
    await reopen();
    assert.deepEqual((await store.events(everything())).items, before);
  });
}
