import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import type { Random } from '../../../src/domain/clock.ts';
import type { SignageError } from '../../../src/domain/error.ts';
import { silentLog } from '../../../src/domain/log.ts';
import { type LoadShed, makeLoadShed } from '../../../src/http/admission/load-shed.ts';
import type { ServedRequest } from '../../../src/http/request/request-context.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { checkOverload, type Offered } from './offered.ts';

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
