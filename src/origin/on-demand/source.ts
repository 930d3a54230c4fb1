import pLimit from 'p-limit';
import type { Clock } from '../../domain/clock.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import type { Screen } from '../../domain/records/rows.ts';
import { withTimeout } from '../../domain/timeout.ts';
import { CircuitBreaker, skipped } from '../circuit-breaker.ts';
import type { OnDemandAnswer, OnDemandSource } from '../origin.ts';
import { AnswerCache } from './answer-cache.ts';
import { onDemandContent } from './content.ts';
import { Waiters } from './waiters.ts';

export interface OnDemandOptions {
  clock: Clock;
  /** What the source says of a screen, not yet judged; `null`: none. `signal` aborts when nobody waits any longer. */
  ask(screen: Screen, signal: AbortSignal): Promise<unknown>;
  /** For how long an answer is held, "none" too. */
  ttlMs: number;
  /** How long a TV is kept waiting in all: for its turn, the call, and a second try. */
  timeoutMs: number;
  /** The most calls at once. */
  concurrency: number;
}

export interface BrokenSource extends OnDemandSource {
  readonly breaker: CircuitBreaker;
}

/** What is left of the time is for the next origin, so that the TV has its playlist within it. */
const shareOfTime = 0.95;

/** Rejects when the signal aborts. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
  );
}

/** A bad answer is one all the same; and that a call never had its turn says nothing of whom it would have called. */
function tells(error: unknown): 'down' | 'up' | 'nothing' {
  if (hasCode(error, 'origin_bad_answer')) return 'up';
  return hasCode(error, 'origin_busy') || hasCode(error, 'origin_skipped') ? 'nothing' : 'down';
}

/**
 * Asks the source as seldom as may be: those who ask for one screen at the same time share one call, its answer is held for a while, no more than
 * `concurrency` calls run at once, and while the source is down, it is not asked but for a look now and then.
 */
export function makeOnDemandSource({
  clock,
  ask,
  ttlMs,
  timeoutMs,
  concurrency,
}: OnDemandOptions): BrokenSource {
  const held = new AnswerCache(clock, ttlMs);
  const underWay = new Map<string, Promise<OnDemandAnswer>>();
  const waiting = new Waiters();
  const limit = pLimit(concurrency);
  const patienceMs = Math.floor(timeoutMs * shareOfTime);
  // Those whose own call failed hear of that first.
  const breaker = new CircuitBreaker({
    clock,
    tells,
    onOpen: () => setImmediate(() => waiting.sendHome(skipped())),
  });

  /** One call, in time; `origin_busy` when its turn did not come. What does not heed the signal loses its place all the same. */
  async function call(screen: Screen): Promise<OnDemandAnswer> {
    const aborter = new AbortController();
    const { signal } = aborter;
    const isProbe = breaker.isOpen;
    let started = false;
    const work = limit(async () => {
      signal.throwIfAborted();
      // It opened meanwhile: whoever wanted to know has left.
      if (breaker.isOpen && !isProbe) throw skipped();
      started = true;
      return Promise.race([ask(screen, signal), aborted(signal)]);
    });
    try {
      const content = onDemandContent(
        await withTimeout(clock, patienceMs, work, () => aborter.abort()),
        screen,
      );
      const answer: OnDemandAnswer = { content };
      held.set(screen.id, answer);
      return answer;
    } catch (error) {
      if (started || !hasCode(error, 'origin_timeout')) throw error;
      throw new SignageError(
        'origin_busy',
        `${concurrency} calls are under way, and none was over within ${patienceMs} ms.`,
      );
    }
  }

  function shared(screen: Screen): Promise<OnDemandAnswer> {
    const answer = call(screen).finally(() => underWay.delete(screen.id));
    underWay.set(screen.id, answer);
    return answer;
  }

  return {
    breaker,
    async ask(screen) {
      const known = held.get(screen.id);
      if (known) return known;
      // While the breaker is open nobody waits, not even for the call that looks whether the source is back.
      if (breaker.isOpen) return breaker.run(() => shared(screen));
      return waiting.wait(underWay.get(screen.id) ?? breaker.run(() => shared(screen)));
    },
  };
}
