// Load shedding: rejects requests during overload, and never in a healthy service (docs/protocol.md
// §1.8).
import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SignageError } from '../../../src/domain/error.ts';
import { type LoadShed, makeLoadShed } from '../../../src/http/admission/load-shed.ts';
import { makeEarlyErrors } from '../../../src/http/listener/early-errors.ts';
import { makeMetrics, type ShedKind } from '../../../src/http/metrics/metrics.ts';
import type { ServedRequest } from '../../../src/http/request/request-context.ts';
import { collectGarbage } from '../../support/runtime/collect-garbage.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { startListener } from '../../support/tv/raw-client.ts';

type Held = Pick<ServedRequest, 'admission'>;

let clock: ManualClock;
let shed: LoadShed;
let rejected: SignageError[];
let counted: ShedKind[];
let changes: [ShedKind, boolean][];
let held: Held[];
let draws: number;
let isKnown: boolean;

beforeEach(() => {
  clock = new ManualClock();
  rejected = [];
  counted = [];
  changes = [];
  held = [];
  draws = 0;
  isKnown = true;
  shed = makeLoadShed({
    clock,
    random: () => Uint8Array.of(draws++),
    refuse: (_incoming, _outgoing, error) => void rejected.push(error),
    isKnown: () => isKnown,
    metrics: { requestShed: (kind) => void counted.push(kind as ShedKind) },
    log: {
      warn: ({ kind }) => void changes.push([kind as ShedKind, true]),
      info: ({ kind }) => void changes.push([kind as ShedKind, false]),
    },
  });
});

function send(method = 'POST', url = '/devices/x/events', { complete = true } = {}): boolean {
  const incoming = {
    method,
    url,
    complete,
    headers: complete ? {} : { 'transfer-encoding': 'chunked' },
    once: () => {},
  } as unknown as ServedRequest;
  const isIn = shed.admit(incoming, {} as ServerResponse);
  if (isIn) held.push(incoming);
  return isIn;
}

/** Answers the `count` oldest requests. */
function answer(count: number): void {
  for (const one of held.splice(0, count)) one.admission?.end();
}

/**
 * Simulates tenths of a second with this many arrivals and responses. Returns the number of
 * admitted requests.
 */
async function run(
  tenths: number,
  comeEach: number,
  throughEach: number,
  [method, url]: [string?, string?] = [],
): Promise<number> {
  let admitted = 0;
  for (let n = 0; n < tenths; n++) {
    clock.advance(100);
    for (let each = 0; each < comeEach; each++) if (send(method, url)) admitted++;
    answer(throughEach);
    await turn();
  }
  return admitted;
}

describe('a healthy service', () => {
  it('rejects nothing under load', async () => {
    expect(await run(200, 2_000, 2_000)).toBe(400_000);
    expect(rejected).toEqual([]);
  });

  it('rejects none of 10,000 simultaneous requests that are answered within 10 s', async () => {
    for (let n = 0; n < 10_000; n++) expect(send()).toBe(true);
    await run(100, 5, 110);
    expect(rejected).toEqual([]);
    expect(held.length).toBeLessThan(20);
  });

  it('rejects nothing in one long turn of the event loop in which no response can be sent', async () => {
    for (let n = 0; n < 50; n++) {
      clock.advance(100);
      for (let each = 0; each < 200; each++) expect(send()).toBe(true);
    }
    answer(10_000);
    await turn();
    expect(await run(20, 200, 200)).toBe(4_000);
  });

  it('rejects nothing that arrived in a long turn, even when the disk delays all of it', async () => {
    send();
    for (let n = 0; n < 36; n++) {
      clock.advance(100);
      for (let each = 0; each < 250; each++) send();
    }
    await turn();
    expect(await run(8, 30, 0)).toBe(240);
    answer(9_241);
    expect(await run(20, 30, 30)).toBe(600);
  });

  it('rejects nothing when the disk stalls for two seconds', async () => {
    await run(30, 200, 200);
    expect(await run(20, 200, 0)).toBe(4_000);
    answer(4_000);
    expect(await run(30, 200, 200)).toBe(6_000);
  });

  it('does not count requests whose bodies are incomplete', async () => {
    for (let n = 0; n < 5_000; n++) send('POST', '/devices/x/events', { complete: false });
    held = [];
    expect(await run(100, 10, 10)).toBe(1_000);
  });

  it('tolerates a clock that jumps', async () => {
    await run(20, 200, 200);
    for (const byMs of [3_600_000, -7_200_000, 86_400_000, -86_400_000]) {
      clock.set(clock.now() + byMs);
      expect(await run(20, 200, 200)).toBe(4_000);
    }
  });

  it('releases answered requests, even while its clock stands still', () => {
    for (let n = 0; n < 100_000; n++) {
      send();
      answer(1);
    }
    expect(rejected).toEqual([]);
  });
});

describe('an answered request', () => {
  it('is released when the next one arrives, although others wait behind it', async () => {
    for (let n = 0; n < 3; n++) send();
    const [first, second] = held.slice(0, 2).map((one) => new WeakRef(one));
    answer(1);
    send();
    await turn();
    collectGarbage();
    expect([first?.deref(), second?.deref()]).toEqual([undefined, held[0]]);
  });
});

describe('ten times the capacity', () => {
  it('admits requests up to the capacity, and none waits much longer than 3 s', async () => {
    await run(60, 500, 50);
    const admitted = await run(200, 500, 50);
    expect(admitted / (200 * 50)).toBeGreaterThan(0.9);
    // The capacity is 500 per second.
    expect(held.length / 500).toBeLessThan(6);
    expect(held.length).toBeGreaterThan(50);
  });

  it('is detected before more requests wait than are answered in 12 s', async () => {
    for (let n = 0; n < 50; n++) {
      await run(1, 500, 50);
      expect(held.length).toBeLessThan(12 * 500);
    }
    expect(rejected.length).toBeGreaterThan(0);
  });

  it('answers rejected requests with a reason and varied Retry-After times', async () => {
    await run(60, 500, 50);
    const waits = rejected.map(({ retryAfterSeconds }) => retryAfterSeconds ?? 0);
    expect(new Set(waits)).toEqual(new Set(Array.from({ length: 16 }, (_, n) => n + 5)));
    expect(new Set(rejected.map(({ code }) => code))).toEqual(new Set(['unavailable']));
    expect(counted).toEqual(rejected.map(() => 'writes'));
    expect(changes).toEqual([['writes', true]]);
  });

  it('still admits other kinds: reads, management, and requests of operators', async () => {
    await run(60, 500, 50);
    expect(send()).toBe(false);
    for (const [method, url] of [
      ['GET', '/devices/x/playlist'],
      ['HEAD', '/devices/x/config'],
      ['POST', '/v1/venues'],
      ['GET', '/healthz'],
      ['GET', '/readyz?verbose'],
      ['GET', '/metrics'],
      ['OPTIONS', '/devices/x/events'],
    ])
      expect(send(method, url), url).toBe(true);
  });

  it('counts requests whose clients have disconnected, because they still take work', async () => {
    await run(60, 500, 50);
    const before = rejected.length;
    // The clients disconnect; the responses are still to be made.
    held = held.map((one) => Object.assign(one, { destroyed: true }));
    await run(10, 500, 50);
    expect(rejected.length - before).toBeGreaterThan(4_000);
  });

  it('ignores responses that take no time, such as 401', async () => {
    for (let n = 0; n < 300; n++) {
      clock.advance(100);
      for (let each = 0; each < 500; each++) {
        // Nine of ten are answered at once.
        if (send() && each % 10 !== 0) held.pop()?.admission?.end();
      }
      answer(20);
      await turn();
    }
    // The capacity is 200 per second.
    expect(held.length / 200).toBeLessThan(7);
  });

  it('admits all requests again afterwards', async () => {
    await run(60, 500, 50);
    await run(80, 20, 50);
    expect(changes).toEqual([
      ['writes', true],
      ['writes', false],
    ]);
    expect(await run(50, 100, 100)).toBe(5_000);
  });

  it('admits some requests even when none is answered, so that it can detect the recovery', async () => {
    await run(60, 500, 50);
    await run(200, 500, 0);
    answer(held.length);
    expect(await run(30, 50, 50)).toBe(1_500);
  });
});

describe('a flood that needs no credential', () => {
  const ofTvs: [string, string][] = [
    ['GET', '/devices/x/playlist'],
    ['POST', '/devices/x/events'],
    ['POST', '/devices/x/keys/rotate'],
    ['GET', '/v1/venues'],
  ];
  const registering: [string, string] = ['POST', '/devices/register'];

  it.each([
    ['unknown device keys', 'GET', '/devices/x/playlist'],
    ['unknown keys on events', 'POST', '/devices/x/events'],
    ['unknown tokens', 'GET', '/v1/venues'],
    ['paths that do not exist', 'GET', '/nothing'],
  ])(
    'of %s rejects no TV, no management request and no registration',
    async (_name, method, url) => {
      isKnown = false;
      await run(60, 500, 50, [method, url]);
      expect(send(method, url)).toBe(false);
      expect(new Set(counted)).toEqual(new Set(['strangers']));
      expect(send(...registering)).toBe(true);
      isKnown = true;
      for (const request of ofTvs) expect(send(...request), request.join(' ')).toBe(true);
    },
  );

  it('of registrations rejects no other requests', async () => {
    isKnown = false;
    await run(60, 500, 50, registering);
    expect(send(...registering)).toBe(false);
    expect(send(registering[0], `${registering[1]}?again`)).toBe(false);
    expect(new Set(counted)).toEqual(new Set(['registrations']));
    expect(send('GET', '/devices/x/playlist')).toBe(true);
    isKnown = true;
    for (const request of ofTvs) expect(send(...request), request.join(' ')).toBe(true);
  });

  it('treats a TV as a stranger only until its key has been verified', async () => {
    isKnown = false;
    for (let n = 0; n < 5_000; n++) send();
    for (const one of held.splice(0)) one.admission?.verified();
    for (let n = 0; n < 30; n++)
      expect(await run(1, 10, 10, ['GET', '/devices/y/config'])).toBe(10);
    for (let n = 0; n < 5_000; n++) expect(send('GET', '/devices/y/playlist')).toBe(true);
    expect(rejected).toEqual([]);
  });
});

describe('the response to a rejected request', () => {
  let listener: Awaited<ReturnType<typeof startListener>>;
  let metrics: ReturnType<typeof makeMetrics>;
  let logged: object[];
  let begun: number;

  beforeEach(async () => {
    begun = 0;
    logged = [];
    metrics = makeMetrics('0.0.0');
    const say = (fields: object) => void logged.push(fields);
    const earlyErrors = makeEarlyErrors({
      newId: () => 'own-id',
      clock,
      corsOrigins: ['https://tv.example.com'],
    });
    const limits = { maxWaitMs: 0, floor: 1, settledMs: 0 };
    const { admit } = makeLoadShed({
      clock,
      random: () => Uint8Array.of(draws++),
      refuse: earlyErrors.request,
      isKnown: () => true,
      limits,
      metrics,
      log: { info: say, warn: say },
    });
    // A service that never answers.
    const fetch = () => {
      begun++;
      return new Promise<Response>(() => {});
    };
    listener = await startListener({ fetch, admit, earlyErrors });
    const abort = new AbortController();
    for (let n = 0; n < 4; n++) {
      clock.advance(100);
      post({ signal: abort.signal, body: '[]' }).catch(() => {});
      while (begun <= n) await turn();
    }
    clock.advance(100);
    await post({ headers: { 'X-Request-Id': 'first' } });
    hangUp = () => abort.abort();
  });

  let hangUp: () => void;
  afterEach(() => hangUp());

  const post = (more: RequestInit = {}) =>
    fetch(`${listener.url}/devices/x/events`, {
      method: 'POST',
      body: '[]'.repeat(10_000),
      ...more,
    });

  it('is a complete problem document with a Retry-After, and never reaches the app', async () => {
    const before = begun;
    const answer = await post({ headers: { 'X-Request-Id': 'r-1' } });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.headers.get('x-request-id')).toBe('r-1');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(5);
    expect(answer.headers.has('access-control-allow-origin')).toBe(false);
    expect(await answer.json()).toMatchObject({
      status: 503,
      code: 'unavailable',
      requestId: 'r-1',
      type: 'about:blank',
    });
    expect(
      (await post({ headers: { 'X-Request-Id': 'not well-formed' } })).headers.get('x-request-id'),
    ).toBe('own-id');
    expect(begun).toBe(before);
  });

  it('can be read by web apps of allowed origins only', async () => {
    const allowed = await post({ headers: { Origin: 'https://tv.example.com' } });
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://tv.example.com');
    expect(allowed.headers.get('access-control-expose-headers')?.split(',')).toEqual(
      expect.arrayContaining(['Retry-After', 'X-Request-Id', 'Date']),
    );
    const other = await post({ headers: { Origin: 'https://other.example' } });
    expect(other.headers.has('access-control-allow-origin')).toBe(false);
    expect(other.headers.get('vary')).toBe('Origin');
  });

  it('is counted by kind, and logged once', async () => {
    for (let n = 0; n < 10; n++) await post();
    expect(await metrics.render()).toContain('signage_requests_shed_total{kind="writes"} 11');
    expect(logged).toEqual([{ kind: 'writes' }]);
  });
});
