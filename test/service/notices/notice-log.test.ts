import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { dayMs, hourMs } from '../../../src/domain/clock.ts';
import { makeIdSource } from '../../../src/domain/id.ts';
import {
  makeNoticeLog,
  type NoticePageQuery,
  noticeId,
} from '../../../src/service/notices/notice-log.ts';
import { putNotice } from '../../../src/service/notices/outbox.ts';
import { openStore } from '../../../src/store/location/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { emptyDatabase, freshDatabase } from '../../support/postgres/postgres.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';

const newId = makeIdSource(new ManualClock());
let stores: Store[] = [];
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
});

/** Puts notices with the numbers `from` to `to` (exclusive) into the outbox. */
async function put(store: Store, from: number, to: number, tenantId = 'tenant-1') {
  for (let n = from; n < to; n++)
    await store.write((tx) =>
      putNotice({ newId }, tx, { type: 'screen.paired', tenantId, data: { n } }),
    );
}

/** Returns the numbers on all pages. */
async function numbers(
  log: ReturnType<typeof makeNoticeLog>,
  query: Partial<NoticePageQuery> = {},
): Promise<unknown[]> {
  const found: unknown[] = [];
  for (let after = query.after; ; ) {
    const page = await log.page({ order: 'asc', limit: 100, ...query, after });
    found.push(...page.items.map(({ data }) => data.n));
    if (page.next === null) return found;
    after = page.next;
  }
}

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

describe('the log of notices', () => {
  const open = async () => {
    const clock = new ManualClock();
    const store = await openStore('memory:', { clock });
    stores = [store];
    return { clock, store, log: makeNoticeLog(store) };
  };

  it('lists what changes have put into the outbox, on pages of both orders', async () => {
    const { store, log } = await open();
    await put(store, 0, 600);
    expect(await numbers(log)).toEqual([]);
    await log.collect();
    expect(await numbers(log)).toEqual(upTo(600));
    expect(await numbers(log, { order: 'desc' })).toEqual(upTo(600).reverse());
    const odd = (n: unknown) => (n as number) % 2 === 1;
    const matches: NoticePageQuery['matches'] = ({ data }) => odd(data.n);
    expect(await numbers(log, { matches, limit: 7 })).toEqual(upTo(600).filter(odd));
  });

  it('gives ids that find a notice, sort in the order of the log, and end a page', async () => {
    const { store, log } = await open();
    await put(store, 0, 300);
    await log.collect();
    const { items } = await log.page({ order: 'asc', limit: 300 });
    const ids = items.map(noticeId);
    expect(ids.toSorted()).toEqual(ids);
    expect((await log.get(ids[299]!))?.data).toEqual({ n: 299 });
    expect(await log.get(newId())).toBeUndefined();
    for (const n of [0, 255, 256, 299]) {
      expect(await numbers(log, { after: ids[n]! })).toEqual(upTo(300).slice(n + 1));
      expect(await numbers(log, { order: 'desc', after: ids[n]! })).toEqual(upTo(n).reverse());
    }
  });

  it('finds notices by time, and deletes whole days of old ones', async () => {
    const { clock, store, log } = await open();
    clock.set(Math.ceil(clock.now() / dayMs) * dayMs);
    const startMs = clock.now();
    for (let batch = 0; batch < 6; batch++) {
      await put(store, batch * 100, (batch + 1) * 100);
      clock.advance(dayMs);
    }
    await log.collect();
    const from = startMs + 2 * dayMs;
    const to = startMs + 4 * dayMs;
    expect(await numbers(log, { from, to })).toEqual(upTo(400).slice(200));
    expect(await numbers(log, { order: 'desc', from })).toEqual(upTo(600).slice(200).reverse());
    const [first] = (await log.page({ order: 'asc', limit: 1 })).items;
    await log.purgeBefore(to + hourMs);
    expect(await numbers(log)).toEqual(upTo(600).slice(400));
    expect(await numbers(log, { after: noticeId(first!) })).toEqual(upTo(600).slice(400));
    expect(await numbers(log, { from: startMs })).toEqual(upTo(600).slice(400));
  });
});

describe('the log of notices of two instances', () => {
  let url: string;
  beforeAll(async () => {
    url = await freshDatabase();
    await emptyDatabase(url);
  });

  it('has each notice once, with ids that become visible in their order', async () => {
    stores = await Promise.all([openStore(url), openStore(url)]);
    const logs = stores.map((store) => makeNoticeLog(store));
    let isOver = false;
    const seen: string[] = [];
    const follow = async () => {
      for (let last = isOver; !last; ) {
        last = isOver;
        const page = await logs[0]!.page({ order: 'asc', after: seen.at(-1), limit: 50 });
        seen.push(...page.items.map(noticeId));
      }
    };
    const write = async (place: number) => {
      for (let n = 0; n < 40; n += 4) {
        await put(stores[place]!, n, n + 4, `tenant-${place}`);
        await logs[place]!.collect();
      }
    };
    const following = follow();
    await Promise.all([write(0), write(1)]);
    isOver = true;
    await following;
    const { items } = await logs[1]!.page({ order: 'asc', limit: 200 });
    expect(items.map(noticeId)).toEqual(seen);
    expect(items.map(({ seq }) => seq)).toEqual(upTo(80));
    expect(new Set(items.map(({ tenantId, data }) => `${tenantId} ${data.n}`)).size).toBe(80);
  });
});
