import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import type { Random } from '../../../src/domain/clock.ts';
import type { SignageError } from '../../../src/domain/error.ts';
import { silentLog } from '../../../src/domain/log.ts';
import { type LoadShed, makeLoadShed } from '../../../src/http/admission/load-shed.ts';
import type { ServedRequest } from '../../../src/http/request/request-context.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';

/** Result of requests that were sent at a fixed rate. */
export interface Offered {
  perSecond: number;
  /** Answers 202 within one second, a client's patience. */
  goodput: number;
  /** Answers by status, and errors. `late`: 202 that came too late. */
  counts: Record<string, number>;
  /** Distinct values of `Retry-After`. */
  waits: Set<string>;
  /** Latencies of the answers in time. */
  goodMs: number[];
}

/** Returns the violations of a service under several times its capacity. */
export function checkOverload(rounds: readonly Offered[], capacity: number): string[] {
  const peak = Math.max(...rounds.map(({ goodput }) => goodput));
  return rounds.flatMap(({ perSecond, goodput, counts, waits }) => {
    const times = `${(perSecond / capacity).toFixed(0)}×`;
    const found: string[] = [];
    if (goodput < 0.8 * Math.min(peak, perSecond))
      found.push(`${times}: goodput ${goodput.toFixed(0)} of ${peak.toFixed(0)} a second`);
    const odd = Object.keys(counts).filter((outcome) => !['202', '503', 'late'].includes(outcome));
    if (odd.length > 0)
      found.push(`${times}: ${odd.map((outcome) => `${counts[outcome]} ${outcome}`).join(', ')}`);
    const late = counts.late ?? 0;
    if (late > 0.2 * (counts['202'] ?? 0))
      found.push(`${times}: ${late} answers that came too late`);
    if (perSecond < 5 * capacity) return found;
    if (!counts['503']) found.push(`${times}: nobody was turned away`);
    else if (waits.has('none')) found.push(`${times}: turned away without a Retry-After`);
    else if (waits.size < 5)
      found.push(`${times}: all told to come back at once, after ${[...waits].join(', ')} s`);
    return found;
  });
}

interface Waiting {
  sentMs: number;
  request: ServedRequest;
}

const tickMs = 100;
const patienceMs = 10_000;
const capacity = 500;

/** Returns different bytes each time. */
export function varied(): Random {
  let drawn = 0;
  return () => Uint8Array.of(drawn++);
}

export interface OverloadParts {
  random: Random;
  /** Replaces parts of the load shedding. */
  wrapShed?(shed: LoadShed): LoadShed;
}

/**
 * Offers a model of the service its capacity, then five and ten times that, on a manual clock. The
 * service is a queue that completes a fixed number every 100 ms. The load shedding is the real one.
 */
export async function modelOverload(
  { random, wrapShed = (shed) => shed }: OverloadParts,
  seconds = 30,
): Promise<string[]> {
  const clock = new ManualClock();
  let refused: number | undefined;
  const refuse = (_in: unknown, _out: unknown, error: SignageError) => {
    refused = error.retryAfterSeconds;
  };
  const shed = wrapShed(
    makeLoadShed({
      clock,
      random,
      refuse,
      isKnown: () => true,
      metrics: { requestShed: () => {} },
      log: silentLog,
    }),
  );
  const queue: Waiting[] = [];

  function send(round: Offered): void {
    const request = {
      method: 'POST',
      url: '/devices/x/events',
      complete: true,
    } as ServedRequest;
    if (shed.admit(request, {} as ServerResponse)) {
      queue.push({ sentMs: clock.now(), request });
    } else {
      round.counts['503'] = (round.counts['503'] ?? 0) + 1;
      round.waits.add(String(refused ?? 'none'));
    }
  }

  function answer(round: Offered): void {
    for (const { sentMs, request } of queue.splice(0, (capacity * tickMs) / 1000)) {
      request.admission?.end();
      const tookMs = clock.now() - sentMs;
      const outcome = tookMs > patienceMs ? 'late' : '202';
      round.counts[outcome] = (round.counts[outcome] ?? 0) + 1;
      if (outcome === '202') round.goodMs.push(tookMs);
    }
  }

  const rounds: Offered[] = [];
  for (const perSecond of [capacity, 5 * capacity, 10 * capacity]) {
    const round: Offered = { perSecond, goodput: 0, counts: {}, waits: new Set(), goodMs: [] };
    for (let tick = 0; tick < (seconds * 1000) / tickMs; tick++) {
      clock.advance(tickMs);
      for (let each = 0; each < (perSecond * tickMs) / 1000; each++) send(round);
      answer(round);
      await turn();
    }
    round.goodput = round.goodMs.length / seconds;
    rounds.push(round);
    // The rest completes before the next round.
    for (const { request } of queue.splice(0)) request.admission?.end();
  }
  return checkOverload(rounds, capacity);
}
