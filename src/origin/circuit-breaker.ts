import type { Clock } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import type { MaybePromise } from '../domain/maybe-promise.ts';

const opensAfter = 5;
/** Short, so that what came back is used again within seconds. */
const probeEveryMs = 2000;

export interface CircuitBreakerOptions {
  clock: Clock;
  /** What a failure tells of the other side: every one that it is down, unless said. */
  tells?: (error: unknown) => 'down' | 'up' | 'nothing';
  /** Called when it opens: who still waits for a call need not do so any longer. */
  onOpen?: () => void;
}

export function skipped(): SignageError {
  return new SignageError(
    'origin_skipped',
    'It failed again and again a moment ago: it is left alone for a while.',
  );
}

/**
 * Spares one who failed five times in a row, and those who would wait for him: calls fail at once with `origin_skipped`. Every two seconds one call is
 * made all the same, while its caller is not kept waiting; when it succeeds, all is as before.
 *
 * Own code, for the libraries (opossum, cockatiel) tell the time by themselves, and let a caller wait for the probe.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  #failures = 0;
  #state: 'closed' | 'open' | 'due' | 'probing' = 'closed';
  #cancel = () => {};

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#state !== 'closed';
  }

  /** Makes the call, or throws `origin_skipped`. */
  run<T>(call: () => Promise<T>): Promise<T>;
  run<T>(call: () => MaybePromise<T>): MaybePromise<T>;
  run<T>(call: () => MaybePromise<T>): MaybePromise<T> {
    if (this.#state === 'closed') return this.#watch(call);
    if (this.#state === 'due') {
      this.#state = 'probing';
      void this.#probe(call);
    }
    return Promise.reject(skipped());
  }

  async #probe(call: () => MaybePromise<unknown>): Promise<void> {
    try {
      await this.#watch(call);
    } catch {
      // It is still down, and whoever asked is gone.
    }
  }

  #watch<T>(call: () => MaybePromise<T>): MaybePromise<T> {
    let answer: MaybePromise<T>;
    try {
      answer = call();
    } catch (error) {
      return this.#threw(error);
    }
    return answer instanceof Promise
      ? answer.then(this.#succeeded as (value: T) => T, this.#threw)
      : this.#succeeded(answer);
  }

  readonly #succeeded = <T>(value: T): T => {
    this.#reached();
    return value;
  };

  readonly #threw = (error: unknown): never => {
    const told = this.#options.tells?.(error) ?? 'down';
    if (told === 'up') this.#reached();
    else this.#failed(told === 'down' ? 1 : 0);
    throw error;
  };

  #reached(): void {
    if (this.#failures === 0) return;
    this.#cancel();
    this.#failures = 0;
    this.#state = 'closed';
  }

  #failed(weight: 0 | 1): void {
    this.#failures += weight;
    if (this.#failures < opensAfter || this.#state === 'open' || this.#state === 'due') return;
    const wasClosed = this.#state === 'closed';
    this.#state = 'open';
    this.#cancel = this.#options.clock.after(probeEveryMs, () => {
      this.#state = 'due';
    });
    if (wasClosed) this.#options.onOpen?.();
  }
}
