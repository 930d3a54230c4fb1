import type { Clock, Random } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import { interrupted } from './interrupted.ts';
import { pause } from './pause.ts';

/** How often, and how long apart, a call is tried. */
export interface RetryPolicy {
  /** Tries in all, the first included. */
  attempts: number;
  /** The wait before the second try; it doubles from there, and is shortened at random by up to half, so that many TVs do not return at once. */
  firstDelayMs: number;
  /** No wait is longer; a service that asks for more (`Retry-After`) is not asked again. */
  longestDelayMs: number;
}

export const defaultRetry: RetryPolicy = { attempts: 4, firstDelayMs: 250, longestDelayMs: 30_000 };

interface RetryContext {
  policy: RetryPolicy;
  clock: Clock;
  random: Random;
  signal?: AbortSignal | undefined;
  /**
   * Whether the call may be repeated when nobody knows what became of it: a safe one, one that replaces something as a whole, one with an
   * `Idempotency-Key`. Any other is repeated only when the service itself says that it did not do it, and when to come again.
   */
  mayRepeat: boolean;
}

const passing = ['unreachable', 'unavailable'];

/** Whether the same call may well succeed later, and may be made again. */
function isPassing(error: unknown, mayRepeat: boolean): error is SignageError {
  if (!(error instanceof SignageError)) return false;
  // With a request id it is the service that speaks, and no proxy on the way.
  if (!mayRepeat)
    return (
      error.code === 'unavailable' &&
      error.retryAfterSeconds !== undefined &&
      error.requestId !== undefined
    );
  return passing.includes(error.code) || error.retryAfterSeconds !== undefined;
}

/** At least what the service asked for, and from half the step to the whole of it otherwise. */
function delayBefore(
  attempt: number,
  error: SignageError,
  { policy, random }: RetryContext,
): number {
  const step = Math.min(policy.firstDelayMs * 2 ** (attempt - 1), policy.longestDelayMs);
  const jitterMs = ((random(1)[0] ?? 0) / 256) * (step / 2);
  return error.retryAfterSeconds === undefined
    ? step - jitterMs
    : error.retryAfterSeconds * 1000 + jitterMs;
}

/** Makes a call, again while it fails for a passing reason. Throws the last error. */
export async function withRetry<T>(call: () => Promise<T>, context: RetryContext): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (!isPassing(error, context.mayRepeat) || attempt >= context.policy.attempts) throw error;
      const delayMs = delayBefore(attempt, error, context);
      if ((error.retryAfterSeconds ?? 0) * 1000 > context.policy.longestDelayMs) throw error;
      await pause(context.clock, delayMs, context.signal);
      if (context.signal?.aborted) throw interrupted();
    }
  }
}
