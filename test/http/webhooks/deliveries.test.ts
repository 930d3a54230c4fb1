import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs, secondMs } from '../../../src/domain/clock.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import {
  isSignedBy,
  type Receiver,
  startReceiver,
} from '../../support/network/webhook-receiver.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { expectProblem, item, type Manager, manager } from '../../support/service/management.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { believeClock } from '../../support/stores/believed-clock.ts';
import { faultyStore } from '../../support/stores/faulty-store.ts';
import { besideHangingWebhooks } from './hanging-webhooks.ts';

let service: TestService;
let admin: Manager;
let receiver: Receiver;
let venueId: string;
let screenId: string;
beforeEach(async () => {
  receiver = await startReceiver();
  service = await startService({ webhookAllow: ['127.0.0.1'] });
  admin = manager(service);
  venueId = (await admin.venue('Lobby')).id;
  screenId = (await admin.screen(venueId, 'Main')).id;
});
afterEach(() => service.close());

const webhook = async (more: object = {}, caller = admin) => {
  const answer = await caller.post('/v1/webhooks', { url: receiver.url, ...more });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
};
let published = 0;
/** Publishes a playlist, which causes one notice. */
const publish = (screen = screenId) =>
  admin.put(`/v1/screens/${screen}/playlist`, { items: [item({ duration: ++published })] });
const count = (expected: number) => expect.poll(() => receiver.received.length).toBe(expected);
const notices = async (type: string) =>
  (await admin.get(`/v1/notices?type=${type}`)).body.items as { id: string; data: object }[];
const deliveries = async (id: string, query = '') =>
  (await admin.get(`/v1/webhooks/${id}/deliveries${query}`)).body.items;
/** Waits until the oldest waiting notice was tried so often. */
const tried = (id: string, times: number) =>
  expect
    .poll(async () => (await deliveries(id, '?state=pending')).at(-1)?.attempts.length)
    .toBe(times);
const stateOf = async (id: string) => (await admin.get(`/v1/webhooks/${id}`)).body.state;
const fail = (status: number, headers: Record<string, string> = {}) => {
  receiver.answer = (response) => response.writeHead(status, headers).end();
};
const succeed = () => fail(204);
/** Time of a retry, with the largest possible spread. */
const elapse = (pauseMs: number) => service.clock.advance(1.1 * pauseMs + 1);
const pauses = [5 * secondMs, 5 * minuteMs, 30 * minuteMs].concat(
  [2, 5, 10, 14, 20, 24].map((hours) => hours * hourMs),
);

describe('a delivery', () => {
  it('has the id of the notice, its data, and a signature', async () => {
    const { secret } = await webhook();
    await publish();
    await count(1);
    const [message] = receiver.received;
    const [notice] = await notices('playlist.published');
    expect(receiver.ids()).toEqual([notice?.id]);
    expect(message?.body).toMatchObject({
      type: 'playlist.published',
      timestamp: new Date(service.clock.now()).toISOString(),
      data: { venueId, screenId, venue: 'Lobby', screen: 'Main' },
    });
    expect(message && isSignedBy(message, secret)).toBe(true);
    expect(message && isSignedBy(message, `${secret.slice(0, -3)}AA=`)).toBe(false);
    expect(message?.headers['content-type']).toBe('application/json');
  });

  it('is signed by the old secret too, for 24 hours after a rotation', async () => {
    const { id, secret } = await webhook();
    const next = (await admin.post(`/v1/webhooks/${id}/secret`)).body;
    await publish();
    await expect.poll(async () => (await deliveries(id))[0]?.state).toBe('delivered');
    service.clock.advance(dayMs + 1);
    await publish();
    await count(2);
    const signed = receiver.received.map((message) => [
      isSignedBy(message, secret),
      isSignedBy(message, next.secret),
    ]);
    expect(signed).toEqual([
      [true, true],
      [false, true],
    ]);
  });

  it('is made for the types and venues that the webhook names', async () => {
    const other = await admin.venue('Elsewhere');
    const elsewhere = await admin.screen(other.id, 'Other');
    await webhook({ types: ['playlist.*'], venueIds: [venueId] });
    await admin.tv(screenId);
    await publish(elsewhere.id);
    await publish();
    await count(1);
    expect(receiver.received[0]?.body).toMatchObject({
      type: 'playlist.published',
      data: { venueId },
    });
  });

  it('is limited to the venues of the token that created the webhook', async () => {
    const bound = await admin.newToken({ name: 'Bound', role: 'admin', venueIds: [venueId] });
    const other = await admin.screen((await admin.venue('Elsewhere')).id, 'Other');
    const made = await webhook({}, manager(service, bound.token));
    expect(made.venueIds).toEqual([venueId]);
    await publish(other.id);
    await publish();
    await count(1);
    expect(receiver.received[0]?.body.data.venueId).toBe(venueId);
  });

  it('counts also if the webhook was paused meanwhile, and not if it was deleted', async () => {
    let end = () => {};
    receiver.answer = (response) => {
      end = () => response.writeHead(204).end();
    };
    const { id } = await webhook();
    await publish();
    await count(1);
    await admin.patch(`/v1/webhooks/${id}`, { state: 'paused' });
    end();
    await expect.poll(async () => (await deliveries(id))[0]?.state).toBe('delivered');
    expect(await stateOf(id)).toBe('paused');
    await admin.patch(`/v1/webhooks/${id}`, { state: 'active' });
    await publish();
    await count(2);
    await admin.delete(`/v1/webhooks/${id}`);
    end();
    succeed();
    await webhook();
    await publish();
    await count(3);
    expect((await admin.get('/v1/webhooks')).body.items).toHaveLength(1);
  });

  it('happens once, also across a restart', async () => {
    await service.close();
    const store = await temporaryFolder();
    service = await startService({ store, webhookAllow: ['127.0.0.1'] });
    admin = manager(service);
    screenId = (await admin.screen((await admin.venue('Kept')).id, 'Main')).id;
    await webhook();
    await publish();
    await count(1);
    fail(503);
    await publish();
    await count(2);
    await service.restart();
    succeed();
    await publish();
    elapse(5 * secondMs);
    await count(4);
    const [first, failed, repeated, last] = receiver.ids();
    expect(repeated).toBe(failed);
    expect(new Set([first, failed, last]).size).toBe(3);
  });
});

it('of a notice whose time is over is forgotten, failed or not', async () => {
  await service.close();
  const clock = new ManualClock();
  const store = await openStore('memory:', { clock });
  service = await startService({ store, clock, webhookAllow: ['127.0.0.1'], retentionDays: 1 });
  admin = manager(service);
  screenId = (await admin.screen((await admin.venue('Old')).id, 'Main')).id;
  await believeClock(store);
  const { id } = await webhook();
  fail(400);
  await publish();
  await expect.poll(async () => (await deliveries(id))[0]?.state).toBe('dead');
  const rows = () => store.read.select('webhookDeliveries', 'webhookId', [id]);
  expect(await rows()).toHaveLength(1);
  service.clock.advance(2 * dayMs);
  await expect.poll(rows).toEqual([]);
  await service.close();
  await store.close();
});

it('whose outcome could not be stored happens again 20 seconds later', async () => {
  await service.close();
  const clock = new ManualClock();
  const inner = await openStore('memory:', { clock });
  const store = faultyStore(inner);
  service = await startService({ store, clock, webhookAllow: ['127.0.0.1'] });
  admin = manager(service);
  screenId = (await admin.screen((await admin.venue('Old')).id, 'Main')).id;
  await webhook();
  receiver.answer = (response) => {
    store.faultOfWrites = 'error';
    response.writeHead(204).end();
  };
  await publish();
  await count(1);
  // Until the failure was noticed, the pause before the next attempt has not begun.
  await expect
    .poll(() => {
      store.faultOfWrites = receiver.received.length > 1 ? 'no' : 'error';
      clock.advance(secondMs);
      return receiver.received.length;
    })
    .toBe(2);
  expect(new Set(receiver.ids()).size).toBe(1);
  await service.close();
  await inner.close();
});

describe('a receiver that is away', () => {
  it('for 24 hours gets all notices afterwards, in order, none under two ids', async () => {
    const { id } = await webhook();
    fail(503);
    for (let number = 1; number <= 5; number++) await publish();
    const whileAway = pauses.slice(0, 6);
    for (const [index, pause] of whileAway.entries()) {
      await tried(id, index + 1);
      elapse(pause);
    }
    await tried(id, 7);
    succeed();
    // The next attempt begins 32 hours after the first one.
    elapse(14 * hourMs);
    await count(12);
    await expect.poll(() => deliveries(id, '?state=pending')).toEqual([]);
    const logged = (await notices('playlist.published')).map((notice) => notice.id).reverse();
    expect(logged).toHaveLength(5);
    expect([...new Set(receiver.ids())]).toEqual(logged);
    // Only the oldest was tried again.
    expect(receiver.ids().filter((one) => one !== logged[0])).toEqual(logged.slice(1));
  });

  it('for longer loses a notice after 10 attempts, and then gets the next', async () => {
    const { id } = await webhook();
    fail(500);
    await publish();
    await publish();
    await count(1);
    for (const [index, pause] of pauses.entries()) {
      await tried(id, index + 1);
      service.clock.advance(0.89 * pause);
      expect(receiver.received).toHaveLength(index + 1);
      if (index === pauses.length - 1) {
        receiver.answer = (response) =>
          response.writeHead(receiver.received.length === 10 ? 500 : 204).end();
      }
      service.clock.advance(0.22 * pause);
    }
    await count(11);
    const [delivered, dead] = await deliveries(id);
    expect(delivered).toMatchObject({ state: 'delivered', attempts: [] });
    expect(dead).toMatchObject({ state: 'dead', nextAt: null });
    expect(dead.attempts).toHaveLength(10);
    expect(dead.attempts[0]).toMatchObject({ status: 500, error: null });
  });

  it('for 5 days is disabled, and told of by a notice', async () => {
    await service.close();
    const clock = new ManualClock();
    const store = await openStore('memory:', { clock });
    await believeClock(store);
    service = await startService({ store, clock, webhookAllow: ['127.0.0.1'] });
    admin = manager(service);
    screenId = (await admin.screen((await admin.venue('Away')).id, 'Main')).id;
    const { id } = await webhook({ types: ['playlist.*'] });
    fail(500);
    await publish();
    for (let attempts = 1; attempts <= 5; attempts++) {
      await tried(id, attempts);
      expect(await stateOf(id)).toBe('active');
      service.clock.advance(25 * hourMs);
    }
    await tried(id, 6);
    expect(await stateOf(id)).toBe('disabled');
    expect(await notices('webhook.disabled')).toMatchObject([
      { data: { webhookId: id, reason: expect.stringMatching(/5 days/) } },
    ]);
    service.clock.advance(27 * hourMs);
    await publish();
    expect(receiver.received).toHaveLength(6);
    succeed();
    await admin.patch(`/v1/webhooks/${id}`, { state: 'active' });
    await count(8);
  });

  it('is tried again when its Retry-After says', async () => {
    const { id } = await webhook();
    fail(429, { 'Retry-After': '3600' });
    await publish();
    await tried(id, 1);
    service.clock.advance(hourMs - 1);
    expect(receiver.received).toHaveLength(1);
    succeed();
    service.clock.advance(1);
    await count(2);
  });
});

describe('a receiver that refuses', () => {
  it('one notice by 4xx gets the next', async () => {
    const { id } = await webhook();
    receiver.answer = (response) =>
      response.writeHead(receiver.received.length === 1 ? 422 : 204).end();
    await publish();
    await publish();
    await count(2);
    await expect
      .poll(async () => (await deliveries(id)).map(({ state }: { state: string }) => state))
      .toEqual(['delivered', 'dead']);
  });

  it('everything by 410 is disabled, and gets the notice once it is activated', async () => {
    const { id } = await webhook();
    fail(410);
    await publish();
    await expect.poll(() => stateOf(id)).toBe('disabled');
    succeed();
    await admin.patch(`/v1/webhooks/${id}`, { state: 'active' });
    await expect.poll(() => deliveries(id, '?state=pending')).toEqual([]);
    expect(new Set(receiver.ids().slice(0, 2)).size).toBe(1);
  });
});

describe('the token of a webhook', () => {
  it.each(['deleted', 'expired'])(
    'that is %s pauses it until another admin confirms',
    async (how) => {
      const expiresAt = new Date(service.clock.now() + hourMs).toISOString();
      const token = await admin.newToken({ name: 'Maker', role: 'admin', expiresAt });
      const { id } = await webhook(
        { types: ['playlist.published'] },
        manager(service, token.token),
      );
      if (how === 'deleted') await admin.delete(`/v1/tokens/${token.id}`);
      else service.clock.advance(hourMs);
      await publish();
      await expect.poll(() => stateOf(id)).toBe('paused');
      expect(receiver.received).toEqual([]);
      await expect
        .poll(() => notices('webhook.paused'))
        .toMatchObject([{ data: { webhookId: id, reason: expect.stringMatching(/token/) } }]);
      const confirmed = await admin.patch(`/v1/webhooks/${id}`, { state: 'active' });
      expect(confirmed.body).toMatchObject({ state: 'active', stateReason: null });
      expect(confirmed.body.tokenId).not.toBe(token.id);
      await count(1);
    },
  );
});

it('a webhook that a replaced SIGNAGE_ADMIN_TOKEN has created is paused after the start', async () => {
  await service.close();
  const options = { store: await temporaryFolder(), webhookAllow: ['127.0.0.1'] };
  service = await startService(options);
  admin = manager(service);
  screenId = (await admin.screen((await admin.venue('Kept')).id, 'Main')).id;
  const { id } = await webhook({ types: ['playlist.*'] });
  await service.close();
  const adminToken = `mak_${'Replacement'.repeat(3)}`;
  service = await startService({ ...options, adminToken });
  admin = manager(service, adminToken);
  await expect.poll(() => stateOf(id)).toBe('paused');
  await publish();
  await expect.poll(() => notices('webhook.paused')).toMatchObject([{ data: { webhookId: id } }]);
  expect(receiver.received).toEqual([]);
  await admin.patch(`/v1/webhooks/${id}`, { state: 'active' });
  await count(1);
});

describe('POST /v1/webhooks/:id/redeliver', () => {
  it('sends notices again by id and by range, under the same ids', async () => {
    const { id } = await webhook();
    await publish();
    await publish();
    await count(2);
    await expect.poll(() => deliveries(id, '?state=pending')).toEqual([]);
    const [first, second] = receiver.ids();
    const path = `/v1/webhooks/${id}/redeliver`;
    const byId = await admin.post(path, { noticeIds: [first, crypto.randomUUID()] });
    expect([byId.status, byId.body]).toEqual([202, { queued: 1 }]);
    await count(3);
    const [from, to] = [-1, 1].map((ms) => new Date(service.clock.now() + ms * 1000).toISOString());
    expect((await admin.post(path, { from, to })).body).toEqual({ queued: 2 });
    await count(5);
    expect(receiver.ids().slice(2)).toEqual([first, first, second]);
    const [entry] = (await admin.get('/v1/audit?action=webhook.redeliver')).body.items;
    expect(entry.details).toMatchObject({ queued: 2 });
  });

  it('of 201 notices, by their time, without those from before the webhook', async () => {
    await publish();
    service.clock.advance(1);
    const { id } = await webhook();
    expect(await deliveries(id)).toEqual([]);
    const screenIds: string[] = [];
    for (let n = 0; n < 201; n++) screenIds.push((await admin.screen(venueId, `S${n}`)).id);
    const from = new Date(service.clock.now()).toISOString();
    const items = [item({ duration: 77 })];
    await admin.post('/v1/publications', { screenIds, action: 'publish', items });
    await count(201);
    await expect.poll(() => deliveries(id, '?state=pending')).toEqual([]);
    const to = new Date(service.clock.now() + 1).toISOString();
    const answer = await admin.post(`/v1/webhooks/${id}/redeliver`, { from, to });
    expect(answer.body).toEqual({ queued: 201 });
    await count(402);
    expect(new Set(receiver.ids()).size).toBe(201);
  });

  it.each([{}, { from: '2026-01-01' }, { noticeIds: [] }, { noticeIds: 'x' }])(
    '400 for %o',
    async (body) => {
      const { id } = await webhook();
      expectProblem(await admin.post(`/v1/webhooks/${id}/redeliver`, body), 'invalid_request');
    },
  );
});

it('100 webhooks of one tenant with a hanging receiver do not hold up another tenant', async () => {
  await besideHangingWebhooks(100);
}, 60_000);
