import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { item } from '../../support/service/content.ts';
import { expectProblem } from '../../support/service/problem.ts';
import {
  type Answer,
  type BoundTv,
  startService,
  type TestService,
} from '../../support/service/service.ts';
import { heldDevices } from '../../support/tv/held-devices.ts';

type Service = TestService<Clock>;

/** Sends one request for changes. */
const ask = (tv: BoundTv, query = '', signal?: AbortSignal) =>
  tv.send('GET', `changes${query}`, signal ? { signal } : {});

const cursorOf = async (tv: BoundTv): Promise<string> => (await ask(tv)).body.cursor;

/** Starts the longest hold, and resolves when the service holds it. */
async function hold(service: Service, tv: BoundTv, signal?: AbortSignal) {
  const query = `?after=${await cursorOf(tv)}&waitSeconds=600`;
  const before = await heldDevices(service);
  let hasEnded = false;
  const answer = ask(tv, query, signal).finally(() => {
    hasEnded = true;
  });
  answer.catch(() => {});
  await expect.poll(() => heldDevices(service), { interval: 5 }).toBe(before + 1);
  return { answer, isHeld: () => !hasEnded };
}

const publish = (service: Service, { screenId }: BoundTv, content: object = { items: [item()] }) =>
  service.manage('PUT', `/v1/screens/${screenId}/playlist`, content);

/** Expects that an answer comes far before the end of its hold. */
async function soon(answer: Promise<Answer>): Promise<Answer> {
  const late = sleep(20_000).then(() => {
    throw new Error('The answer is still held.');
  });
  return Promise.race([answer, late]);
}

describe('GET /devices/:id/changes', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ clock: systemClock });
  });

  it('200 at once for the current cursor without a wait, and for another cursor', async () => {
    const tv = await service.tv();
    const { body, headers } = await ask(tv, '?waitSeconds=50');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body.cursor).toMatch(/^[\w-]{16,64}$/);
    expect((await ask(tv, `?after=${body.cursor}`)).body).toEqual(body);
    expect((await ask(tv, '?after=other&waitSeconds=50')).body).toEqual(body);
  });

  it.each([
    ['venue', (of: BoundTv) => of.venueId],
    ['tenant', (of: BoundTv) => of.tenantId],
  ])('a held answer comes with a config of its %s, and has its ETag', async (level, idOf) => {
    const tv = await service.tv();
    const { answer } = await hold(service, tv);
    const body = { colour: crypto.randomUUID() };
    await service.manage('PUT', `/v1/${level}s/${idOf(tv)}/config`, body);
    const { config } = (await soon(answer)).body;
    expect(config.etag).toBe((await tv.send('GET', 'config')).headers.get('etag'));
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

  it('changes of other screens do not end a hold, a lost connection does', async () => {
    const [tv, other] = [await service.tv(), await service.tv()];
    const abort = new AbortController();
    const { isHeld } = await hold(service, tv, abort.signal);
    await publish(service, other);
    await sleep(100);
    expect(isHeld()).toBe(true);
    abort.abort();
    await expect.poll(() => heldDevices(service)).toBe(0);
  });

  it('401 for a hold whose screen is deleted', async () => {
    const tv = await service.tv();
    const { answer } = await hold(service, tv);
    await service.manage('DELETE', `/v1/screens/${tv.screenId}?force=true`);
    expectProblem(await soon(answer), 401, 'device_key_orphaned');
  });

  it('401 for a hold whose device is revoked, which marks the device as refused', async () => {
    const tv = await service.tv();
    const { answer } = await hold(service, tv);
    await service.manage('POST', `/v1/devices/${tv.deviceId}/revoke`);
    const revokedMs = Date.now();
    expectProblem(await soon(answer), 401, 'device_key_revoked');
    const { body } = await service.manage('GET', `/v1/devices/${tv.deviceId}`);
    expect(Date.parse(body.lastRefusedAt)).toBeGreaterThanOrEqual(revokedMs - 1000);
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
});

it('a request for changes marks the device as seen', async () => {
  const service = await startService();
  const tv = await service.tv();
  service.clock.advance(60_000);
  await ask(tv);
  const { body } = await service.manage('GET', `/v1/devices/${tv.deviceId}`);
  expect(body.lastSeenAt).toBe(new Date(service.clock.now()).toISOString());
});

it('an unchanged answer is held for up to 10 minutes', async () => {
  const service = await startService();
  const tv = await service.tv();
  const { answer, isHeld } = await hold(service, tv);
  service.clock.advance(0.8 * 600_000 - 1000);
  await sleep(100);
  expect(isHeld()).toBe(true);
  service.clock.advance(0.2 * 600_000 + 1000);
  expect((await soon(answer)).body).toEqual((await ask(tv)).body);
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
