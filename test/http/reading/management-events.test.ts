import { beforeAll, describe, expect, it } from 'vitest';
import {
  expectInvalid,
  impression,
  type Manager,
  manager,
  unknownId,
  walk,
} from '../../support/service/management.ts';
import { type BoundTv, startService, type TestService } from '../../support/service/service.ts';

let service: TestService;
let admin: Manager;

interface Item {
  id: string;
  event: { n: number };
}

const secondMs = 1000;
const post = async (tv: BoundTv, ...events: object[]) => {
  const answer = await tv.send('POST', 'events', { body: events });
  expect(answer.status, answer.text).toBe(202);
};
const event = (n: number, more: object = {}) => ({
  type: 'heartbeat',
  timestamp: 1_790_000_000,
  n,
  ...more,
});
const numbers = (items: Item[]) => items.map((one) => one.event.n);
const ask = async (query: string): Promise<{ items: Item[]; nextCursor: string | null }> => {
  const answer = await admin.get(`/v1/events${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};

const found = async (query: string) => numbers((await ask(query)).items);

describe('GET /v1/events', () => {
  let tvs: BoundTv[];
  let startMs: number;
  const isoAt = (seconds: number) => new Date(startMs + seconds * secondMs).toISOString();

  beforeAll(async () => {
    service = await startService();
    admin = manager(service);
    tvs = [await service.tv(), await service.tv()];
    startMs = service.clock.now();
    await post(tvs[0]!, event(1), event(2, impression({ duration: 3 })), event(3));
    service.clock.advance(secondMs);
    await post(
      tvs[1]!,
      event(4),
      event(5, { type: 'log', timestamp: 5, text: 'früh', deep: { er: [1, null] } }),
    );
    service.clock.advance(secondMs);
    await post(tvs[0]!, event(6));
  });

  it('200 with all events as sent, newest receipt first', async () => {
    const { items, nextCursor } = await ask('');
    expect(numbers(items)).toEqual([6, 5, 4, 3, 2, 1]);
    expect(nextCursor).toBeNull();
    expect(items[1]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      deviceId: tvs[1]!.deviceId,
      screenId: tvs[1]!.screenId,
      receivedAt: isoAt(1),
      offsetMs: null,
      event: event(5, { type: 'log', timestamp: 5, text: 'früh', deep: { er: [1, null] } }),
    });
    expect(new Set(items.map(({ id }) => id)).size).toBe(6);
  });

  it.each([1, 4])('200 page by page, %i at a time, in both orders', async (limit) => {
    expect(numbers((await walk(admin, '/v1/events', limit)).items)).toEqual([6, 5, 4, 3, 2, 1]);
    expect(numbers((await walk(admin, '/v1/events?order=asc', limit)).items)).toEqual([
      1, 2, 3, 4, 5, 6,
    ]);
  });

  it('200 filtered by type, device and screen, over pages too', async () => {
    expect(await found('?type=log')).toEqual([5]);
    expect(await found('?type=impression')).toEqual([2]);
    expect(await found(`?deviceId=${tvs[0]!.deviceId.toUpperCase()}`)).toEqual([6, 3, 2, 1]);
    expect(await found(`?screenId=${tvs[1]!.screenId}`)).toEqual([5, 4]);
    expect(
      numbers(
        (await walk(admin, `/v1/events?type=heartbeat&screenId=${tvs[0]!.screenId}`, 1)).items,
      ),
    ).toEqual([6, 3, 1]);
    expect(await ask(`?deviceId=${unknownId}`)).toEqual({ items: [], nextCursor: null });
    expect(await ask('?type=never.seen')).toEqual({ items: [], nextCursor: null });
  });

  it('200 filtered by the time of receipt, from inclusive and to exclusive', async () => {
    expect(await found(`?from=${isoAt(1)}`)).toEqual([6, 5, 4]);
    expect(await found(`?to=${isoAt(1)}`)).toEqual([3, 2, 1]);
    expect(await found(`?from=${startMs / 1000 + 1}&to=${startMs / 1000 + 2}`)).toEqual([5, 4]);
    expect(await found(`?from=${isoAt(2)}&to=${isoAt(1)}`)).toEqual([]);
    expect(await found('?from=2026-11-20&to=2026-11-21')).toHaveLength(6);
    expect(await found('?from=2026-11-20T13:00:00%2B01:00&order=asc&limit=2')).toEqual([1, 2]);
  });

  it.each([
    ...['type=A', 'from=2026-13-01', 'order=up', 'after=x', 'cursor=x', 'venueId=x'],
    ...['waitSeconds=0', 'waitSeconds=31', 'waitSeconds=1.5', 'waitSeconds=%205', 'limit=1e1'],
  ])('400 for %s', async (query) =>
    expectInvalid(await admin.get(`/v1/events?${query}`), `query.${query.split('=')[0]}`),
  );

  it('200 at once with waitSeconds when there are events', async () => {
    expect(await found('?waitSeconds=30&limit=1')).toEqual([6]);
  });
});

describe('long polling with order=asc&after&waitSeconds', () => {
  let tv: BoundTv;
  let last: string;

  /** A long poll: its response, and whether it has arrived. */
  const hold = async (query: string, signal?: AbortSignal) => {
    const waiting = service.clock.waiting;
    const held = {
      isOver: false,
      answer: admin.send('GET', `/v1/events${query}`, signal ? { signal } : {}),
    };
    held.answer.then(
      () => (held.isOver = true),
      () => (held.isOver = true),
    );
    await expect.poll(() => service.clock.waiting).toBeGreaterThan(waiting);
    return held;
  };

  beforeAll(async () => {
    service = await startService();
    admin = manager(service);
    tv = await service.tv();
    await post(tv, event(0));
    last = (await ask('?order=asc')).items[0]!.id;
  });

  it('200 with later events, oldest first, each exactly once', async () => {
    const seen: number[] = [];
    for (let round = 0; round < 3; round++) {
      await post(tv, event(round * 2 + 1), event(round * 2 + 2));
      const { items } = await ask(`?order=asc&after=${last}&waitSeconds=5`);
      seen.push(...numbers(items));
      last = items.at(-1)!.id;
    }
    expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await ask(`?order=asc&after=${last}`)).toEqual({ items: [], nextCursor: null });
  });

  it('200 only for events that match the filters', async () => {
    const held = await hold(`?order=asc&after=${last}&type=log&waitSeconds=30`);
    await post(tv, event(11));
    await post(tv, event(12));
    await ask('');
    expect(held.isOver).toBe(false);
    await post(tv, event(13, { type: 'log' }));
    expect(numbers((await held.answer).body.items)).toEqual([13]);
    last = (await ask('?limit=1')).items[0]!.id;
  });

  it('200 and empty at the end of the wait', async () => {
    const held = await hold(`?order=asc&after=${last}&waitSeconds=2`);
    service.clock.advance(1999);
    await ask('');
    expect(held.isOver).toBe(false);
    service.clock.advance(1);
    expect((await held.answer).body).toEqual({ items: [], nextCursor: null });
  });

  it('leaves no timer when the client disconnects', async () => {
    const waiting = service.clock.waiting;
    const controller = new AbortController();
    const held = await hold(`?order=asc&after=${last}&waitSeconds=30`, controller.signal);
    controller.abort();
    await expect(held.answer).rejects.toThrow();
    await expect.poll(() => service.clock.waiting).toBe(waiting);
  });

  it('200 when it begins before the first event', async () => {
    const other = await admin.tenant('Fresh');
    const inside = admin.in(other.id);
    const waiting = service.clock.waiting;
    const answer = inside.get('/v1/events?order=asc&waitSeconds=30');
    await expect.poll(() => service.clock.waiting).toBeGreaterThan(waiting);
    // Events of another tenant do not end the long poll.
    await post(tv, event(20));
    const venue = await inside.venue('Hall');
    const screen = await inside.screen(venue.id, 'TV');
    const { code } = await inside.code(screen.id);
    const { body } = await service.register(code);
    await service.send('POST', `/devices/${screen.id}/events`, {
      key: body.apiKey,
      body: [event(21)],
    });
    expect(numbers((await answer).body.items)).toEqual([21]);
  });
});
