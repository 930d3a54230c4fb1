// How long a player asks the service to hold its requests for changes (docs/protocol.md §2.9).
import { expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs, secondMs } from '../../src/domain/clock.ts';
import {
  connectionError,
  problem,
  runTv,
  shortestPauseMs,
  type TimedService,
} from './timed-service.ts';

/** Answers of a service whose longer holds fail `noticedMs` after their request. */
const failingFrom =
  (service: TimedService, holdMs: number, noticedMs: number): TimedService['onAsk'] =>
  async (ask, signal) => {
    if (ask.waitSeconds * 900 < holdMs) return service.hold(ask, signal);
    await service.sleep(noticedMs, signal);
    throw connectionError();
  };

/** Behind a proxy that ends a request after this time. */
const cutAfter = (service: TimedService, cutMs: number) => failingFrom(service, cutMs, cutMs);

/** Behind a NAT that drops a connection after this time, without a word. */
const dropAfter = (service: TimedService, dropMs: number) => failingFrom(service, dropMs, dayMs);

const waitsOf = ({ asks }: TimedService) => asks.map(({ waitSeconds }) => waitSeconds);

it('asks without a cursor first, then with it, and doubles the wait up to 2 minutes', async () => {
  const { service } = await runTv(5 * minuteMs, () => {});
  expect(service.asks.map(({ after, waitSeconds }) => [after, waitSeconds])).toEqual([
    [null, 0],
    [service.cursor, 50],
    [service.cursor, 100],
    [service.cursor, 120],
    [service.cursor, 120],
  ]);
});

it('doubles the wait up to maxWaitSeconds', async () => {
  const { service } = await runTv(29 * minuteMs, () => {}, { maxWaitSeconds: 600 });
  expect(waitsOf(service)).toEqual([0, 50, 100, 200, 400, 600, 600]);
});

it('does not double the wait for a hold that a change has ended', async () => {
  const { service } = await runTv(2 * minuteMs, (service, at) => {
    at(30, () => service.version++);
    at(60, () => service.version++);
  });
  expect(waitsOf(service)).toEqual([0, 50, 50, 50, 100]);
});

it('holds for 0.8 times the time after which a proxy cuts', async () => {
  const { service, phases } = await runTv(10 * minuteMs, (service) => {
    service.onAsk = cutAfter(service, 20 * secondMs);
  });
  const waits = waitsOf(service);
  expect(waits.slice(0, 3)).toEqual([0, 50, 16]);
  expect(new Set(waits.slice(2))).toEqual(new Set([16]));
  expect(shortestPauseMs(service)).toBeGreaterThanOrEqual(5000);
  // A hold that is cut off does not make the TV offline.
  expect(phases.filter((phase) => phase.endsWith('offline'))).toEqual([]);
});

it('goes on with holds shorter than 5 seconds behind a proxy that cuts after 6', async () => {
  const { service, shown } = await runTv(10 * minuteMs, (service, at) => {
    service.onAsk = cutAfter(service, 6 * secondMs);
    at(400, () => service.version++);
  });
  const waits = waitsOf(service);
  expect(waits.slice(0, 3)).toEqual([0, 50, 4]);
  expect(new Set(waits.slice(2))).toEqual(new Set([4]));
  expect(shortestPauseMs(service)).toBeGreaterThanOrEqual(5000);
  const pauses = service.asks.slice(1).map(({ atMs }, n) => atMs - (service.asks[n]?.atMs ?? 0));
  expect(Math.max(...pauses)).toBeLessThan(12 * secondMs);
  expect(Number(shown[1]?.split(' ')[0])).toBeLessThan(402);
});

it('doubles the wait again when nothing was cut for an hour', async () => {
  const { service } = await runTv(2 * hourMs, (service) => {
    const cut = cutAfter(service, 10 * secondMs);
    service.onAsk = (ask, signal) =>
      service.asks.length === 2 ? cut(ask, signal) : service.hold(ask, signal);
  });
  const waitsBy = (hour: number) =>
    new Set(
      service.asks
        .filter(({ atMs }) => Math.floor(atMs / hourMs) === hour)
        .map(({ waitSeconds }) => waitSeconds),
    );
  expect([...waitsBy(0)]).toEqual([0, 50, 8]);
  expect([...waitsBy(1)]).toEqual([8, 16, 32, 64, 120]);
});

it('cuts a wait once an hour behind a proxy that cuts after a minute', async () => {
  const { service } = await runTv(2.5 * hourMs, (service) => {
    service.onAsk = cutAfter(service, minuteMs);
  });
  const waits = waitsOf(service);
  expect(waits.slice(0, 5)).toEqual([0, 50, 100, 48, 48]);
  expect(waits.filter((seconds) => seconds > 50)).toEqual([100, 96, 96]);
});

it('gives an answer up 10 seconds after the wait, and holds for half as long', async () => {
  const { service, shown } = await runTv(30 * minuteMs, (service, at) => {
    service.onAsk = dropAfter(service, minuteMs);
    at(100, () => service.version++);
  });
  expect(waitsOf(service).slice(0, 5)).toEqual([0, 50, 100, 50, 50]);
  const [, , dropped, next] = service.asks;
  const gapMs = (next?.atMs ?? 0) - (dropped?.atMs ?? 0);
  expect(gapMs).toBeGreaterThanOrEqual(110 * secondMs);
  expect(gapMs).toBeLessThanOrEqual(115 * secondMs);
  // The version of second 100 came late, as the connection was dead.
  expect(Number(shown[1]?.split(' ')[0])).toBeLessThanOrEqual(170);
});

it('holds for at least 25 seconds when answers are missing', async () => {
  const { service } = await runTv(10 * minuteMs, (service) => {
    service.onAsk = (ask, signal) =>
      ask.after === null ? service.hold(ask, signal) : dropAfter(service, 0)(ask, signal);
  });
  const [, first, ...others] = waitsOf(service);
  expect([first, new Set(others)]).toEqual([50, new Set([25])]);
});

it('holds for 50 seconds if the service refuses more', async () => {
  const { service, phases } = await runTv(3 * hourMs, (service) => {
    service.onAsk = async (ask, signal) =>
      ask.waitSeconds > 50 ? problem(400, 'invalid_request') : service.hold(ask, signal);
  });
  const waits = waitsOf(service);
  expect(waits.slice(0, 3)).toEqual([0, 50, 100]);
  expect(new Set(waits.slice(3))).toEqual(new Set([50]));
  expect(shortestPauseMs(service)).toBeGreaterThanOrEqual(5000);
  expect(phases.filter((phase) => phase.endsWith('offline'))).toEqual([]);
});
