import type { Clock } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';

const failureThreshold = 5;
/** Short, so that the service uses a recovered origin again within seconds. */
const probeIntervalMs = 2000;

export interface CircuitBreakerOptions {
  clock: Clock;
  /**
   * Classifies an error: `failure` of the called system, `success`, or `ignored`. Default: every
   * error is a failure.
   */
  classify?: (error: unknown) => 'failure' | 'success' | 'ignored';
  /** Called when the breaker opens, so that pending calls can be rejected. */
  onOpen?: () => void;
}

export function skippedError(): SignageError {
  return new SignageError(
    'origin_skipped',
    'The circuit breaker is open after repeated failures: no call was made.',
  );
}

/**
 * Circuit breaker: opens after five failures in a row. While it is open, calls fail at once with
 * `origin_skipped`. Every two seconds, one of these calls also starts a probe in the background. A
 * successful probe closes the breaker.
 *
 * No library is used, because opossum and cockatiel use their own clock, and make a caller wait for
 * the probe.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  #failures = 0;
  #state: 'closed' | 'open' | 'half-open' | 'probing' = 'closed';
  #cancel = () => {};

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#state !== 'closed';
  }

  /**
   * Makes the call, or rejects with `origin_skipped`. `isCounted`: whether a failure of the call
   * counts towards the five failures.
   */
  async run<T>(call: () => Promise<T>, isCounted = true): Promise<T> {
    if (this.#state === 'closed') return this.#track(call, isCounted);
    if (this.#state === 'half-open') {
      this.#state = 'probing';
      // The call that starts the probe is rejected at once, and does not see its failure.
      this.#track(call, true).catch(() => undefined);
    }
    throw skippedError();
  }

  async #track<T>(call: () => Promise<T>, isCounted: boolean): Promise<T> {
    try {
      const value = await call();
      this.#recordSuccess();
      return value;
    } catch (error) {
      const kind = this.#options.classify?.(error) ?? 'failure';
      if (kind === 'success') this.#recordSuccess();
      else this.#recordFailure(kind === 'failure' && isCounted ? 1 : 0);
      throw error;
    }
  }

  #recordSuccess(): void {
    if (this.#failures === 0) return;
    this.#cancel();
    this.#failures = 0;
    this.#state = 'closed';
  }

  #recordFailure(weight: 0 | 1): void {
    this.#failures += weight;
    if (this.#failures < failureThreshold || this.#state === 'open' || this.#state === 'half-open')
      return;
    const wasClosed = this.#state === 'closed';
    this.#state = 'open';
    this.#cancel = this.#options.clock.after(probeIntervalMs, () => {
      this.#state = 'half-open';
    });
    if (wasClosed) this.#options.onOpen?.();
  }
}
