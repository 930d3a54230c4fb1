import { type Clock, minuteMs } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import type { LogSink } from '../domain/log.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { OriginHealth, OriginName, OriginOutcome } from './origin.ts';

/** Weight of a new latency in the moving average. */
const averageWeight = 0.1;
/** Minimum interval between two log entries about one origin. */
const logIntervalMs = minuteMs;
/** Histogram bounds in milliseconds, from cached answers to answers at the time-out. */
const bucketBoundsMs = [0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2000, 5000, 10_000];

export interface HealthTrackerOptions {
  clock: Clock;
  breaker: CircuitBreaker;
}

/**
 * Returns the code of a failure, such as `origin_status_503`. It contains no text from the origin.
 */
function codeOf(error: unknown): string {
  if (error instanceof SignageError)
    return error.status === undefined ? error.code : `${error.code}_${error.status}`;
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : 'error';
}

/** Returns a function that logs a failure, at most once a minute for each origin. */
export function makeFailureLog(log: LogSink, clock: Clock) {
  const loggedMs = new Map<OriginName, number>();
  return (origin: OriginName, err: unknown): void => {
    const nowMs = clock.now();
    const lastMs = loggedMs.get(origin) ?? Number.NEGATIVE_INFINITY;
    const code = codeOf(err);
    if (code === 'origin_skipped' || Math.abs(nowMs - lastMs) < logIntervalMs) return;
    loggedMs.set(origin, nowMs);
    log.warn({ origin, code, err }, 'This playlist origin fails; the next one is asked.');
  };
}

/** Counts the answers of an origin by outcome and duration, and derives its state. */
export class OriginHealthTracker {
  readonly #name: OriginName;
  readonly #options: HealthTrackerOptions;
  readonly #counts: Record<OriginOutcome, number> = { playlist: 0, none: 0, failed: 0, skipped: 0 };
  readonly #bucketCounts = [...bucketBoundsMs, Number.POSITIVE_INFINITY].map(() => 0);
  #sumMs = 0;
  #averageMs: number | null = null;
  #lastError: OriginHealth['lastError'] = null;
  #state: OriginHealth['state'] = 'ok';
  #sinceMs: number;

  constructor(name: OriginName, options: HealthTrackerOptions) {
    this.#name = name;
    this.#options = options;
    this.#sinceMs = options.clock.now();
  }

  answered(outcome: 'playlist' | 'none', startMs: number, nowMs: number): void {
    this.#recordLatency(nowMs - startMs);
    this.#recordOutcome(outcome, nowMs);
  }

  failed(error: unknown, startMs: number): void {
    const nowMs = this.#options.clock.now();
    const code = codeOf(error);
    if (code === 'origin_skipped') {
      this.#recordOutcome('skipped', nowMs);
      return;
    }
    this.#lastError = { code, atMs: nowMs };
    this.#recordLatency(nowMs - startMs);
    this.#recordOutcome('failed', nowMs);
  }

  health(): OriginHealth {
    const isOpen = this.#options.breaker.isOpen;
    // The tracker does not see the results of probes, so the breaker may be the first to notice a
    // recovery.
    const state = isOpen === (this.#state === 'open') ? this.#state : isOpen ? 'open' : 'ok';
    return {
      name: this.#name,
      state,
      sinceMs: this.#sinceMs,
      lastError: this.#lastError,
      counts: { ...this.#counts },
      latencyMs: this.#averageMs,
      latencies: { boundsMs: bucketBoundsMs, counts: [...this.#bucketCounts], sumMs: this.#sumMs },
    };
  }

  #recordOutcome(outcome: OriginOutcome, nowMs: number): void {
    this.#counts[outcome]++;
    const next = this.#options.breaker.isOpen ? 'open' : outcome === 'failed' ? 'failing' : 'ok';
    if (next === this.#state) return;
    this.#state = next;
    this.#sinceMs = nowMs;
  }

  #recordLatency(ms: number): void {
    let bucket = 0;
    while (bucket < bucketBoundsMs.length && ms > (bucketBoundsMs[bucket] as number)) bucket++;
    this.#bucketCounts[bucket] = (this.#bucketCounts[bucket] as number) + 1;
    this.#sumMs += ms;
    this.#averageMs =
      this.#averageMs === null ? ms : this.#averageMs + averageWeight * (ms - this.#averageMs);
  }
}
