import pLimit from 'p-limit';
import type { Clock } from '../../domain/clock.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import type { Screen } from '../../domain/records/rows.ts';
import { withTimeout } from '../../domain/timeout.ts';
import { CircuitBreaker, skippedError } from '../circuit-breaker.ts';
import type { AskOptions, OnDemandAnswer, OnDemandSource } from '../origin.ts';
import { onDemandContent } from './content.ts';

/** Pending promises that can all be rejected at once. */
class Waiters {
  readonly #rejects = new Set<(error: Error) => void>();

  /** Settles like `promise`, or rejects if `rejectAll` is called first. */
  wait<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#rejects.add(reject);
      promise.then(resolve, reject).finally(() => this.#rejects.delete(reject));
    });
  }

  rejectAll(error: Error): void {
    for (const reject of this.#rejects) reject(error);
    this.#rejects.clear();
  }
}

/**
 * Memory limit, enough for 10,000 screens with playlists of 50 items. Beyond it, the oldest answers
 * are evicted early.
 */
const maxBytes = 128 * 1024 * 1024;
/** Estimated bytes of an entry in addition to its items. */
const overheadBytes = 200;

interface KeptAnswer {
  answer: OnDemandAnswer;
  storedMs: number;
  bytes: number;
}

/**
 * Cache of answers by screen, with a TTL of `ttlMs` and a memory limit. If the clock is set back,
 * entries expire early rather than late.
 *
 * No library is needed, because all entries have the same TTL: the oldest entries are the first of
 * a `Map`. The package lru-cache has 3.6 MB and uses its own clock.
 */
export class AnswerCache {
  readonly #entries = new Map<string, KeptAnswer>();
  readonly #clock: Clock;
  readonly #ttlMs: number;
  #bytes = 0;

  constructor(clock: Clock, ttlMs: number) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
  }

  get(screenId: string): OnDemandAnswer | undefined {
    const entry = this.#entries.get(screenId);
    return entry && this.#isFresh(entry) ? entry.answer : undefined;
  }

  set(screenId: string, answer: OnDemandAnswer): void {
    if (this.#ttlMs === 0) return;
    this.#evict(screenId);
    const bytes = overheadBytes + (answer.content?.items.length ?? 0);
    this.#entries.set(screenId, { answer, storedMs: this.#clock.now(), bytes });
    this.#bytes += bytes;
    for (const [id, entry] of this.#entries) {
      if (this.#isFresh(entry) && this.#bytes <= maxBytes) return;
      this.#evict(id);
    }
  }

  forget(screenId: string, answer: OnDemandAnswer): void {
    if (this.#entries.get(screenId)?.answer === answer) this.#evict(screenId);
  }

  #isFresh({ storedMs }: KeptAnswer): boolean {
    const ageMs = this.#clock.now() - storedMs;
    return ageMs >= 0 && ageMs < this.#ttlMs;
  }

  #evict(screenId: string): void {
    this.#bytes -= this.#entries.get(screenId)?.bytes ?? 0;
    this.#entries.delete(screenId);
  }
}

export interface OnDemandOptions {
  clock: Clock;
  /**
   * Returns the raw answer of the source for a screen, or `null` for none. `signal` aborts when the
   * call exceeds its time-out.
   */
  ask(screen: Screen, signal: AbortSignal): Promise<unknown>;
  /** Milliseconds for which an answer is cached, including the answer that there is no playlist. */
  ttlMs: number;
  /** Limit of the total time that a TV waits: for a concurrency slot, the call, and a retry. */
  timeoutMs: number;
  /** Limit of concurrent calls. */
  concurrency: number;
}

export interface GuardedSource extends OnDemandSource {
  readonly breaker: CircuitBreaker;
}

/**
 * Share of the time-out that a call may take. The rest is for the next origin, so that the TV gets
 * a playlist within the time-out.
 */
const timeoutShare = 0.95;

/**
 * Time for which a refresh waits for further refreshes of the same screen, which share its call.
 */
const gatherMs = 200;
/** Share of the concurrent calls that refreshes may take. The rest is for TVs. */
const refreshShare = 0.25;
/**
 * Limits of refreshes that wait for a call: of all tenants, and of one tenant. Further ones fail at
 * once. One tenant cannot take the places of all others.
 */
const maxWaitingRefreshes = 32;
const maxWaitingOfTenant = 16;

/** Rejects when the signal aborts. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
  );
}

/**
 * Classifies an error for the circuit breaker. A bad answer proves that the source is up. A call
 * that never got a slot proves nothing.
 */
function classify(error: unknown): 'failure' | 'success' | 'ignored' {
  if (hasCode(error, 'origin_bad_answer')) return 'success';
  return hasCode(error, 'origin_busy') || hasCode(error, 'origin_skipped') ? 'ignored' : 'failure';
}

/**
 * Minimises calls to the source. Concurrent requests for one screen share a call (single flight),
 * and answers are cached. Calls have a concurrency limit. A circuit breaker stops the calls while
 * the source is down.
 */
export function makeOnDemandSource({
  clock,
  ask,
  ttlMs,
  timeoutMs,
  concurrency,
}: OnDemandOptions): GuardedSource {
  const cache = new AnswerCache(clock, ttlMs);
  const inFlight = new Map<string, Promise<OnDemandAnswer>>();
  /** Refreshes that wait for a call, by screen. */
  const gathering = new Map<string, { tenantId: string; answer: Promise<OnDemandAnswer> }>();
  const waiters = new Waiters();
  const limiter = pLimit(concurrency);
  const refreshLimiter = pLimit(Math.max(1, Math.floor(concurrency * refreshShare)));
  const callTimeoutMs = Math.floor(timeoutMs * timeoutShare);
  // When the breaker opens, all waiting requests are rejected. `setImmediate` delays the rejection,
  // because the requests that share the failed call must first get the error of that call.
  const breaker = new CircuitBreaker({
    clock,
    classify,
    onOpen: () => setImmediate(() => waiters.rejectAll(skippedError())),
  });

  /**
   * Makes one call within the time-out. Throws `origin_busy` if no slot became free. After the
   * time-out, the slot is released even if the call ignores the signal.
   */
  async function callSource(screen: Screen, { readVersion }: AskOptions): Promise<OnDemandAnswer> {
    const aborter = new AbortController();
    const { signal } = aborter;
    const isProbe = breaker.isOpen;
    let started = false;
    let versionBefore: OnDemandAnswer['versionBefore'];
    const work = limiter(async () => {
      signal.throwIfAborted();
      // The breaker opened while this call was queued. The requests that waited for the call were
      // already rejected.
      if (breaker.isOpen && !isProbe) throw skippedError();
      started = true;
      versionBefore = readVersion?.();
      return Promise.race([ask(screen, signal), aborted(signal)]);
    });
    try {
      const content = onDemandContent(
        await withTimeout(clock, callTimeoutMs, work, () => aborter.abort()),
        screen,
      );
      return { content, versionBefore };
    } catch (error) {
      if (started || !hasCode(error, 'origin_timeout')) throw error;
      throw new SignageError(
        'origin_busy',
        `All ${concurrency} concurrent calls were in use for ${callTimeoutMs} ms.`,
      );
    }
  }

  /**
   * Calls the source. Later requests share this call, even if an earlier call is still in flight.
   */
  async function startCall(screen: Screen, options: AskOptions): Promise<OnDemandAnswer> {
    const flight = callSource(screen, options);
    inFlight.set(screen.id, flight);
    const isLatest = () => inFlight.get(screen.id) === flight;
    try {
      const answer = await flight;
      if (isLatest()) cache.set(screen.id, answer);
      return answer;
    } finally {
      if (isLatest()) inFlight.delete(screen.id);
    }
  }

  function guardedCall(screen: Screen, options: AskOptions): Promise<OnDemandAnswer> {
    // Refreshes do not open the breaker. Otherwise, an operator whose playlists hang could stop the
    // calls for the TVs of all tenants.
    const answer = breaker.run(() => startCall(screen, options), !options.isRefresh);
    // While the breaker is open, no request waits, including the request that starts the probe.
    return breaker.isOpen ? answer : waiters.wait(answer);
  }

  /** Makes one call for all refreshes of a screen that arrive before the call begins. */
  function refresh(screen: Screen, options: AskOptions): Promise<OnDemandAnswer> {
    const shared = gathering.get(screen.id);
    if (shared) return shared.answer;
    const { tenantId } = screen;
    const ofTenant = [...gathering.values()].filter((one) => one.tenantId === tenantId).length;
    if (gathering.size >= maxWaitingRefreshes || ofTenant >= maxWaitingOfTenant)
      throw new SignageError('origin_busy', `${gathering.size} other refreshes are waiting.`);
    const answer = new Promise<void>((resolve) => void clock.after(gatherMs, resolve)).then(() =>
      refreshLimiter(() => {
        gathering.delete(screen.id);
        return guardedCall(screen, options);
      }),
    );
    gathering.set(screen.id, { tenantId, answer });
    return answer;
  }

  return {
    breaker,
    forget: (screenId, answer) => cache.forget(screenId, answer),
    async ask(screen, options = {}) {
      if (options.isRefresh) return refresh(screen, options);
      const cached = cache.get(screen.id);
      if (cached) return cached;
      const flight = breaker.isOpen ? undefined : inFlight.get(screen.id);
      return flight ? waiters.wait(flight) : guardedCall(screen, options);
    },
  };
}
