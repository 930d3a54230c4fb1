import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayMs, hourMs } from '../../../../src/domain/clock.ts';
import type { TelemetryEvent } from '../../../../src/domain/events/event.ts';
import { eventId, eventPosition } from '../../../../src/domain/events/event-id.ts';
import type { EventPageQuery, StoredEvent } from '../../../../src/store/queries.ts';
import { ManualClock } from '../../../support/runtime/manual-clock.ts';
import { yieldsDuring } from '../../../support/runtime/yields-during.ts';
import { allPages } from '../../../support/service/all-pages.ts';
import { batchOf, guid, tenantA, tenantB } from '../../sample-batch.ts';
import { CrashDisk } from '../crash-disk.ts';
import { contextOn, openLog } from '../part-rig.ts';

const log = (n: number, text = ''): TelemetryEvent => ({
  type: 'log',
  timestamp: 1_760_000_000,
  n,
  text,
});
const query = (more: Partial<EventPageQuery> = {}): EventPageQuery => ({
  tenantId: tenantA,
  order: 'desc',
  limit: 200,
  ...more,
});
const numbers = (items: StoredEvent[]) => items.map(({ event }) => event.n);
const mib = 1 << 20;

async function opened() {
  const disk = new CrashDisk();
  const clock = new ManualClock();
  const rig = await openLog(contextOn(disk, clock));
  async function walk(asked: EventPageQuery) {
    const all = await allPages((more) => rig.log.page({ ...asked, ...more }));
    return { items: all.flatMap(({ items }) => items), pages: all.length };
  }
  return { disk, clock, log: rig.log, rig, walk };
}

describe('a page of events', () => {
  it('costs the same at any depth', async () => {
    const { disk, clock, log: events, walk } = await opened();
    const text = 'x'.repeat(2000);
    for (let group = 0; group < 30; group++) {
      await Promise.all(
        Array.from({ length: 100 }, (_, n) => events.append(batchOf([log(group * 100 + n, text)]))),
      );
      clock.advance(2 * hourMs);
    }
    const { items: all } = await walk(query({ order: 'asc' }));
    expect(numbers(all)).toEqual(Array.from({ length: 3000 }, (_, n) => n));
    for (const order of ['asc', 'desc'] as const) {
      for (const at of [5, 700, 1499, 2200, 2900]) {
        disk.readBytes = 0;
        const { items } = await events.page(query({ order, limit: 3, after: all[at]!.id }));
        expect(numbers(items)).toEqual(
          order === 'asc' ? [at + 1, at + 2, at + 3] : [at - 1, at - 2, at - 3],
        );
        expect(disk.readBytes).toBeLessThan(400_000);
        const time = all[at]!.receivedAt;
        disk.readBytes = 0;
        const bounded = await events.page(
          query({ order, limit: 3, ...(order === 'asc' ? { from: time } : { to: time + 1 }) }),
        );
        const first =
          order === 'asc' ? Math.floor(at / 100) * 100 : Math.floor(at / 100) * 100 + 99;
        expect(numbers(bounded.items)[0]).toBe(first);
        expect(disk.readBytes).toBeLessThan(400_000);
      }
    }
  });

  it('ends after about 32 MiB with a next cursor, even if nothing matched', async () => {
    const { disk, log: events, walk } = await opened();
    const filler = 'x'.repeat(mib - 1000);
    const batches = Array.from({ length: 70 }, (_, n) => {
      const isAsked = n === 3 || n === 66;
      return batchOf([log(n, isAsked ? '' : filler)], isAsked ? { deviceId: guid('devi', 2) } : {});
    });
    await Promise.all(batches.map((batch) => events.append(batch)));
    for (const order of ['asc', 'desc'] as const) {
      disk.readBytes = 0;
      const first = await events.page(query({ order, deviceId: guid('devi', 3) }));
      expect(first.items).toEqual([]);
      const { batch } = eventPosition(first.next ?? '')!;
      expect(order === 'asc' ? batch : 71 - batch).toBeOneOf([34, 35]);
      expect(disk.readBytes).toBeLessThan(36 * mib);
      const { items, pages } = await walk(query({ order, deviceId: guid('devi', 2) }));
      expect(numbers(items)).toEqual(order === 'asc' ? [3, 66] : [66, 3]);
      expect(pages).toBe(3);
    }
  }, 60_000);

  it('yields to the event loop between chunks', async () => {
    const { log: events } = await opened();
    for (let n = 0; n < 8; n++) await events.append(batchOf([log(n, 'x'.repeat(mib))]));
    const reading = () => events.page(query({ deviceId: guid('devi', 9) }));
    expect(await yieldsDuring(reading)).toBeGreaterThanOrEqual(6);
  });

  it('finds a type written with JSON escapes', async () => {
    const { log: events } = await opened();
    const body = Buffer.from(
      '[{"type":"\\u006cog","timestamp":1760000000,"n":1},{"type":"heartbeat","timestamp":1760000000,"n":2}]',
    );
    await events.append({ ...batchOf(JSON.parse(body.toString())), body });
    await events.append(batchOf([{ ...log(3), type: 'heartbeat' }]));
    expect(numbers((await events.page(query({ type: 'log' }))).items)).toEqual([1]);
    expect(numbers((await events.page(query({ type: 'heartbeat', order: 'asc' }))).items)).toEqual([
      2, 3,
    ]);
  });

  it('is empty after an invalid id, and accepts an id of no event', async () => {
    const { log: events, clock } = await opened();
    await events.append(batchOf([log(1)]));
    clock.advance(dayMs);
    await events.append(batchOf([log(2)]));
    expect(await events.page(query({ after: guid('none', 1) }))).toEqual({ items: [], next: null });
    const madeUp = (receivedAtMs: number, batch: number, index = 0) =>
      eventId({ receivedAtMs, batch, index });
    const page = async (order: 'asc' | 'desc', after: string) =>
      numbers((await events.page(query({ order, after }))).items);
    expect(await page('asc', madeUp(2 ** 48 - 1, 2 ** 50))).toEqual([]);
    expect(await page('desc', madeUp(2 ** 48 - 1, 2 ** 50))).toEqual([2, 1]);
    expect(await page('asc', madeUp(0, 0))).toEqual([1, 2]);
    expect(await page('desc', madeUp(0, 0))).toEqual([]);
    expect(await page('asc', madeUp(0, 1))).toEqual([2]);
    expect(await page('desc', madeUp(clock.now(), 1))).toEqual([]);
  });

  it('accepts any bounds', async () => {
    const { log: events } = await opened();
    await events.append(batchOf([log(1)]));
    const page = async (bounds: { from?: number; to?: number }, order: 'asc' | 'desc') =>
      numbers((await events.page(query({ order, ...bounds }))).items);
    for (const order of ['asc', 'desc'] as const) {
      expect(await page({ from: -8.64e15 }, order)).toEqual([1]);
      expect(await page({ to: 8.64e15 }, order)).toEqual([1]);
      expect(await page({ from: 8.64e15 }, order)).toEqual([]);
      expect(await page({ to: -8.64e15 }, order)).toEqual([]);
    }
  });

  it('has durable batches only', async () => {
    const { disk, log: events } = await opened();
    await events.append(batchOf([log(1)]));
    let seen: Promise<unknown[]> | undefined;
    disk.before = (operation) => {
      if (operation === 'datasync') seen = events.page(query()).then(({ items }) => numbers(items));
    };
    const appending = events.append(batchOf([log(2)]));
    await appending;
    expect(await seen).toEqual([1]);
    expect(numbers((await events.page(query())).items)).toEqual([2, 1]);
  });

  it('skips a file deleted meanwhile', async () => {
    const { disk, clock, rig, log: events } = await opened();
    for (let n = 1; n <= 3; n++) {
      clock.advance(dayMs);
      await events.append(batchOf([log(n)]));
    }
    await rig.checkpoint();
    let dropping: Promise<void> | undefined;
    disk.before = (operation) => {
      if (operation === 'open') dropping ??= events.purgeBefore(clock.now());
    };
    expect(numbers((await events.page(query({ order: 'asc' }))).items)).toEqual([1, 3]);
    await dropping;
    disk.before = (operation) => {
      if (operation === 'open') throw Object.assign(new Error('EIO'), { code: 'EIO' });
    };
    await expect(events.page(query())).rejects.toThrow('EIO');
  });

  it.each([
    ['head', '"tenantId"', '"tenantid"'],
    ['body', '"n":1', '"n":7'],
  ])('rejects damage in the %s of a line, and names file and offset', async (_, good, bad) => {
    const { disk, log: events } = await opened();
    await events.append(batchOf([log(1)]));
    const path = '/data/events/2026-11-20.ndjson';
    disk.plant(path, disk.text(path).replace(good, bad));
    const bounds = { from: 1, to: 8e15 };
    for (const asked of [
      query(),
      query({ order: 'asc' }),
      query(bounds),
      query({ order: 'asc', ...bounds }),
    ]) {
      await expect(events.page(asked)).rejects.toMatchObject({
        code: 'store_damaged',
        message: expect.stringContaining(`${path}, at byte 0`),
      });
    }
  });
});

describe('pages of random queries', () => {
  const batch = fc.record({
    device: fc.nat(2),
    events: fc.array(fc.constantFrom('log', 'heartbeat'), { minLength: 1, maxLength: 4 }),
    isOurs: fc.boolean(),
    hours: fc.nat(20),
    large: fc.boolean(),
  });
  const asked = fc.record({
    order: fc.constantFrom('asc' as const, 'desc' as const),
    limit: fc.integer({ min: 1, max: 7 }),
    type: fc.option(fc.constant('log'), { nil: undefined }),
    device: fc.option(fc.nat(2), { nil: undefined }),
    from: fc.option(fc.nat(60), { nil: undefined }),
    to: fc.option(fc.nat(60), { nil: undefined }),
  });

  it('equal a filter over all events', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(batch, { maxLength: 25 }),
        fc.array(asked, { minLength: 4, maxLength: 4 }),
        async (batches, queries) => {
          const { clock, log: events, walk } = await opened();
          const start = clock.now();
          for (const [n, one] of batches.entries()) {
            clock.advance(one.hours * hourMs);
            const sent = one.events.map((type) => ({
              ...log(n, one.large ? 'x'.repeat(20_000) : ''),
              type,
            }));
            await events.append(
              batchOf(sent, {
                deviceId: guid('devi', one.device),
                tenantId: one.isOurs ? tenantA : tenantB,
              }),
            );
          }
          const all = (await walk(query({ order: 'asc' }))).items;
          expect(all).toHaveLength(
            batches.filter(({ isOurs }) => isOurs).flatMap((one) => one.events).length,
          );
          for (const { device, from, to, ...rest } of queries) {
            const more: Partial<EventPageQuery> = {};
            if (device !== undefined) more.deviceId = guid('devi', device);
            if (from !== undefined) more.from = start + from * hourMs;
            if (to !== undefined) more.to = start + to * hourMs;
            if (rest.type !== undefined) more.type = rest.type;
            const expected = all.filter(
              ({ deviceId, receivedAt, event }) =>
                (more.deviceId ?? deviceId) === deviceId &&
                (more.type ?? event.type) === event.type &&
                receivedAt >= (more.from ?? 0) &&
                receivedAt < (more.to ?? Number.POSITIVE_INFINITY),
            );
            const { items } = await walk(query({ ...more, order: rest.order, limit: rest.limit }));
            expect(items).toEqual(rest.order === 'asc' ? expected : expected.toReversed());
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
