import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { item } from '../../support/content.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { expectProblem } from '../../support/problem.ts';
import {
  type Answer,
  type BoundTv,
  startService,
  type TestService,
} from '../../support/service.ts';

type Service = TestService<Clock>;

/** Sends one request for changes. */
const ask = (tv: BoundTv, query = '', signal?: AbortSignal) =>
  tv.send('GET', `changes${query}`, signal ? { signal } : {});

const cursorOf = async (tv: BoundTv): Promise<string> => (await ask(tv)).body.cursor;

/** Starts a hold, and resolves when the service holds it. */
async function hold(
  service: Service,
  tv: BoundTv,
  { waitSeconds = 50, signal }: { waitSeconds?: number; signal?: AbortSignal } = {},
) {
  const query = `?after=${await cursorOf(tv)}&waitSeconds=${waitSeconds}`;
  const before = await heldCount(service);
  let hasEnded = false;
  const answer = ask(tv, query, signal).finally(() => {
    hasEnded = true;
  });
  answer.catch(() => {});
  await expect.poll(() => heldCount(service), { interval: 5 }).toBe(before + 1);
  return { answer, isHeld: () => !hasEnded };
}

async function heldCount(service: Service): Promise<number> {
  const { text } = await service.send('GET', '/metrics');
  return Number(/^signage_held_devices (\d+)$/m.exec(text)?.[1]);
}

const publish = (service: Service, { screenId }: BoundTv, content: object = { items: [item()] }) =>
  service.manage('PUT', `/v1/screens/${screenId}/playlist`, content);

/** Expects that an answer comes within a second, far before the end of its hold. */
async function soon(answer: Promise<Answer>): Promise<Answer> {
  const late = sleep(5000).then(() => {
    throw new Error('The answer is still held.');
  });
  return Promise.race([answer, late]);
}

describe.each(['memory', 'postgres'] as const)('GET /devices/:id/changes, %s', (kind) => {
  let service: Service;
  beforeAll(async () => {
    const store = kind === 'memory' ? 'memory:' : await freshDatabase();
    service = await startService({ clock: systemClock, store });
  });

  it('200 at once without `after`: the ETags that playlist and config have', async () => {
    const tv = await service.tv();
    await publish(service, tv);
    const answer = await ask(tv, '?waitSeconds=50');
    const playlist = await tv.send('GET', 'playlist');
    const config = await tv.send('GET', 'config');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual({
      cursor: expect.stringMatching(/^[\w-]{16,64}$/),
      playlist: { version: 1, etag: playlist.headers.get('etag') },
      config: { etag: config.headers.get('etag') },
    });
    expect((await ask(tv, `?after=${answer.body.cursor}`)).body).toEqual(answer.body);
    expect((await ask(tv, '?after=other&waitSeconds=50')).body).toEqual(answer.body);
  });

  it('200 with the playlist `null` without a playlist', async () => {
    const tv = await service.tv();
    expect((await ask(tv)).body.playlist).toBeNull();
  });

  it.each([
    ['a playlist', (of: BoundTv) => ['PUT', `/v1/screens/${of.screenId}/playlist`] as const],
    [
      'a config of its screen',
      (of: BoundTv) => ['PUT', `/v1/screens/${of.screenId}/config`] as const,
    ],
    ['a config of its venue', (of: BoundTv) => ['PUT', `/v1/venues/${of.venueId}/config`] as const],
    [
      'a config of its tenant',
      (of: BoundTv) => ['PUT', `/v1/tenants/${of.tenantId}/config`] as const,
    ],
  ])('a held answer comes with %s, and has its ETag', async (what, changeOf) => {
    const tv = await service.tv();
    const { answer } = await hold(service, tv);
    const [method, path] = changeOf(tv);
    const isPlaylist = what === 'a playlist';
    const body = isPlaylist ? { items: [item()] } : { colour: crypto.randomUUID() };
    expect((await service.manage(method, path, body)).status).toBe(200);
    const { status, body: changes } = await soon(answer);
    expect(status).toBe(200);
    const fetched = await tv.send('GET', isPlaylist ? 'playlist' : 'config');
    const told = isPlaylist ? changes.playlist : changes.config;
    expect(told.etag).toBe(fetched.headers.get('etag'));
  });

  it('a held answer comes when the playlist is withdrawn, and when it ends', async () => {
    const tv = await service.tv();
    await publish(service, tv);
    const withdrawn = await hold(service, tv);
    await service.manage('DELETE', `/v1/screens/${tv.screenId}/playlist`);
    expect((await soon(withdrawn.answer)).body.playlist).toBeNull();
    const validUntil = Math.ceil(Date.now() / 1000) + 1;
    await publish(service, tv, { items: [item()], validUntil });
    const ended = await hold(service, tv);
    expect((await soon(ended.answer)).body.playlist).toBeNull();
    expect(Date.now()).toBeGreaterThanOrEqual(validUntil * 1000);
  });

  it('changes of other screens do not end a hold', async () => {
    const [tv, other] = [await service.tv(), await service.tv()];
    const abort = new AbortController();
    const { isHeld } = await hold(service, tv, { signal: abort.signal });
    await publish(service, other);
    await sleep(100);
    expect(isHeld()).toBe(true);
    abort.abort();
    await expect.poll(() => heldCount(service)).toBe(0);
  });

  it('the same answer when the time is over: 80 to 100 % of `waitSeconds`', async () => {
    const tv = await service.tv();
    const cursor = await cursorOf(tv);
    const startMs = performance.now();
    const answer = await ask(tv, `?after=${cursor}&waitSeconds=1`);
    expect(answer.body.cursor).toBe(cursor);
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(790);
  });

  it('401 for a hold whose device is revoked, or whose screen is deleted', async () => {
    const [revoked, deleted] = [await service.tv(), await service.tv()];
    const first = await hold(service, revoked);
    const second = await hold(service, deleted);
    await service.manage('POST', `/v1/devices/${revoked.deviceId}/revoke`);
    expectProblem(await soon(first.answer), 401, 'device_key_revoked');
    await service.manage('DELETE', `/v1/screens/${deleted.screenId}?force=true`);
    expectProblem(await soon(second.answer), 401, 'device_key_orphaned');
  });

  it('a hold that is refused marks the device as refused', async () => {
    const tv = await service.tv();
    const { answer } = await hold(service, tv);
    await service.manage('POST', `/v1/devices/${tv.deviceId}/revoke`);
    const revokedMs = Date.now();
    await soon(answer);
    const { body } = await service.manage('GET', `/v1/devices/${tv.deviceId}`);
    expect(Date.parse(body.lastRefusedAt)).toBeGreaterThanOrEqual(revokedMs - 1000);
  });

  it('a third hold of one device answers the oldest', async () => {
    const tv = await service.tv();
    const first = await hold(service, tv);
    const second = await hold(service, tv);
    const query = `?after=${await cursorOf(tv)}&waitSeconds=50`;
    const abort = new AbortController();
    ask(tv, query, abort.signal).catch(() => {});
    expect((await soon(first.answer)).status).toBe(200);
    expect(second.isHeld()).toBe(true);
    await service.manage('POST', `/v1/devices/${tv.deviceId}/revoke`);
    await soon(second.answer);
    await expect.poll(() => heldCount(service)).toBe(0);
  });

  it('a TV that disconnects is not held any longer', async () => {
    const tv = await service.tv();
    const abort = new AbortController();
    await hold(service, tv, { signal: abort.signal });
    abort.abort();
    await expect.poll(() => heldCount(service)).toBe(0);
  });

  it('counts the hint, and the answered hold', async () => {
    const tv = await service.tv();
    const { answer } = await hold(service, tv);
    await publish(service, tv);
    await soon(answer);
    const { text } = await service.send('GET', '/metrics');
    expect(Number(/^signage_hint_seconds_count (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(0);
    expect(text).toMatch(
      /^signage_http_held_requests_total\{operation="getDeviceChanges"\} [1-9]/m,
    );
  });

  it('tells many TVs of one change, all within 5 seconds', async () => {
    const venue = await service.venue();
    const tvs: BoundTv[] = [];
    for (let n = 0; n < 60; n++)
      tvs.push(await service.tv((await service.screen({ venueId: venue.id })).id));
    const holds = [];
    for (const tv of tvs) holds.push(ask(tv, `?after=${await cursorOf(tv)}&waitSeconds=50`));
    await expect.poll(() => heldCount(service)).toBe(tvs.length);
    await service.manage('PUT', `/v1/venues/${venue.id}/config`, { colour: 'red' });
    const answers = await Promise.all(holds.map(soon));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await heldCount(service)).toBe(0);
  });
});

describe('GET /devices/:id/changes', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });

  it.each(['0', '51', '1.5', '-1', 'abc', ''])('400 waitSeconds=%s', async (waitSeconds) => {
    const answer = await ask(await service.tv(), `?waitSeconds=${waitSeconds}`);
    expectProblem(answer, 400, 'invalid_request', ['query.waitSeconds']);
  });

  it.each(['', 'x'.repeat(65)])('400 after=%s', async (after) => {
    const answer = await ask(await service.tv(), `?after=${after}`);
    expectProblem(answer, 400, 'invalid_request', ['query.after']);
  });

  it('marks the device as seen', async () => {
    const tv = await service.tv();
    service.clock.advance(60_000);
    await ask(tv);
    const { body } = await service.manage('GET', `/v1/devices/${tv.deviceId}`);
    expect(body.lastSeenAt).toBe(new Date(service.clock.now()).toISOString());
  });

  it('401 for the id of another screen, without a hold', async () => {
    const [tv, other] = [await service.tv(), await service.tv()];
    const answer = await service.send('GET', `/devices/${other.screenId}/changes?waitSeconds=50`, {
      key: tv.apiKey,
    });
    expectProblem(answer, 401, 'device_key_mismatch');
  });
});

it('a service that stops answers its holds', async () => {
  const service = await startService({ clock: systemClock });
  const tvs = [await service.tv(), await service.tv()];
  const holds = [];
  for (const tv of tvs) holds.push(await hold(service, tv));
  await service.close();
  for (const { answer } of holds) expect((await answer).status).toBe(200);
});

it('two instances: a change through one ends the hold of the other', async () => {
  const store = await freshDatabase();
  const [one, other] = [
    await startService({ clock: systemClock, store }),
    await startService({ clock: systemClock, store }),
  ];
  const tv = await one.tv();
  const held = await hold(one, tv);
  await publish(other, tv);
  expect((await soon(held.answer)).body.playlist.version).toBe(1);
  const again = await hold(one, tv);
  await other.manage('POST', `/v1/devices/${tv.deviceId}/revoke`);
  expectProblem(await soon(again.answer), 401, 'device_key_revoked');
});
