// A clock that was wrong and is corrected leaves no lasting harm: deliveries go on, and nothing is
// deleted before its time. Stores on files follow the clock of their machine.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs, secondMs } from '../../src/domain/clock.ts';
import { confirmedTime, makeClockLook } from '../../src/service/confirmed-time.ts';
import { openStore } from '../../src/store/location/open.ts';
import { verifyAudit } from '../../src/store/maintenance/check.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { type Receiver, startReceiver } from '../support/network/webhook-receiver.ts';
import { SteppedClock } from '../support/runtime/stepped-clock.ts';
import { impression, item } from '../support/service/content.ts';
import { manager } from '../support/service/management.ts';
import { idOf, someFile, upload } from '../support/service/media.ts';
import { type BoundTv, startService, type TestService } from '../support/service/service.ts';

let clock: SteppedClock;
let store: string;
let service: TestService<SteppedClock>;
let receiver: Receiver;
const warnings: string[] = [];
const log = {
  debug: () => {},
  info: () => {},
  error: () => {},
  warn: (_: object, message: string) => void warnings.push(message),
};

async function start(retentionDays = 1): Promise<void> {
  service = await startService({
    store,
    clock,
    retentionDays,
    log,
    webhookAllow: ['127.0.0.1'],
  });
}

beforeEach(async () => {
  clock = new SteppedClock();
  store = await temporaryFolder();
  receiver = await startReceiver();
  warnings.length = 0;
});
afterEach(() => service?.close());

const settle = () => setTimeout(15);

/** Lets the service run, with its jobs. */
async function run(forMs: number, stepMs = Math.min(forMs, 25 * minuteMs)): Promise<void> {
  const jobs = clock.waiting;
  for (let passedMs = 0; passedMs < forMs; passedMs += stepMs) {
    clock.advance(stepMs);
    await settle();
    for (let waits = 0; clock.waiting < jobs && waits < 20; waits++) await settle();
  }
}

const items = async (path: string): Promise<{ action?: string; details?: object }[]> =>
  (await service.manage('GET', path)).body.items;
const events = async () => (await items('/v1/events?limit=200')).length;
const purges = async () =>
  (await items('/v1/audit?limit=200&action=retention.purge')).map(({ details }) => details);
const waits = async () => {
  const { text } = await service.send('GET', '/readyz?verbose');
  return JSON.parse(text.split('\n').find((line) => line.includes('"clock"')) ?? '{}')
    .deletionsWaitSince;
};
const play = (tv: BoundTv) => tv.send('POST', 'events', { body: [impression()] });

const jumps = [
  ['2 days fast', 2 * dayMs],
  ['2 days slow', -2 * dayMs],
  ['100 days fast', 100 * dayMs],
  ['100 days slow', -100 * dayMs],
] as const;
const lives = [
  ['while it runs', async () => {}],
  ['over a restart', () => service.restart()],
] as const;
const cases = jumps.flatMap(([what, byMs]) =>
  lives.map(([when, next]) => [what, when, byMs, next] as const),
);

describe('webhooks after a clock that was wrong is corrected', () => {
  it.each(cases)('are late by less than the interval: %s, %s', async (_, _when, byMs, next) => {
    await start();
    await service.manage('POST', '/v1/webhooks', { url: receiver.url });
    const { id } = await service.screen();
    receiver.answer = (response) => void response.writeHead(503).end();
    clock.step(byMs);
    await service.manage('PUT', `/v1/screens/${id}/playlist`, {
      items: [item()],
    });
    await expect.poll(() => receiver.received.length).toBe(1);
    await settle();
    // The second attempt plans the third one 5 minutes later.
    await run(26 * secondMs, secondMs);
    await expect.poll(() => receiver.received.length).toBe(2);
    await settle();
    receiver.answer = (response) => void response.writeHead(204).end();
    clock.step(-byMs);
    await next();
    // Time passes slowly for an attempt in progress, so that it is answered.
    const isThird = () => receiver.received.length === 3;
    for (let passedMs = 0; passedMs < 6 * minuteMs && !isThird(); passedMs += 20 * secondMs) {
      for (let waits = 0; waits < 10 && !isThird(); waits++) await settle();
      clock.advance(20 * secondMs);
    }
    await expect.poll(isThird).toBe(true);
    expect(new Set(receiver.ids()).size).toBe(1);
  });

  it('are not disabled because of a jump', async () => {
    await start();
    const { body } = await service.manage('POST', '/v1/webhooks', {
      url: receiver.url,
    });
    const { id } = await service.screen();
    receiver.answer = (response) => void response.writeHead(503).end();
    await service.manage('PUT', `/v1/screens/${id}/playlist`, {
      items: [item()],
    });
    await expect.poll(() => receiver.received.length).toBe(1);
    clock.step(100 * dayMs);
    await run(26 * secondMs, secondMs);
    await expect.poll(() => receiver.received.length).toBe(2);
    await settle();
    const state = async () => (await service.manage('GET', `/v1/webhooks/${body.id}`)).body.state;
    expect(await state()).toBe('active');
  });
});

describe('retention', () => {
  it.each(cases)('deletes nothing before its time: %s, %s', async (_, _when, byMs, next) => {
    await start();
    const tv = await service.tv();
    await play(tv);
    const entries = await items('/v1/audit?limit=200');
    await run(5 * minuteMs);
    clock.step(byMs);
    await next();
    await run(3 * hourMs);
    expect(await events()).toBe(1);
    clock.step(-byMs);
    await next();
    await run(3 * hourMs);
    expect(await events()).toBe(1);
    expect((await items('/v1/audit?limit=200')).slice(-entries.length)).toEqual(entries);
    expect(await purges()).toEqual([]);
  });

  it('waits for a day after a jump, and says so', async () => {
    await start();
    await play(await service.tv());
    await run(hourMs);
    expect(await waits()).toBeUndefined();
    clock.step(100 * dayMs);
    await run(23 * hourMs);
    expect(await events()).toBe(1);
    expect(await waits()).toBeDefined();
    expect(warnings.filter((message) => message.includes('has jumped'))).toHaveLength(1);
    await run(3 * hourMs);
    expect(await events()).toBe(0);
    expect(await waits()).toBeUndefined();
  });

  it('keeps what a machine has received in 1970, before its clock was first set', async () => {
    clock.step(-clock.now());
    await start();
    await play(await service.tv());
    await run(2 * hourMs);
    clock.step(Date.UTC(2026, 10, 20));
    await run(23 * hourMs);
    expect(await events()).toBe(1);
    await run(1.5 * dayMs);
    expect(await events()).toBe(0);
  });

  it('is not delayed by a start in 1970 that is corrected within seconds', async () => {
    await start();
    await play(await service.tv());
    await run(2 * hourMs);
    await service.close();
    const passedMs = clock.now();
    clock.step(-passedMs);
    await start();
    await run(2 * minuteMs);
    clock.step(passedMs);
    await run(1.5 * dayMs);
    expect(await waits()).toBeUndefined();
    expect(await purges()).toHaveLength(1);
  });

  it.each([
    ['is corrected', 40 * 365 * dayMs],
    ['goes on being wrong', 400 * dayMs],
  ])('keeps what came while the clock was years behind, when it %s', async (_, byMs) => {
    await start();
    await run(2 * hourMs);
    clock.step(-40 * 365 * dayMs);
    await run(10 * minuteMs, minuteMs);
    await play(await service.tv());
    await run(10 * minuteMs, minuteMs);
    clock.step(byMs);
    await run(23 * hourMs);
    expect(await events()).toBe(1);
    await run(1.5 * dayMs);
    expect(await events()).toBe(0);
  });

  it('is recorded in the audit trail, which tells it from a loss', async () => {
    await start();
    await play(await service.tv());
    await run(2 * dayMs);
    expect(await events()).toBe(0);
    expect((await purges())[0]).toEqual({ before: '2026-11-21', retentionDays: 1 });
    await service.close();
    const { findings } = await verifyAudit(store);
    expect(findings).toMatchObject([
      { level: 'note', what: expect.stringContaining('2026-11-21') },
    ]);
  });
});

describe('what a fast clock has stamped', () => {
  it('an Idempotency-Key ends a day after the correction', async () => {
    await start(30);
    const key = { headers: { 'Idempotency-Key': crypto.randomUUID() } };
    const create = () => service.manage('POST', '/v1/venues', { name: 'Once' }, key);
    clock.step(100 * dayMs);
    const { status, body } = await create();
    expect(status).toBe(201);
    clock.step(-100 * dayMs);
    await run(3 * hourMs);
    expect((await create()).body.id).toBe(body.id);
    await run(2.5 * dayMs);
    const later = await create();
    expect([later.status, later.body.code]).toEqual([409, 'name_taken']);
  });

  it('a file without a record is deleted soon after the correction', async () => {
    await start(30);
    const admin = manager(service);
    const files = async () => readdirSync(join(store, 'media'), { recursive: true }).join(' ');
    const file = someFile(1);
    clock.step(100 * dayMs);
    expect((await upload(admin, file)).status).toBe(201);
    expect((await admin.delete(`/v1/media/${idOf(file)}`)).status).toBe(204);
    clock.step(-100 * dayMs);
    await run(hourMs);
    expect(await files()).toContain(idOf(file));
    await run(2 * dayMs);
    expect(await files()).not.toContain(idOf(file));
  });
});

describe('a clock that jumps', () => {
  const hours = (count: number) => count * hourMs;

  /** Looks every 30 minutes while the machine runs. */
  async function startLooking() {
    const store = await openStore('memory:', { clock });
    const startMs = clock.now();
    const look = makeClockLook({ store, clock }, log);
    const confirmed = async () => (await confirmedTime(store.read, clock.now())) - startMs;
    await look();
    return {
      store,
      confirmed,
      async runs(forMs: number) {
        for (let passedMs = 0; passedMs < forMs; passedMs += 30 * minuteMs) {
          clock.step(30 * minuteMs);
          await look();
        }
      },
    };
  }

  it('is believed after it has run for a day, in pieces of a machine that is off at night', async () => {
    const { runs, confirmed, store } = await startLooking();
    for (let day = 0; day < 3; day++) {
      await runs(hours(10));
      clock.step(hours(14));
      expect(await confirmed()).toBe(hours(10));
    }
    await runs(hours(10));
    expect(await confirmed()).toBe(hours(24.5));
    await store.close();
  });

  it('is not believed sooner because it jumps again', async () => {
    const { runs, confirmed, store } = await startLooking();
    await runs(hours(2));
    clock.step(2 * dayMs);
    await runs(hours(12));
    clock.step(100 * dayMs);
    await runs(hours(11));
    expect(await confirmed()).toBe(hours(2));
    await store.close();
  });

  it('is believed at once when it is back within an hour', async () => {
    const { runs, confirmed, store } = await startLooking();
    await runs(hours(2));
    clock.step(100 * dayMs);
    await runs(hours(0.5));
    clock.step(-100 * dayMs);
    expect(await confirmed()).toBe(hours(2.5));
    await store.close();
  });
});
