import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { makeMetrics } from '../../../src/http/metrics/metrics.ts';
import { collectGarbage } from '../../support/runtime/collect-garbage.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';

/** The samples of one metric: labels -> value. */
async function samples(text: Promise<string>, name: string): Promise<Record<string, number>> {
  const lines = (await text)
    .split('\n')
    .filter((line) => line === name || line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return Object.fromEntries(
    lines.map((line) => [
      line.slice(name.length, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' ') + 1)),
    ]),
  );
}

type Metrics = ReturnType<typeof makeMetrics>;
type Samples = Record<string, Record<string, number>>;

const duration = 'signage_http_request_duration_seconds';
const writeTime = 'signage_store_write_seconds';

describe('GET /metrics', () => {
  it.each<[string, (metrics: Metrics) => void, Samples]>([
    [
      'counts requests by operation and status',
      (metrics) => {
        metrics.observe('getPlaylist', 200, 0.001);
        metrics.observe('getPlaylist', 200, 0.002);
        metrics.observe('getPlaylist', 304, 0.0004);
      },
      {
        signage_http_requests_total: {
          '{operation="getPlaylist",status="200"}': 2,
          '{operation="getPlaylist",status="304"}': 1,
        },
      },
    ],
    [
      'counts long polls and answers of the listener without a duration',
      (metrics) => {
        metrics.observeHeld('listEvents', 200);
        metrics.observeHeld('listEvents', 401);
        metrics.answeredEarly(431);
      },
      {
        signage_http_requests_total: {
          '{operation="listEvents",status="200"}': 1,
          '{operation="listEvents",status="401"}': 1,
          '{operation="none",status="431"}': 1,
        },
        signage_http_held_requests_total: { '{operation="listEvents"}': 2 },
        [`${duration}_count`]: {},
      },
    ],
    [
      'counts events, registrations and lock-outs',
      (metrics) => {
        metrics.eventsReceived(100);
        metrics.eventsReceived(3);
        for (const outcome of ['bound', 'refused', 'refused'] as const)
          metrics.registration(outcome);
        for (const scope of ['source', 'source', 'service'] as const)
          metrics.registerLockout(scope);
      },
      {
        signage_events_received_total: { '': 103 },
        signage_registrations_total: { '{outcome="bound"}': 1, '{outcome="refused"}': 2 },
        signage_register_lockouts_total: { '{scope="source"}': 2, '{scope="service"}': 1 },
      },
    ],
    [
      'starts its counters at 0, so that the first increase is visible',
      () => {},
      {
        signage_events_received_total: { '': 0 },
        signage_register_lockouts_total: { '{scope="source"}': 0, '{scope="service"}': 0 },
      },
    ],
  ])('%s', async (_, record, expected) => {
    const metrics = makeMetrics('1.0.0');
    record(metrics);
    for (const [name, values] of Object.entries(expected))
      expect(await samples(metrics.render(), name)).toEqual(values);
  });

  it('has the duration of requests, and of writes of the store by kind', async () => {
    const metrics = makeMetrics('1.0.0');
    for (const seconds of [0.0004, 0.003, 40]) metrics.observe('getPlaylist', 200, seconds);
    metrics.storeWrite('change', 3);
    for (const ms of [0.3, 60_000]) metrics.storeWrite('events', ms);
    const sums = await samples(metrics.render(), `${duration}_sum`);
    expect(sums['{operation="getPlaylist"}']).toBeCloseTo(40.0034);
    expect(await samples(metrics.render(), `${duration}_bucket`)).toMatchObject({
      '{le="0.0005",operation="getPlaylist"}': 1,
      '{le="0.005",operation="getPlaylist"}': 2,
      '{le="30",operation="getPlaylist"}': 2,
      '{le="+Inf",operation="getPlaylist"}': 3,
    });
    expect(await samples(metrics.render(), `${writeTime}_bucket`)).toMatchObject({
      '{le="0.0025",kind="change"}': 0,
      '{le="0.005",kind="change"}': 1,
      '{le="30",kind="events"}': 1,
      '{le="+Inf",kind="events"}': 2,
    });
  });

  it('has the free space of the disk', async () => {
    const metrics = makeMetrics('1.0.0');
    metrics.watchDisk('.', systemClock);
    const free = await samples(metrics.render(), 'signage_data_free_bytes');
    expect(free['']).toBeGreaterThan(0);
  });

  it('omits figures that fail or do not come, and has all others', async () => {
    const clock = new ManualClock();
    const metrics = makeMetrics('1.0.0');
    metrics.watchDisk('/nonexistent/folder', clock);
    metrics.watchScreens(() => new Promise(() => {}), clock);
    const rendering = metrics.render();
    await setImmediate();
    clock.advance(2000);
    const text = await rendering;
    expect(text).not.toMatch(/^signage_(?:data_free_bytes|screens)[ {]/m);
    expect(text).toContain('signage_events_received_total 0');
  });

  it('starts no further call to a disk that hangs', async () => {
    const { statfs } = fs;
    onTestFinished(() => {
      fs.statfs = statfs;
      syncBuiltinESMExports();
    });
    let calls = 0;
    fs.statfs = (() => {
      calls++;
      return new Promise(() => {});
    }) as unknown as typeof statfs;
    syncBuiltinESMExports();
    const clock = new ManualClock();
    const metrics = makeMetrics('1.0.0');
    metrics.watchDisk('.', clock);
    for (let scrape = 0; scrape < 5; scrape++) {
      const rendering = metrics.render();
      await setImmediate();
      clock.advance(2000);
      await rendering;
    }
    expect(calls).toBe(1);
  });

  it('has build information and process metrics', async () => {
    const text = await makeMetrics('1.2.3').render();
    expect(text).toContain(`signage_build_info{version="1.2.3",node="${process.version}"} 1`);
    expect(text).toMatch(/^process_cpu_seconds_total /m);
    expect(text).toMatch(/^nodejs_eventloop_lag_seconds /m);
    expect(makeMetrics('1.2.3').contentType).toMatch(/^text\/plain; version=0\.0\.4/);
  });

  it('has only operations, statuses, outcomes, kinds, scopes and versions as labels', async () => {
    const metrics = makeMetrics('1.0.0');
    metrics.observe('registerDevice', 404, 0.001);
    metrics.registration('locked_out');
    const ours = (await metrics.render()).split('\n').filter((line) => line.startsWith('signage_'));
    const labels = new Set(
      ours.flatMap((line) => [...line.matchAll(/(\w+)="/g)].map(([, label]) => label)),
    );
    expect([...labels].toSorted()).toEqual([
      'kind',
      'le',
      'node',
      'operation',
      'outcome',
      'scope',
      'status',
      'version',
    ]);
  });

  it('does not keep an unused service in memory', async () => {
    const ofMetrics = () => {
      const health = () => [];
      makeMetrics('1.0.0').watchOrigins(health);
      return new WeakRef(health);
    };
    const health = ofMetrics();
    await setImmediate();
    collectGarbage();
    expect(health.deref()).toBeUndefined();
  });
});
