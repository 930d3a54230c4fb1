import { type Clock, minuteMs } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import type { LogSink } from '../domain/log.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { OriginHealth, OriginName, OriginOutcome } from './origin.ts';

/** How much of a new time enters the average. */
const weight = 0.1;
/** Between two complaints of one origin. */
const quietMs = minuteMs;
/** From an answer out of memory to one that came at the last moment, in milliseconds. */
const boundsMs = [0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2000, 5000, 10_000];

export interface HealthOptions {
  clock: Clock;
  /** The one that spares the origin, wherever in it that works. */
  breaker: CircuitBreaker;
  log: LogSink;
}

/** The code of a failure, such as `origin_status_503`: for operators, and never with what an origin said. */
function codeOf(error: unknown): string {
  if (error instanceof SignageError)
    return error.status === undefined ? error.code : `${error.code}_${error.status}`;
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : 'error';
}

/** Keeps count of how an origin fares. It is told of every answer, so it does no more than to count. */
export class OriginHealthTracker {
  readonly #name: OriginName;
  readonly #options: HealthOptions;
  readonly #counts: Record<OriginOutcome, number> = { playlist: 0, none: 0, failed: 0, skipped: 0 };
  readonly #inBucket = [...boundsMs, Number.POSITIVE_INFINITY].map(() => 0);
  #sumMs = 0;
  #averageMs: number | null = null;
  #lastError: OriginHealth['lastError'] = null;
  #state: OriginHealth['state'] = 'ok';
  #sinceMs: number;
  #complainedMs = Number.NEGATIVE_INFINITY;

  constructor(name: OriginName, options: HealthOptions) {
    this.#name = name;
    this.#options = options;
    this.#sinceMs = options.clock.now();
  }

  answered(outcome: 'playlist' | 'none', startMs: number, nowMs: number): void {
    this.#took(nowMs - startMs);
    this.#note(outcome, nowMs);
  }

  failed(error: unknown, startMs: number): void {
    const nowMs = this.#options.clock.now();
    const code = codeOf(error);
    if (code === 'origin_skipped') {
      this.#note('skipped', nowMs);
      return;
    }
    this.#lastError = { code, atMs: nowMs };
    this.#took(nowMs - startMs);
    this.#note('failed', nowMs);
    this.#complain(code, error, nowMs);
  }

  health(): OriginHealth {
    const isOpen = this.#options.breaker.isOpen;
    // A look whether it is back is nobody's question: the breaker has heard of it first.
    const state = isOpen === (this.#state === 'open') ? this.#state : isOpen ? 'open' : 'ok';
    return {
      ...{
        name: this.#name,
        state,
        sinceMs: this.#sinceMs,
        lastError: this.#lastError,
        counts: { ...this.#counts },
      },
      latencyMs: this.#averageMs,
      latencies: { boundsMs, counts: [...this.#inBucket], sumMs: this.#sumMs },
    };
  }

  #note(outcome: OriginOutcome, nowMs: number): void {
    this.#counts[outcome]++;
    const next = this.#options.breaker.isOpen ? 'open' : outcome === 'failed' ? 'failing' : 'ok';
    if (next === this.#state) return;
    [this.#state, this.#sinceMs] = [next, nowMs];
  }

  #took(ms: number): void {
    let bucket = 0;
    while (bucket < boundsMs.length && ms > (boundsMs[bucket] as number)) bucket++;
    this.#inBucket[bucket] = (this.#inBucket[bucket] as number) + 1;
    this.#sumMs += ms;
    this.#averageMs =
      this.#averageMs === null ? ms : this.#averageMs + weight * (ms - this.#averageMs);
  }

  /** Says in the log that it fails, and once a minute at most. */
  #complain(code: string, err: unknown, nowMs: number): void {
    if (Math.abs(nowMs - this.#complainedMs) < quietMs) return;
    this.#complainedMs = nowMs;
    this.#options.log.warn(
      { origin: this.#name, code, err },
      'This origin of playlists fails; the next one is asked.',
    );
  }
}
