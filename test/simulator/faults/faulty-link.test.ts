import { describe, expect, it } from 'vitest';
import type { RequestParts } from '../../../src/client/requester.ts';
import { secondMs } from '../../../src/domain/clock.ts';
import { Faults } from '../../../src/faults/faults.ts';
import { isRequestFault, parseFault } from '../../../src/faults/parse-fault.ts';
import { SeededRandom } from '../../../src/simulator/seeded-random.ts';
import { makeFaultyLink } from '../../../src/simulator/tv/faulty-link.ts';
import { Outage, Power } from '../../../src/simulator/tv/hardware.ts';
import type { RecordedAnswer } from '../../../src/simulator/tv/recording-transport.ts';
import { makeVirtualClock } from '../../../src/simulator/tv/virtual-clock.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { turns } from '../../support/runtime/turns.ts';

const eventsUrl = 'http://127.0.0.1/devices/0190a5b4/events';
const parts = (): RequestParts => ({
  method: 'POST',
  headers: {},
  body: '[]',
  signal: new AbortController().signal,
});

function seeded() {
  const random = new SeededRandom('link');
  return () => random.fraction();
}

function linkWith(...rules: string[]) {
  const power = new Power();
  const arrived: string[] = [];
  const told: string[] = [];
  const clock = makeVirtualClock({
    speed: Number.POSITIVE_INFINITY,
    startMs: 0,
    wall: new ManualClock(),
  });
  const outage = new Outage();
  const send = async (url: string) => {
    arrived.push(url);
    return { status: 202, headers: {}, bytes: Buffer.from(`{"received":${arrived.length}}`) };
  };
  const link = makeFaultyLink({
    transport: { send },
    clock,
    power,
    outage,
    faults: new Faults(rules.map(parseFault).filter(isRequestFault), seeded()),
    counters: { fault: (rule) => told.push(rule) },
  });
  const text = async (url = eventsUrl) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await link(url, parts())).body) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  };
  return { text, power, arrived, told, clock, outage };
}

describe('the network of a TV', () => {
  it('passes requests and responses without faults', async () => {
    const { text, arrived, told } = linkWith();
    expect(await text()).toBe('{"received":1}');
    expect({ arrived, told }).toEqual({ arrived: [eventsUrl], told: [] });
  });

  it('lost-request: the request does not arrive', async () => {
    const { text, arrived, told } = linkWith('lost-request:events:100%');
    await expect(text()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect({ arrived, told }).toEqual({ arrived: [], told: ['lost-request:events:100%'] });
  });

  it('lost-answer: the request arrives, but no response', async () => {
    const { text, arrived } = linkWith('lost-answer:100%');
    await expect(text()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(arrived).toHaveLength(1);
  });

  it('cut-answer: half of the response, then an error', async () => {
    const { text, arrived } = linkWith('cut-answer:100%');
    await expect(text()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(arrived).toHaveLength(1);
  });

  it('duplicate: the request arrives twice, and the second response counts', async () => {
    const { text, arrived } = linkWith('duplicate:100%');
    expect(await text()).toBe('{"received":2}');
    expect(arrived).toHaveLength(2);
  });

  it('a status: the request does not arrive, and the TV gets an answer of the protocol', async () => {
    const { text, arrived } = linkWith('503:events');
    expect(JSON.parse(await text())).toMatchObject({ status: 503, code: 'unavailable' });
    expect(arrived).toEqual([]);
  });

  it('at-once: a request for changes is not held', async () => {
    const { text, arrived } = linkWith('at-once:changes');
    await text('http://127.0.0.1/devices/0190a5b4/changes?after=x&waitSeconds=50');
    expect(arrived).toEqual(['http://127.0.0.1/devices/0190a5b4/changes?after=x']);
  });

  it('slow: the request is delayed by the clock of the TV', async () => {
    const { text, clock } = linkWith('slow:2s-4s');
    await text();
    expect(clock.now()).toBeGreaterThanOrEqual(2 * secondMs);
    expect(clock.now()).toBeLessThan(4 * secondMs);
  });

  it('slow: a power cut ends the delay, and nothing is sent', async () => {
    const { text, arrived, power, clock } = linkWith('slow:10s');
    clock.after(secondMs, () => power.cut('now', 1));
    await expect(text()).rejects.toMatchObject({ code: 'interrupted' });
    expect(arrived).toEqual([]);
  });

  it('offline: nothing is sent', async () => {
    const { text, arrived, told, clock, outage } = linkWith();
    outage.begin(300 * secondMs, 'offline:5m every 1h');
    await expect(text()).rejects.toMatchObject({ code: 'ENETUNREACH' });
    expect({ arrived, told }).toEqual({ arrived: [], told: ['offline:5m every 1h'] });
    await new Promise<void>((resolve) => void clock.after(300 * secondMs, resolve));
    expect(await text()).toBe('{"received":1}');
  });

  it('affects the same requests with the same seed', async () => {
    const run = async () => {
      const { text } = linkWith('lost-answer:30%', 'slow:1s-9s:50%');
      return Promise.all(Array.from({ length: 50 }, () => text().catch(() => 'lost')));
    };
    const one = await run();
    const other = await run();
    expect(one).toEqual(other);
    expect(new Set(one).size).toBeGreaterThan(2);
  });
});

describe('a power cut', () => {
  it.each([
    ['sending', 0],
    ['answered', 1],
  ] as const)('while %s lets nothing more through', async (point, arrivals) => {
    const { text, power, arrived } = linkWith();
    power.cut(point, 60_000);
    expect(power.isOn).toBe(true);
    await expect(text()).rejects.toMatchObject({ code: 'interrupted' });
    expect({ arrived: arrived.length, isOn: power.isOn, offMs: power.offMs }).toEqual({
      arrived: arrivals,
      isOn: false,
      offMs: 60_000,
    });
    await expect(text()).rejects.toMatchObject({ code: 'interrupted' });
    power.restore();
    await text();
    expect(arrived).toHaveLength(arrivals + 1);
  });

  it('can be cancelled', async () => {
    const { text, power } = linkWith();
    power.cut('answered', 1);
    power.cancelCut();
    expect(await text()).toBe('{"received":1}');
  });
});

describe('a held answer', () => {
  const changesUrl = 'http://127.0.0.1/devices/0190a5b4/changes?after=x&waitSeconds=50';

  /** A link in real time, over which every answer is held for 45 seconds. */
  function holdingLink(...rules: string[]) {
    const wall = new ManualClock();
    const clock = makeVirtualClock({ speed: 1, startMs: 0, wall });
    const outage = new Outage();
    const told: string[] = [];
    const send = (_: string, { signal }: RequestParts) =>
      new Promise<RecordedAnswer>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')));
        clock.after(45 * secondMs, () =>
          resolve({ status: 200, headers: {}, bytes: Buffer.from('{}') }),
        );
      });
    const link = makeFaultyLink({
      transport: { send },
      clock,
      power: new Power(),
      outage,
      faults: new Faults(rules.map(parseFault).filter(isRequestFault), seeded()),
      counters: { fault: (rule) => told.push(rule) },
    });
    return { link, wall, clock, outage, told };
  }

  it('timeout: breaks while it is held', async () => {
    const { link, wall, told } = holdingLink('timeout:changes:1s-50s');
    const outcomes: unknown[] = [];
    for (let count = 0; count < 20; count++)
      link(changesUrl, parts()).then(
        () => outcomes.push('answered'),
        ({ code }) => outcomes.push(code),
      );
    wall.advance(25 * secondMs);
    await turns();
    expect(outcomes.length).toBeGreaterThan(2);
    expect(outcomes.length).toBeLessThan(18);
    expect(new Set(outcomes)).toEqual(new Set(['ECONNRESET']));
    expect(told).toHaveLength(20);
  });

  it('slow: its request is delayed', async () => {
    const { link, wall } = holdingLink('slow:changes:10s');
    let hasEnded = false;
    const call = link(changesUrl, parts()).then(() => {
      hasEnded = true;
    });
    for (const seconds of [10, 44]) {
      wall.advance(seconds * secondMs);
      await turns();
    }
    expect(hasEnded).toBe(false);
    wall.advance(secondMs);
    await call;
  });

  it('lost-answer: is lost when its time is over', async () => {
    const { link, wall } = holdingLink('lost-answer:changes:100%');
    const call = link(changesUrl, parts());
    wall.advance(45 * secondMs);
    await expect(call).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('offline: does not arrive if the TV has lost its network meanwhile', async () => {
    const { link, wall, clock, outage } = holdingLink();
    const call = link(changesUrl, parts());
    outage.begin(clock.now() + 60 * secondMs, 'offline:1m every 1h');
    wall.advance(45 * secondMs);
    await expect(call).rejects.toMatchObject({ code: 'ENETUNREACH' });
  });
});
