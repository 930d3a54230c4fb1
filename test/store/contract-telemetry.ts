import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dayMs } from '../../src/domain/clock.ts';
import type { TelemetryEvent } from '../../src/domain/events/event.ts';
import { dayOf, type ReportGroup } from '../../src/domain/records/report.ts';
import type { AuditEntry } from '../../src/domain/records/rows.ts';
import type { EventPageQuery, StoredEvent } from '../../src/store/queries.ts';
import type { Store } from '../../src/store/store.ts';
import { batchOf, guid, impression, tenantA, tenantB } from './sample-batch.ts';

/** A store in a location of its own. */
export interface StoreUnderTest {
  store: Store;
  /** Closes the store and reopens it in the same location. */
  reopen(): Promise<Store>;
  close(): Promise<void>;
}

/** Contract of all stores: events, report, audit trail and last activity. */
export function telemetryContract(name: string, open: () => Promise<StoreUnderTest>): void {
  let under: StoreUnderTest;
  let store: Store;
  beforeEach(async () => {
    under = await open();
    store = under.store;
  });
  afterEach(() => under.close());

  const everything = (query: Partial<EventPageQuery> = {}) => ({
    tenantId: tenantA,
    order: 'desc' as const,
    limit: 200,
    ...query,
  });

  /** The items of all pages, in order. */
  async function walk(query: EventPageQuery): Promise<StoredEvent[]> {
    const all: StoredEvent[] = [];
    for (let after = query.after; ; ) {
      const { items, next } = await store.events({
        ...query,
        ...(after === undefined ? {} : { after }),
      });
      all.push(...items);
      if (next === null) return all;
      after = next;
    }
  }

  const numbers = (items: StoredEvent[]) => items.map(({ event }) => event.n);
  const log = (n: number, type = 'log'): TelemetryEvent => ({ type, timestamp: 1_760_000_000, n });

  describe(`${name}: appendBatch`, () => {
    it('returns stored, and keeps the events as sent', async () => {
      const body = Buffer.from(
        '[ {"timestamp":1760000000, "type":"log", "text":"ü \\u00fc", "big":1.50} ]',
      );
      const batch = { ...batchOf(JSON.parse(body.toString())), body };
      expect(await store.appendBatch(batch)).toBe('stored');
      const { items, next } = await store.events(everything());
      expect(next).toBeNull();
      expect(items).toEqual([
        {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          deviceId: guid('devi', 1),
          screenId: guid('scre', 1),
          receivedAt: expect.any(Number),
          event: { timestamp: 1760000000, type: 'log', text: 'ü ü', big: 1.5 },
        },
      ]);
    });

    it('stores a batch without a key each time it is sent', async () => {
      for (let time = 0; time < 2; time++)
        expect(await store.appendBatch(batchOf([log(1)]))).toBe('stored');
      expect((await store.events(everything())).items).toHaveLength(2);
    });

    it('returns repeated for the same key with the same bytes, and stores nothing', async () => {
      expect(await store.appendBatch(batchOf([log(1)], { key: 'one' }))).toBe('stored');
      expect(await store.appendBatch(batchOf([log(1)], { key: 'one' }))).toBe('repeated');
      expect((await store.events(everything())).items).toHaveLength(1);
    });

    it('compares the bytes sent, not the stored events', async () => {
      await store.appendBatch(batchOf([log(1)], { key: 'one', sent: 'as sent' }));
      expect(await store.appendBatch(batchOf([log(2)], { key: 'one', sent: 'as sent' }))).toBe(
        'repeated',
      );
    });

    it('throws idempotency_key_reused for the same key with other bytes, and stores nothing', async () => {
      await store.appendBatch(batchOf([log(1)], { key: 'one' }));
      await expect(store.appendBatch(batchOf([log(2)], { key: 'one' }))).rejects.toMatchObject({
        code: 'idempotency_key_reused',
      });
      expect(numbers((await store.events(everything())).items)).toEqual([1]);
      expect(await store.appendBatch(batchOf([log(1)], { key: 'one' }))).toBe('repeated');
    });

    it('keeps the keys of each device separately', async () => {
      await store.appendBatch(batchOf([log(1)], { key: 'one' }));
      expect(
        await store.appendBatch(batchOf([log(2)], { key: 'one', deviceId: guid('devi', 2) })),
      ).toBe('stored');
    });

    it('stores one of many concurrent batches with the same key', async () => {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => store.appendBatch(batchOf([log(1)], { key: 'one' }))),
      );
      expect(answers.filter((answer) => answer === 'stored')).toHaveLength(1);
      expect(answers.filter((answer) => answer === 'repeated')).toHaveLength(19);
      expect((await store.events(everything())).items).toHaveLength(1);
    });

    it('stores one of two concurrent batches with the same key and different bytes', async () => {
      const answers = await Promise.allSettled(
        [1, 2].map((n) => store.appendBatch(batchOf([log(n)], { key: 'one' }))),
      );
      expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(answers.find(({ status }) => status === 'rejected')).toMatchObject({
        reason: { code: 'idempotency_key_reused' },
      });
      expect((await store.events(everything())).items).toHaveLength(1);
    });

    it('remembers the last 128 keys of a device, across restarts', async () => {
      for (let n = 0; n < 130; n++) await store.appendBatch(batchOf([log(n)], { key: `key ${n}` }));
      for (const restarted of [false, true]) {
        if (restarted) store = await under.reopen();
        for (const n of [2, 65, 129])
          expect(await store.appendBatch(batchOf([log(n)], { key: `key ${n}` }))).toBe('repeated');
      }
      expect(await store.appendBatch(batchOf([log(1)], { key: 'key 1' }))).toBe('stored');
      expect(
        (await store.impressions({ tenantId: tenantA, groupBy: 'day', by: 'received' })).length,
      ).toBe(0);
    });
  });

  describe(`${name}: events`, () => {
    /** 60 events in 20 batches, by two devices on two screens, of two types. */
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
      expect(numbers((await store.events(everything())).items)).toEqual(all.toReversed());
      expect(numbers((await store.events(everything({ order: 'asc' }))).items)).toEqual(all);
    });

    it('are empty before the first batch', async () => {
      expect(await store.events(everything())).toEqual({ items: [], next: null });
    });

    it.each(['asc', 'desc'] as const)(
      'have unique ids in the order of receipt (%s)',
      async (order) => {
        await fill();
        const ids = (await store.events(everything({ order }))).items.map(({ id }) => id);
        expect(new Set(ids).size).toBe(60);
        expect(ids.toSorted()).toEqual(order === 'asc' ? ids : ids.toReversed());
      },
    );

    it.each([
      ['type', { type: 'heartbeat' }, (n: number) => n % 3 === 1],
      ['deviceId', { deviceId: guid('devi', 2) }, (n: number) => Math.floor(n / 3) % 2 === 1],
      ['screenId', { screenId: guid('scre', 1) }, (n: number) => Math.floor(n / 3) % 2 === 0],
      [
        'all of these',
        { type: 'log', deviceId: guid('devi', 1), screenId: guid('scre', 1) },
        (n: number) => n % 3 !== 1 && Math.floor(n / 3) % 2 === 0,
      ],
      ['an unknown id', { deviceId: guid('devi', 9) }, () => false],
    ])('are filtered by %s', async (_, filter, belongs) => {
      await fill();
      for (const limit of [200, 4])
        expect(numbers(await walk(everything({ order: 'asc', limit, ...filter })))).toEqual(
          all.filter(belongs),
        );
    });

    it.each([
      ['asc', 1],
      ['asc', 7],
      ['desc', 1],
      ['desc', 7],
      ['desc', 60],
    ] as const)('form one list over all pages (%s, %i per page)', async (order, limit) => {
      await fill();
      const list = (await store.events(everything({ order }))).items;
      expect(await walk(everything({ order, limit }))).toEqual(list);
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
          expect(await walk(query)).toEqual(order === 'asc' ? within : within.toReversed());
        }
      }
    });

    it('can be followed: nothing comes after the last id until a new batch', async () => {
      await fill();
      const last = (await store.events(everything({ limit: 1 }))).items[0]!.id;
      const query = everything({ order: 'asc', after: last });
      expect(await store.events(query)).toEqual({ items: [], next: null });
      let woken = 0;
      const stop = store.watch(`events/${tenantA}`, () => void woken++);
      await store.appendBatch(batchOf([log(60), log(61)]));
      await expect.poll(() => woken).toBeGreaterThan(0);
      stop();
      expect(numbers((await store.events(query)).items)).toEqual([60, 61]);
    });

    it('of another tenant are not returned', async () => {
      await fill();
      await store.appendBatch(batchOf([log(99)], { tenantId: tenantB }));
      expect(numbers((await store.events(everything({ tenantId: tenantB }))).items)).toEqual([99]);
      expect(numbers((await store.events(everything())).items)).not.toContain(99);
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
      for (const restarted of [false, true]) {
        if (restarted) store = await under.reopen();
        expect(await within()).toEqual([]);
        expect(await within(1)).toEqual([1, 1]);
        expect(await within(3, 1)).toEqual([1, 3, 1]);
        expect(await within(9)).toEqual([]);
        const other = { screenId: guid('scre', 2), venueIds: [guid('venu', 1)] };
        expect((await store.events(everything(other))).items).toEqual([]);
      }
    });

    it('are empty after an id that no event has', async () => {
      await fill();
      expect(
        (await store.events(everything({ order: 'asc', after: guid('none', 1) }))).items,
      ).toEqual([]);
    });

    it('keep their ids across a restart', async () => {
      await fill();
      const before = (await store.events(everything())).items;
      store = await under.reopen();
      expect((await store.events(everything())).items).toEqual(before);
    });
  });

  describe(`${name}: impressions`, () => {
    const today = Date.UTC(2026, 10, 20, 12);
    const groups: ReportGroup[] = ['campaign', 'creative', 'screen', 'venue', 'day'];
    const timestamps = { tenantId: tenantA, by: 'timestamp' } as const;

    it.each(groups)('are counted by %s', async (groupBy) => {
      const ids = (n: number) => ({ campaignId: guid('camp', n), creativeId: guid('crea', n) });
      const place = (n: number) => ({ screenId: guid('scre', n), venueId: guid('venu', n) });
      await store.appendBatch(
        batchOf(
          [
            impression(today, { ...ids(2), duration: 10 }),
            impression(today, { ...ids(2), duration: 2.5 }),
          ],
          place(2),
        ),
      );
      await store.appendBatch(batchOf([impression(today - dayMs, ids(1)), log(1)], place(1)));
      const key = (n: number) => {
        const keys = {
          campaign: ids(n).campaignId,
          creative: ids(n).creativeId,
          screen: place(n).screenId,
          venue: place(n).venueId,
        };
        return groupBy === 'day' ? ['', '2026-11-19', '2026-11-20'][n] : keys[groupBy];
      };
      expect(await store.impressions({ ...timestamps, groupBy })).toEqual([
        { key: key(1), impressions: 1, seconds: 0 },
        { key: key(2), impressions: 2, seconds: 12.5 },
      ]);
    });

    it('count late events on the day of their timestamp, or of their receipt', async () => {
      await store.appendBatch(batchOf([impression(today - 400 * dayMs), impression(today / 1000)]));
      const [received] = (await store.events(everything({ limit: 1 }))).items;
      expect(await store.impressions({ ...timestamps, groupBy: 'day' })).toEqual([
        { key: '2025-10-16', impressions: 1, seconds: 0 },
        { key: '2026-11-20', impressions: 1, seconds: 0 },
      ]);
      expect(
        await store.impressions({ tenantId: tenantA, by: 'received', groupBy: 'day' }),
      ).toEqual([{ key: dayOf(received!.receivedAt), impressions: 2, seconds: 0 }]);
    });

    it('count events of any timestamp a wrong clock can give', async () => {
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
      expect(await store.impressions({ ...timestamps, groupBy: 'day' })).toEqual(
        days.map((key) => ({ key, impressions: 1, seconds: 0 })),
      );
      const part = await store.impressions({
        ...timestamps,
        groupBy: 'day',
        from: '1999-12-31',
        to: '2099-12-31',
      });
      expect(part.map(({ key }) => key)).toEqual(['1999-12-31', '2000-01-01']);
    });

    it('are filtered by from (inclusive) and to (exclusive)', async () => {
      await store.appendBatch(
        batchOf([0, 1, 2, 3].map((days) => impression(today + days * dayMs))),
      );
      const days = async (bounds: { from?: string; to?: string }) =>
        (await store.impressions({ ...timestamps, groupBy: 'day', ...bounds })).map(({ key }) =>
          key.slice(8),
        );
      expect(await days({})).toEqual(['20', '21', '22', '23']);
      expect(await days({ from: '2026-11-21' })).toEqual(['21', '22', '23']);
      expect(await days({ to: '2026-11-22' })).toEqual(['20', '21']);
      expect(await days({ from: '2026-11-21', to: '2026-11-23' })).toEqual(['21', '22']);
      expect(await days({ from: '2026-11-23', to: '2026-11-21' })).toEqual([]);
    });

    it('match ids without regard to case', async () => {
      const campaignId = 'abcdefab-0000-4000-8000-00000000000a';
      await store.appendBatch(
        batchOf([
          impression(today, { campaignId }),
          impression(today, { campaignId: campaignId.toUpperCase() }),
        ]),
      );
      expect(await store.impressions({ ...timestamps, groupBy: 'campaign' })).toEqual([
        { key: campaignId, impressions: 2, seconds: 0 },
      ]);
    });

    it('of another tenant are not counted', async () => {
      await store.appendBatch(batchOf([impression(today)]));
      await store.appendBatch(
        batchOf([impression(today), impression(today)], { tenantId: tenantB }),
      );
      for (const groupBy of groups) {
        expect(
          (await store.impressions({ ...timestamps, groupBy })).map((row) => row.impressions),
        ).toEqual([1]);
        expect(
          (await store.impressions({ ...timestamps, groupBy, tenantId: tenantB })).map(
            (row) => row.impressions,
          ),
        ).toEqual([2]);
      }
    });

    it.each(groups)('are counted by %s within none, one and several venues', async (groupBy) => {
      for (const n of [1, 2, 3]) {
        const place = { venueId: guid('venu', n), screenId: guid('scre', n) };
        const own = impression(today + n * dayMs, {
          campaignId: guid('camp', n),
          creativeId: guid('crea', n),
          duration: n,
        });
        const shared = impression(today, {
          campaignId: guid('camp', 7),
          creativeId: guid('crea', 7),
          duration: 10,
        });
        await store.appendBatch(batchOf([own, shared], place));
      }
      const kinds = {
        campaign: 'camp',
        creative: 'crea',
        screen: 'scre',
        venue: 'venu',
      } as const;
      const keyOf = (n: number) =>
        groupBy === 'day' ? `2026-11-2${n % 7}` : guid(kinds[groupBy], n);
      /** Expected rows of these venues, summed by key. */
      const rows = (...venues: number[]) => {
        if (groupBy === 'screen' || groupBy === 'venue')
          return venues.map((n) => ({ key: keyOf(n), impressions: 2, seconds: n + 10 }));
        const own = venues.map((n) => ({ key: keyOf(n), impressions: 1, seconds: n }));
        const shared = { key: keyOf(7), impressions: venues.length, seconds: 10 * venues.length };
        return [...own, shared].toSorted((a, b) => (a.key < b.key ? -1 : 1));
      };
      const within = (...venues: number[]) =>
        store.impressions({
          ...timestamps,
          groupBy,
          venueIds: venues.map((n) => guid('venu', n)),
        });
      for (const restarted of [false, true]) {
        if (restarted) store = await under.reopen();
        expect(await within()).toEqual([]);
        expect(await within(9)).toEqual([]);
        expect(await within(2)).toEqual(rows(2));
        expect(await within(3, 1)).toEqual(rows(1, 3));
        expect(await store.impressions({ ...timestamps, groupBy })).toEqual(rows(1, 2, 3));
      }
      const days = {
        from: '2026-11-22',
        to: '2026-11-23',
        venueIds: [guid('venu', 1), guid('venu', 2)],
      };
      const [only, more] = await store.impressions({ ...timestamps, groupBy, ...days });
      expect([only, more]).toEqual([{ key: keyOf(2), impressions: 1, seconds: 2 }, undefined]);
    });

    it.each(groups)('of simulated devices are counted by %s apart', async (groupBy) => {
      const played = (duration: number, campaign: number) =>
        impression(today, { duration, campaignId: guid('camp', campaign) });
      await store.appendBatch(batchOf([played(0.1, 1)]));
      await store.appendBatch(batchOf([played(0.2, 1), played(5, 2)], { simulated: true }));
      await store.appendBatch(batchOf([played(9, 1)], { tenantId: tenantB, simulated: true }));
      const total = async (query: object) => {
        const found = await store.impressions({ ...timestamps, groupBy, ...query });
        const sum = (numbers: number[]) => numbers.reduce((one, other) => one + other, 0);
        return [
          sum(found.map(({ impressions }) => impressions)),
          sum(found.map(({ seconds }) => seconds)),
        ];
      };
      const venueIds = [guid('venu', 1)];
      for (const restarted of [false, true]) {
        if (restarted) store = await under.reopen();
        expect(await total({})).toEqual([3, expect.closeTo(5.3)]);
        expect(await total({ simulated: 'include', venueIds })).toEqual([4, expect.closeTo(14.3)]);
        // Exact: nothing is subtracted.
        expect(await total({ simulated: 'exclude' })).toEqual([1, 0.1]);
        expect(await total({ simulated: 'exclude', venueIds })).toEqual([1, 0.1]);
        expect(await total({ simulated: 'only' })).toEqual([2, 5.2]);
        expect(await total({ simulated: 'exclude', tenantId: tenantB })).toEqual([0, 0]);
      }
    });

    it('count a repeated batch once, also after a restart', async () => {
      for (let time = 0; time < 3; time++)
        await store.appendBatch(batchOf([impression(today, { duration: 7 })], { key: 'one' }));
      const before = await store.impressions({ ...timestamps, groupBy: 'campaign' });
      expect(before).toEqual([{ key: guid('camp', 1), impressions: 1, seconds: 7 }]);
      store = await under.reopen();
      expect(await store.impressions({ ...timestamps, groupBy: 'campaign' })).toEqual(before);
    });
  });

  describe(`${name}: audit`, () => {
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
      const found: unknown[] = [];
      for (let after: string | undefined; ; ) {
        const { items, next } = await store.audit({
          tenantIds: [tenantA],
          limit: 3,
          ...query,
          ...(after === undefined ? {} : { after }),
        });
        found.push(...items.map(({ details }) => details.n));
        if (next === null) return found;
        after = next;
      }
    }

    it('is returned newest first, page by page, also after a restart', async () => {
      for (let n = 0; n < 9; n += 3) await put(entry(n), entry(n + 1), entry(n + 2));
      expect((await store.audit({ tenantIds: [tenantA], limit: 1 })).items).toEqual([entry(8)]);
      for (const restarted of [false, true]) {
        if (restarted) store = await under.reopen();
        for (const limit of [1, 3, 4, 200])
          expect(await numbersOf({ limit })).toEqual([8, 7, 6, 5, 4, 3, 2, 1, 0]);
      }
      await put(entry(9));
      expect(await numbersOf()).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    });

    it('is empty after a cursor that no page returned', async () => {
      await put(entry(0));
      expect(await store.audit({ tenantIds: [tenantA], limit: 3, after: guid('none', 1) })).toEqual(
        { items: [], next: null },
      );
    });

    it('is filtered by action, subject, time and tenant', async () => {
      for (let n = 0; n < 8; n++) await put(entry(n));
      await put(entry(8, { tenantId: tenantB }), entry(9, { tenantId: null }));
      for (const restarted of [false, true]) {
        if (restarted) store = await under.reopen();
        expect(await numbersOf({ action: 'screen.create' })).toEqual([6, 4, 2, 0]);
        expect(await numbersOf({ subjectId: guid('scre', 1) })).toEqual([7, 4, 1]);
        expect(await numbersOf({ action: 'venue.create', subjectId: guid('scre', 1) })).toEqual([
          7, 1,
        ]);
        expect(await numbersOf({ from: entry(2).at, to: entry(5).at })).toEqual([4, 3, 2]);
        expect(await numbersOf({ tenantIds: [tenantB] })).toEqual([8]);
        expect(await numbersOf({ tenantIds: [null] })).toEqual([9]);
        expect(await numbersOf({ tenantIds: [tenantB, null] })).toEqual([9, 8]);
        expect(await numbersOf({ tenantIds: [] })).toEqual([]);
        expect(await numbersOf({ action: 'nothing' })).toEqual([]);
      }
    });

    it('is filtered by venues: only entries about these, none about the whole tenant', async () => {
      const about = (...venues: number[]) => ({ venueIds: venues.map((n) => guid('venu', n)) });
      await put(
        entry(0),
        entry(1, about(1)),
        entry(2, about(2)),
        entry(3, about(1, 2)),
        entry(4, about()),
        entry(5, about(1)),
      );
      for (const restarted of [false, true]) {
        if (restarted) store = await under.reopen();
        for (const limit of [1, 200]) {
          expect(await numbersOf({ limit })).toEqual([5, 4, 3, 2, 1, 0]);
          expect(await numbersOf({ limit, ...about(1) })).toEqual([5, 1]);
          expect(await numbersOf({ limit, ...about(2, 1) })).toEqual([5, 3, 2, 1]);
          expect(await numbersOf({ limit, ...about(1), action: 'venue.create' })).toEqual([5, 1]);
          expect(await numbersOf({ limit, ...about(9) })).toEqual([]);
          expect(await numbersOf({ limit, ...about() })).toEqual([]);
        }
        expect((await store.audit({ tenantIds: [tenantA], limit: 1, ...about(2) })).items).toEqual([
          entry(2, about(2)),
        ]);
      }
    });

    it('has no entry of a failed change', async () => {
      await expect(
        store.write(async (tx) => {
          await tx.audit(entry(1));
          throw new Error('no');
        }),
      ).rejects.toThrow('no');
      expect(await numbersOf()).toEqual([]);
    });
  });

  describe(`${name}: last activity`, () => {
    it('is visible immediately, merged with earlier activity, and kept across a restart', async () => {
      store.touch('device', guid('devi', 1), { lastSeenAt: 1000, lastAddress: '192.0.2.1' });
      store.touch('device', guid('devi', 1), { lastSeenAt: 2000, lastPlaylistVersion: null });
      store.touch('token', guid('toke', 1), { lastUsedAt: 3000 });
      store.touch('device', guid('devi', 3), { lastRefusedAt: 4000 });
      for (const restarted of [false, true]) {
        if (restarted) store = await under.reopen();
        expect(await store.marks('device', guid('devi', 1))).toEqual({
          lastSeenAt: 2000,
          lastAddress: '192.0.2.1',
          lastPlaylistVersion: null,
        });
        expect(await store.marks('token', guid('toke', 1))).toEqual({ lastUsedAt: 3000 });
        expect(await store.marks('device', guid('devi', 3))).toEqual({ lastRefusedAt: 4000 });
        expect(await store.marks('device', guid('devi', 2))).toEqual({});
      }
    });
  });
}
