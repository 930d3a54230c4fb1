import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { EventInput } from '../../src/client/entities.ts';
import type { Requester } from '../../src/client/requester.ts';
import { type Clock, hourMs, minuteMs, secondMs, systemClock } from '../../src/domain/clock.ts';
import type { PlayerState } from '../../src/player/state.ts';
import {
  hangUp,
  problem,
  raw,
  type StubService,
  stubService,
} from '../support/network/stub-service.ts';
import { startService, type TestService } from '../support/service/service.ts';
import { config } from '../support/service/tv-place.ts';
import { video, virtualTv } from '../support/tv/virtual-tv.ts';
import { type Answer, accepted, memoryWith } from './saved-tv.ts';

let service: TestService<Clock>;
beforeAll(async () => {
  service = await startService<Clock>({ clock: systemClock });
});

const startMs = 1_790_000_000_000;
const logs = (count: number): EventInput[] =>
  Array.from({ length: count }, (_, at) => ({ type: 'log', timestamp: startMs / 1000, at }));
const places = (events: readonly EventInput[]) => events.map(({ at }) => at);

let stub: StubService;
afterEach(() => stub?.close());

/**
 * Creates a TV with queued events, and a stub that answers batches with these responses in turn.
 * The last one repeats.
 */
async function tvWithEvents(count: number, answers: Answer[], more: object = {}) {
  stub = await stubService((response, request) => {
    if (request.method === 'GET')
      return problem(404, 'playlist_not_found', 'No.')(response, request);
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    return (answer ?? accepted)(response, request);
  });
  const memory = await memoryWith({ config, queue: logs(count), ...more });
  return { ...virtualTv({ url: stub.url, memory, startMs }), posts: () => posts(stub) };
}

const posts = ({ heard }: StubService) =>
  heard
    .filter(({ method }) => method === 'POST')
    .map(({ body, headers }) => ({
      body,
      events: JSON.parse(body),
      key: headers['idempotency-key'],
    }));
/** Sends until the queue is empty. Failures are collected in `told`. */
async function flushAll({
  player,
}: {
  player: { flush(): Promise<number>; state: { queued: number } };
}) {
  let left = 50;
  do await player.flush().catch(() => {});
  while (player.state.queued > 0 && left-- > 0);
}

describe('The events of a player', () => {
  it('are sent in batches of at most 100, oldest first, each with its own key', async () => {
    const tv = await tvWithEvents(250, [accepted]);
    while ((await tv.player.flush()) > 0);
    expect(tv.posts().map(({ events }) => [events.length, events[0].at])).toEqual([
      [100, 0],
      [100, 100],
      [50, 200],
    ]);
    expect(new Set(tv.posts().map(({ key }) => key)).size).toBe(3);
    expect(tv.told.acknowledged.map(({ received }) => received)).toEqual([100, 100, 50]);
    expect(await tv.memory.load()).toMatchObject({ queue: [], batch: undefined });
  });

  it('are saved as a batch with its key before it is first sent', async () => {
    const saved: (PlayerState | undefined)[] = [];
    const tv = await tvWithEvents(3, [hangUp]);
    const watched = virtualTv({
      url: stub.url,
      memory: tv.memory,
      startMs,
      observer: { onSending: async () => void saved.push(await tv.memory.load()) },
    });
    await watched.player.flush().catch(() => {});
    const [post] = tv.posts();
    expect(saved[0]?.batch).toEqual({ events: logs(3), idempotencyKey: post?.key });
    expect(saved[0]?.queue).toEqual([]);
  });

  it.each([
    ['no response', hangUp],
    ['503', problem(503, 'unavailable', 'No.')],
    ['500', problem(500, 'internal_error', 'No.')],
    ['a truncated response', raw(202, '{"recei', { 'content-type': 'application/json' })],
    ['a permanent error', problem(415, 'unsupported_media_type', 'No.')],
  ])(
    'are retried after %s: the same bytes with the same key, before other events',
    async (_, answer) => {
      const tv = await tvWithEvents(120, [answer, answer, accepted]);
      await flushAll(tv);
      const [first, second, third, fourth] = tv.posts();
      expect([second, third]).toEqual([first, first]);
      expect(tv.told.sent[2]).toBe(tv.told.sent[0]);
      expect(places(fourth?.events)).toEqual(places(logs(120)).slice(100));
      expect(tv.told.dropped).toEqual([]);
    },
  );

  it('are dropped if a 400 names them, and the others are sent with a new key', async () => {
    const errors = [
      { path: '/1/timestamp', message: 'x' },
      { path: '/3', message: 'x' },
      { path: '/99', message: 'x' },
    ];
    const tv = await tvWithEvents(5, [
      problem(400, 'invalid_request', 'No.', { errors }),
      accepted,
    ]);
    await flushAll(tv);
    expect(tv.posts().map(({ events }) => places(events))).toEqual([
      [0, 1, 2, 3, 4],
      [0, 2, 4],
    ]);
    expect(tv.posts()[1]?.key).not.toBe(tv.posts()[0]?.key);
    expect(tv.told.dropped.map(({ events, why }) => [places(events), why])).toEqual([
      [[1, 3], 'refused'],
    ]);
    expect(tv.player.state.queued).toBe(0);
  });

  it.each([
    ['400 that names no event', 400, 'invalid_json'],
    ['413', 413, 'body_too_large'],
  ])('are sent in halves after a %s, until the rejected one is found', async (_, status, code) => {
    const bad: Answer = (response, request) =>
      (JSON.parse(request.body).some(({ at }: { at: number }) => at === 5)
        ? problem(status, code, 'No.')
        : accepted)(response, request);
    const tv = await tvWithEvents(8, [bad]);
    await flushAll(tv);
    expect(tv.posts().map(({ events }) => places(events))).toEqual([
      [0, 1, 2, 3, 4, 5, 6, 7],
      [0, 1, 2, 3],
      [4, 5, 6, 7],
      [4, 5],
      [4],
      [5, 6],
      [5],
      [6],
      [7],
    ]);
    expect(new Set(tv.posts().map(({ key }) => key)).size).toBe(9);
    expect(tv.told.dropped.map(({ events, why }) => [places(events), why])).toEqual([
      [[5], 'refused'],
    ]);
    expect(tv.told.acknowledged.flatMap(({ batch }) => places(batch.events))).toEqual([
      0, 1, 2, 3, 4, 6, 7,
    ]);
  });

  it('get a new key after idempotency_key_reused', async () => {
    const tv = await tvWithEvents(2, [problem(400, 'idempotency_key_reused', 'No.'), accepted]);
    await flushAll(tv);
    const [first, second] = tv.posts();
    expect(second?.body).toBe(first?.body);
    expect(second?.key).not.toBe(first?.key);
    expect(tv.told.dropped).toEqual([]);
  });

  it('are queued while the service is down, and stored once with their own times afterwards', async () => {
    const { code, screenId } = await service.code();
    await service.manage('PUT', `/v1/screens/${screenId}/playlist`, { items: [video(1, 30)] });
    let isDown = false;
    const wire =
      (send: Requester): Requester =>
      (url, parts) =>
        isDown ? Promise.reject(new Error('The cable is out.')) : send(url, parts);
    const tv = virtualTv({ url: service.url, wire, nextCode: async () => code, startMs });
    tv.at(10 * minuteMs, () => {
      isDown = true;
    });
    tv.at(70 * minuteMs, () => {
      isDown = false;
    });
    await tv.player.run(undefined, 90 * minuteMs);
    const { body } = await service.manage(
      'GET',
      `/v1/events?screenId=${screenId}&order=asc&limit=200`,
    );
    const second = await service.manage(
      'GET',
      `/v1/events?screenId=${screenId}&order=asc&limit=200&cursor=${body.nextCursor}`,
    );
    const stored = [...body.items, ...(body.nextCursor ? second.body.items : [])].map(
      ({ event }) => event,
    );
    expect(stored).toEqual(tv.told.events);
    const impressions = stored.filter(({ type }) => type === 'impression');
    expect(impressions.map(({ timestamp }) => timestamp - startMs / 1000)).toEqual(
      Array.from({ length: 180 }, (_, at) => 30 * (at + 1)),
    );
    expect(tv.told.phases).toContain('offline');
    expect(tv.told.dropped).toEqual([]);
  });

  it('are limited: the oldest are dropped, but never the pending batch', async () => {
    const tv = await tvWithEvents(0, [hangUp]);
    const small = virtualTv({ url: stub.url, memory: tv.memory, startMs, queueLimit: 5 });
    await small.player.fetchPlaylist().catch(() => {});
    const [first, second, ...rest] = logs(8) as [EventInput, EventInput, ...EventInput[]];
    small.player.report(first);
    small.player.report(second);
    await small.player.flush().catch(() => {});
    for (const event of rest) small.player.report(event);
    expect(places(small.player.state.batch?.events ?? [])).toEqual([0, 1]);
    expect(small.told.dropped.map(({ events, why }) => [places(events), why])).toEqual([
      [[2], 'overflow'],
      [[3], 'overflow'],
      [[4], 'overflow'],
    ]);
    expect(small.player.state.queued).toBe(5);
  });

  it('are kept for the retention time of the config', async () => {
    const hours = 2;
    const tv = await tvWithEvents(1, [hangUp], {
      config: { ...config, cachePolicy: { maxSizeGB: 1, retentionDays: hours / 24 } },
    });
    await tv.player.run(undefined, 3 * hourMs);
    const overflow = tv.told.dropped.flatMap(({ events }) => events);
    expect(overflow.length).toBeGreaterThan(55);
    expect(tv.told.dropped.every(({ why }) => why === 'overflow')).toBe(true);
    expect(tv.told.events.length + 1).toBe(overflow.length + tv.player.state.queued);
    // The outcome of the first batch is unknown.
    expect(tv.player.state.batch?.events.map(({ type }) => type)).toEqual(['log', 'app_started']);
    for (const { timestamp } of overflow)
      expect(timestamp).toBeLessThanOrEqual((startMs + 1 * hourMs) / 1000);
  });

  it('are sent with the heartbeat, when a batch is full, or after reportAfterSeconds', async () => {
    const often = Array.from({ length: 300 }, (_, at) => (at + 1) * 200);
    const tv = await tvWithEvents(0, [accepted]);
    for (const atMs of often)
      tv.at(atMs, () => tv.player.report({ type: 'log', timestamp: 1_790_000_000 }));
    await tv.player.run(undefined, 100 * secondMs);
    // app_started at once, two full batches at 20 and 40 s, the third with or before the heartbeat,
    // then the end.
    expect(tv.posts().map(({ events }) => events.length)).toEqual([1, 100, 100, 100, 1, 1]);
    stub.heard.length = 0;
    const eager = virtualTv({ url: stub.url, memory: tv.memory, startMs, reportAfterSeconds: 0 });
    eager.at(5 * secondMs, () => eager.player.report({ type: 'log', timestamp: 1_790_000_000 }));
    await eager.player.run(undefined, 10 * secondMs);
    expect(tv.posts().map(({ events }) => events.map(({ type }: EventInput) => type))).toEqual([
      ['app_started'],
      ['log'],
      ['app_stopped'],
    ]);
  });

  it('are numbered from the registration on, over power cuts, without gaps or repetitions', async () => {
    const venue = await service.venue();
    const screen = await service.screen({ venueId: venue.id });
    const { code } = await service.code(screen.id);
    const first = virtualTv({ url: service.url, nextCode: async () => code });
    await first.player.run(undefined, 3 * minuteMs);
    const { memory } = first;
    for (let life = 0; life < 3; life++) {
      const tv = virtualTv({ url: service.url, memory });
      const power = new AbortController();
      tv.player.report({ type: 'log', timestamp: Math.floor(Date.now() / 1000) });
      setTimeout(() => power.abort(), 20 * life);
      await tv.player.run(power.signal, 5 * minuteMs);
    }
    await virtualTv({ url: service.url, memory }).player.run(undefined, minuteMs);
    const { body } = await service.manage('GET', `/v1/devices?screenId=${screen.id}`);
    const [{ id, lastSeq, missingEvents, conflictingEvents }] = body.items;
    const events = await service.manage('GET', `/v1/events?deviceId=${id}&limit=200`);
    expect(events.body.items).toHaveLength(lastSeq);
    expect({ missingEvents, conflictingEvents }).toEqual({
      missingEvents: 0,
      conflictingEvents: 0,
    });
    // A new registration counts from 1 again.
    await service.manage('POST', `/v1/devices/${id}/revoke`);
    const next = (await service.code(screen.id)).code;
    const again = virtualTv({ url: service.url, memory, nextCode: async () => next });
    await again.player.run(undefined, 3 * minuteMs);
    const [device] = (await service.manage('GET', `/v1/devices?screenId=${screen.id}&state=bound`))
      .body.items;
    expect(device.id).not.toBe(id);
    expect(device).toMatchObject({ missingEvents: 0, conflictingEvents: 0 });
  });

  it('leave a gap in the numbers when they are given up, and tell the time of each attempt', async () => {
    const refusal = problem(400, 'invalid_request', 'No.', {
      errors: [{ path: '/1/type', message: 'is wrong' }],
    });
    const tv = await tvWithEvents(0, [hangUp, refusal, accepted]);
    for (const event of logs(3)) tv.player.report(event);
    await flushAll(tv);
    const sent = tv.posts().map(({ events }) => events.map(({ seq }: EventInput) => seq));
    expect(sent).toEqual([
      [1, 2, 3],
      [1, 2, 3],
      [1, 3],
    ]);
    const times = stub.heard
      .filter(({ method }) => method === 'POST')
      .map(({ headers }) => Number(headers['x-device-time']));
    for (const time of times) expect(Math.abs(time - startMs)).toBeLessThan(minuteMs);
    expect(times.toSorted()).toEqual(times);
  });
});
