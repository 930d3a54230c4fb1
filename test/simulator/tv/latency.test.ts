import { expect, it } from 'vitest';
import { LatencyRecorder } from '../../../src/simulator/tv/latency.ts';

it('counts requests and responses by endpoint, with response times', () => {
  const traffic = new LatencyRecorder();
  for (let ms = 1; ms <= 100; ms++) traffic.add('postEvents', ms === 100 ? 503 : 202, ms);
  traffic.add('getPlaylist', undefined, 30_000);
  const [events, playlist] = traffic.endpoints();
  expect(events).toMatchObject({
    operation: 'postEvents',
    requests: 100,
    answers: { 202: 99, 503: 1 },
  });
  for (const [said, real] of [
    [events!.p50Ms, 50],
    [events!.p95Ms, 95],
    [events!.p99Ms, 99],
    [events!.maxMs, 100],
  ]) {
    expect(Math.abs(said! - real!)).toBeLessThanOrEqual(real! * 0.02);
  }
  expect(playlist).toEqual({
    operation: 'getPlaylist',
    requests: 1,
    answers: { none: 1 },
    p50Ms: 0,
    p95Ms: 0,
    p99Ms: 0,
    maxMs: 0,
  });
  expect(traffic.requests).toBe(101);
  expect(traffic.latencies.maxMs).toBe(events!.maxMs);
});

it('records response times below a millisecond', () => {
  const traffic = new LatencyRecorder();
  for (let at = 0; at < 10; at++) traffic.add('getPlaylist', 304, 0.25);
  expect(Math.abs(traffic.latencies.p50Ms - 0.25)).toBeLessThan(0.01);
});
