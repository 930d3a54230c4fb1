import { beforeEach, describe, expect, it } from 'vitest';
import type { OnDemandPlaylists } from '../../../src/origin/origin.ts';
import { serve } from '../../../src/serve.ts';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { item } from '../../support/service/content.ts';
import { mounted } from '../../support/service/mounted.ts';
import { expectProblem } from '../../support/service/problem.ts';
import { type BoundTv, startService, type TestService } from '../../support/service/service.ts';
import { faultyStore } from '../../support/stores/faulty-store.ts';

let says: () => unknown;
let service: TestService;
let tv: BoundTv;
beforeEach(async () => {
  says = () => ({ items: [item()] });
  service = await startService({
    onDemand: (async () => says()) as OnDemandPlaylists,
    onDemandTtlSeconds: 0,
  });
  tv = await service.tv();
  return () => service.close();
});

const fails = () => {
  throw new Error('planted secretword');
};
const get = () => tv.send('GET', 'playlist');
const lines = async () => {
  const { status, headers, text } = await service.send('GET', '/readyz?verbose');
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('application/x-ndjson');
  expect(headers.get('cache-control')).toBe('no-store');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
};
const onDemand = async () =>
  (await lines()).find(({ component }) => component === 'origin/on-demand');
const metric = async (name: string) => {
  const { text } = await service.send('GET', '/metrics');
  const samples = text.split('\n').filter((line) => line.startsWith(`${name}{`));
  return Object.fromEntries(
    samples.map((line) => [
      line.slice(name.length, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' ') + 1)),
    ]),
  );
};

describe('GET /readyz?verbose', () => {
  it('200 with a line for the store and for each origin of playlists that can hang', async () => {
    const since = new Date(service.clock.now()).toISOString();
    const counts = { playlist: 0, none: 0, failed: 0, skipped: 0 };
    const fresh = { status: 'ok', since, lastError: null, counts, latencyMs: null };
    expect(await lines()).toEqual([
      { component: 'store', status: 'ok' },
      { component: 'clock', status: 'ok', storeAheadSeconds: 0 },
      { component: 'origin/on-demand', ...fresh },
    ]);
    const store = await openStore('memory:', { clock: service.clock });
    // The rows of a given store may be anywhere.
    await using other = await serve({ port: 0, store, clock: service.clock });
    const answer = await fetch(`${other.url}/readyz?verbose`);
    expect(await answer.text()).toContain('"component":"origin/store"');
    await store.close();
  });

  it('does not affect GET /readyz', async () => {
    says = fails;
    await get();
    expect(await service.send('GET', '/readyz')).toMatchObject({
      status: 200,
      body: { status: 'ready' },
    });
  });

  it('reports the state of an origin, since when, and its last failure, without its own text', async () => {
    await get();
    expect(await onDemand()).toMatchObject({
      status: 'ok',
      lastError: null,
      counts: { playlist: 1 },
      latencyMs: 0,
    });
    service.clock.advance(60_000);
    says = fails;
    await get();
    const at = new Date(service.clock.now()).toISOString();
    expect(await onDemand()).toMatchObject({
      status: 'failing',
      since: at,
      lastError: { code: 'error', at },
      counts: { playlist: 1, failed: 1 },
    });
    expect(JSON.stringify(await lines())).not.toContain('secretword');
    service.clock.advance(60_000);
    says = () => null;
    await get();
    expect(await onDemand()).toMatchObject({
      status: 'ok',
      lastError: { code: 'error', at },
      counts: { none: 1 },
    });
  });

  it('reports an open circuit breaker until the origin recovers', async () => {
    says = fails;
    for (let n = 0; n < 7; n++) await get();
    expect(await onDemand()).toMatchObject({ status: 'open', counts: { failed: 5, skipped: 2 } });
    says = () => null;
    service.clock.advance(2000);
    await get();
    expect(await onDemand()).toMatchObject({ status: 'ok', counts: { failed: 5, skipped: 3 } });
    await get();
    expect(await onDemand()).toMatchObject({ status: 'ok', counts: { none: 1 } });
  });

  it('503 with the same lines when the store rejects changes', async () => {
    const inner = await openStore('memory:');
    const broken = await mounted({ store: faultyStore(inner) });
    await inner.close();
    const answer = await broken.fetch(new Request('http://mounted/readyz?verbose'));
    expect(answer.status).toBe(503);
    expect(JSON.parse((await answer.text()).split('\n')[0]!)).toMatchObject({
      component: 'store',
      status: 'failing',
      why: expect.any(String),
    });
    expectProblem(await broken.send('GET', '/readyz'), 503, 'unavailable');
  });
});

describe('the check of the store', () => {
  it('is shared by all requests within 250 ms, whether it succeeds or fails', async () => {
    const inner = await openStore('memory:');
    let looks = 0;
    let answer = () => Promise.resolve();
    const ready = () => {
      looks++;
      return answer();
    };
    const clock = new ManualClock();
    const counting = await mounted({ store: decorateStore(inner, { ready }), clock });
    const ask = async () => {
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          counting.send('GET', n % 2 ? '/readyz' : '/readyz?verbose'),
        ),
      );
      return [...new Set(answers.map(({ status }) => status))].sort();
    };
    expect([await ask(), looks]).toEqual([[200], 1]);
    clock.advance(249);
    expect([await ask(), looks]).toEqual([[200], 1]);
    answer = () => Promise.reject(new Error('planted'));
    clock.advance(1);
    expect([await ask(), looks]).toEqual([[500, 503], 2]);
    clock.set(clock.now() - 3_600_000);
    expect([await ask(), looks]).toEqual([[500, 503], 3]);
    await inner.close();
  });
});

describe('GET /metrics', () => {
  it('counts requests to each origin by outcome', async () => {
    await get();
    says = () => null;
    await get();
    says = fails;
    await get();
    expect(await metric('signage_origin_requests_total')).toEqual({
      '{origin="on-demand",outcome="playlist"}': 1,
      '{origin="on-demand",outcome="none"}': 1,
      '{origin="on-demand",outcome="failed"}': 1,
      '{origin="on-demand",outcome="skipped"}': 0,
    });
    expect(await metric('signage_origin_seconds_count')).toEqual({
      '{origin="on-demand"}': 3,
    });
  });

  it('shows an open circuit breaker', async () => {
    expect(await metric('signage_origin_breaker_open')).toEqual({
      '{origin="on-demand"}': 0,
    });
    says = fails;
    for (let n = 0; n < 5; n++) await get();
    expect(await metric('signage_origin_breaker_open')).toEqual({
      '{origin="on-demand"}': 1,
    });
  });
});

describe('the log', () => {
  it('reports a failing origin once a minute, for any number of TVs', async () => {
    const said: Record<string, unknown>[] = [];
    const log = {
      debug: () => {},
      info: () => {},
      error: () => {},
      warn: (fields: Record<string, unknown>) => void said.push(fields),
    };
    const other = await startService({ onDemand: fails as unknown as OnDemandPlaylists, log });
    const bound = await other.tv();
    for (let n = 0; n < 10; n++) await bound.send('GET', 'playlist');
    expect(said.filter(({ origin }) => origin === 'on-demand')).toMatchObject([
      { code: 'error', err: expect.any(Error) },
    ]);
    other.clock.advance(60_000);
    await bound.send('GET', 'playlist');
    await bound.send('GET', 'playlist');
    await expect
      .poll(() => said.filter(({ origin }) => origin === 'on-demand').length)
      .toBeLessThanOrEqual(2);
  });
});
