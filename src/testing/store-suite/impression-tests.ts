import assert from 'node:assert/strict';
import { dayMs } from '../../domain/clock.ts';
import { dayOf, type ReportGroup } from '../../domain/records/report.ts';
import { batchOf, everything, guid, impression, log, tenantA, tenantB } from './sample-batch.ts';
import type { TestGroup } from './store-test.ts';

/** Tests of `impressions`. */
export function impressionTests({ it, store, reopen, alsoAfterReopen }: TestGroup): void {
  const today = Date.UTC(2026, 10, 20, 12);
  const groups: ReportGroup[] = ['campaign', 'creative', 'entry', 'screen', 'venue', 'day'];
  const timestamps = { tenantId: tenantA, by: 'timestamp' } as const;
  /** An impression of the campaign, creative and entry `n`, on day `n` after today. */
  const played = (n: number, duration: number) =>
    impression(today + n * dayMs, {
      campaignId: guid('camp', n),
      creativeId: guid('crea', n),
      entryId: `Entry ${n}`,
      duration,
    });
  const place = (n: number) => ({ screenId: guid('scre', n), venueId: guid('venu', n) });
  /** Returns the key of `played(n)` on the screen of `place(n)`. */
  const keyOf = (groupBy: ReportGroup, n: number) =>
    ({
      campaign: guid('camp', n),
      creative: guid('crea', n),
      entry: `Entry ${n}`,
      screen: guid('scre', n),
      venue: guid('venu', n),
      day: dayOf(today + n * dayMs),
    })[groupBy];

  for (const groupBy of groups)
    it(`are counted by ${groupBy}`, async () => {
      await store.appendBatch(batchOf([played(2, 10), played(2, 2.5)], place(2)));
      await store.appendBatch(batchOf([played(1, 0), log(1)], place(1)));
      assert.deepEqual(await store.impressions({ ...timestamps, groupBy }), [
        { key: keyOf(groupBy, 1), impressions: 1, seconds: 0 },
        { key: keyOf(groupBy, 2), impressions: 2, seconds: 12.5 },
      ]);
    });

  it('count late events on the day of their timestamp, or of their receipt', async () => {
    await store.appendBatch(batchOf([impression(today - 400 * dayMs), impression(today / 1000)]));
    const [received] = (await store.events(everything({ limit: 1 }))).items;
    assert.ok(received);
    assert.deepEqual(await store.impressions({ ...timestamps, groupBy: 'day' }), [
      { key: '2025-10-16', impressions: 1, seconds: 0 },
      { key: '2026-11-20', impressions: 1, seconds: 0 },
    ]);
    assert.deepEqual(
      await store.impressions({ tenantId: tenantA, by: 'received', groupBy: 'day' }),
      [{ key: dayOf(received.receivedAt), impressions: 2, seconds: 0 }],
    );
  });

  it('count events with any timestamp of a wrong clock', async () => {
    const times = [
      0,
      Date.UTC(1999, 11, 31),
      Date.UTC(2000, 0, 1),
      Date.UTC(2099, 11, 31),
      Date.UTC(2100, 0, 1),
      Number.MAX_SAFE_INTEGER,
    ];
    await store.appendBatch(batchOf(times.map((time) => impression(time))));
    const days = [
      '1970-01-01',
      '1999-12-31',
      '2000-01-01',
      '2099-12-31',
      '2100-01-01',
      '9999-12-31',
    ];
    assert.deepEqual(
      await store.impressions({ ...timestamps, groupBy: 'day' }),
      days.map((key) => ({ key, impressions: 1, seconds: 0 })),
    );
    const part = await store.impressions({
      ...timestamps,
      groupBy: 'day',
      from: '1999-12-31',
      to: '2099-12-31',
    });
    assert.deepEqual(
      part.map(({ key }) => key),
      ['1999-12-31', '2000-01-01'],
    );
  });

  it('are filtered by from (inclusive) and to (exclusive)', async () => {
    await store.appendBatch(batchOf([0, 1, 2, 3].map((days) => impression(today + days * dayMs))));
    const days = async (bounds: { from?: string; to?: string }) =>
      (await store.impressions({ ...timestamps, groupBy: 'day', ...bounds })).map(({ key }) =>
        key.slice(8),
      );
    assert.deepEqual(await days({}), ['20', '21', '22', '23']);
    assert.deepEqual(await days({ from: '2026-11-21' }), ['21', '22', '23']);
    assert.deepEqual(await days({ to: '2026-11-22' }), ['20', '21']);
    assert.deepEqual(await days({ from: '2026-11-21', to: '2026-11-23' }), ['21', '22']);
    assert.deepEqual(await days({ from: '2026-11-23', to: '2026-11-21' }), []);
  });

  it('leave out entries without an id, and ids that are no text', async () => {
    const ids = [undefined, null, 7, '', 'x'.repeat(401), 'Breakfast'];
    await store.appendBatch(batchOf(ids.map((entryId) => impression(today, { entryId }))));
    assert.deepEqual(await store.impressions({ ...timestamps, groupBy: 'entry' }), [
      { key: 'Breakfast', impressions: 1, seconds: 0 },
    ]);
  });

  it('match ids without regard to case', async () => {
    const campaignId = 'abcdefab-0000-4000-8000-00000000000a';
    await store.appendBatch(
      batchOf([
        impression(today, { campaignId }),
        impression(today, { campaignId: campaignId.toUpperCase() }),
      ]),
    );
    assert.deepEqual(await store.impressions({ ...timestamps, groupBy: 'campaign' }), [
      { key: campaignId, impressions: 2, seconds: 0 },
    ]);
  });

  it('of another tenant are not counted', async () => {
    await store.appendBatch(batchOf([played(1, 0)]));
    await store.appendBatch(batchOf([played(1, 0), played(1, 0)], { tenantId: tenantB }));
    for (const groupBy of groups)
      for (const [tenantId, count] of [
        [tenantA, 1],
        [tenantB, 2],
      ] as const) {
        const found = await store.impressions({ ...timestamps, groupBy, tenantId });
        assert.deepEqual(
          found.map(({ impressions }) => impressions),
          [count],
        );
      }
  });

  for (const groupBy of groups)
    it(`are counted by ${groupBy} within none, one and several venues`, async () => {
      for (const n of [1, 2, 3])
        await store.appendBatch(batchOf([played(n, n), played(7, 10)], place(n)));
      const key = (n: number) => keyOf(groupBy, n);
      /** Returns the expected rows of these venues, summed by key. */
      const rows = (...venues: number[]) => {
        if (groupBy === 'screen' || groupBy === 'venue')
          return venues.map((n) => ({ key: key(n), impressions: 2, seconds: n + 10 }));
        const own = venues.map((n) => ({ key: key(n), impressions: 1, seconds: n }));
        const shared = { key: key(7), impressions: venues.length, seconds: 10 * venues.length };
        return [...own, shared].toSorted((a, b) => (a.key < b.key ? -1 : 1));
      };
      const within = (...venues: number[]) =>
        store.impressions({
          ...timestamps,
          groupBy,
          venueIds: venues.map((n) => guid('venu', n)),
        });
      await alsoAfterReopen(async () => {
        assert.deepEqual(await within(), []);
        assert.deepEqual(await within(9), []);
        assert.deepEqual(await within(2), rows(2));
        assert.deepEqual(await within(3, 1), rows(1, 3));
        assert.deepEqual(await store.impressions({ ...timestamps, groupBy }), rows(1, 2, 3));
      });
      const days = {
        from: '2026-11-22',
        to: '2026-11-23',
        venueIds: [guid('venu', 1), guid('venu', 2)],
      };
      const [only, more] = await store.impressions({ ...timestamps, groupBy, ...days });
      assert.deepEqual([only, more], [{ key: key(2), impressions: 1, seconds: 2 }, undefined]);
    });

  for (const groupBy of groups)
    it(`of simulated devices are counted separately by ${groupBy}`, async () => {
      await store.appendBatch(batchOf([played(1, 0.1)]));
      await store.appendBatch(batchOf([played(1, 0.2), played(2, 5)], { simulated: true }));
      await store.appendBatch(batchOf([played(1, 9)], { tenantId: tenantB, simulated: true }));
      const rounded = (numbers: number[]) => numbers.map((number) => Number(number.toFixed(6)));
      const total = async (query: object) => {
        const found = await store.impressions({ ...timestamps, groupBy, ...query });
        const sum = (numbers: number[]) => numbers.reduce((one, other) => one + other, 0);
        return [
          sum(found.map(({ impressions }) => impressions)),
          sum(found.map(({ seconds }) => seconds)),
        ];
      };
      const venueIds = [guid('venu', 1)];
      await alsoAfterReopen(async () => {
        assert.deepEqual(rounded(await total({})), [3, 5.3]);
        assert.deepEqual(rounded(await total({ simulated: 'include', venueIds })), [4, 14.3]);
        // These sums are exact, because nothing is subtracted.
        assert.deepEqual(await total({ simulated: 'exclude' }), [1, 0.1]);
        assert.deepEqual(await total({ simulated: 'exclude', venueIds }), [1, 0.1]);
        assert.deepEqual(await total({ simulated: 'only' }), [2, 5.2]);
        assert.deepEqual(await total({ simulated: 'exclude', tenantId: tenantB }), [0, 0]);
      });
    });

  it('count a repeated batch once, also after a restart', async () => {
    for (let time = 0; time < 3; time++)
      await store.appendBatch(batchOf([impression(today, { duration: 7 })], { key: 'one' }));
    const before = await store.impressions({ ...timestamps, groupBy: 'campaign' });
    assert.deepEqual(before, [{ key: guid('camp', 1), impressions: 1, seconds: 7 }]);
    await reopen();
    assert.deepEqual(await store.impressions({ ...timestamps, groupBy: 'campaign' }), before);
  });
}
