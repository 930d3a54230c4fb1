import type { Clock, Random } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import { interrupted, pause } from './pause.ts';
import { systemCode } from './transport.ts';

/** The number of attempts and the delays between them: exponential backoff with jitter. */
export interface RetryPolicy {
  /** Maximum number of attempts, the first included. Default: 4. */
  attempts: number;
  /**
   * Delay before the second attempt, in milliseconds. It doubles with each further attempt. Jitter
   * shortens it by up to half, so that many TVs do not retry at once. Default: 250.
   */
  firstDelayMs: number;
  /**
   * Longest delay, in milliseconds. If `Retry-After` asks for more, the call fails at once.
   * Default: 30,000.
   */
  longestDelayMs: number;
  /**
   * Time in milliseconds for which any call is repeated, however often, while the connection is
   * refused: nothing was sent. Default: 0.
   */
  refusedForMs: number;
}

export const defaultRetry: RetryPolicy = {
  attempts: 4,
  firstDelayMs: 250,
  longestDelayMs: 30_000,
  refusedForMs: 0,
};

/** A failed attempt that will be repeated. */
export interface Retry {
  error: SignageError;
  /** Number of the failed attempt, from 1. */
  attempt: number;
  attempts: number;
  /** Delay before the next attempt, in milliseconds. */
  delayMs: number;
  /** Whether the connection was refused. The call is then repeated until `refusedForMs` is over. */
  isRefused: boolean;
}

interface RetryContext {
  policy: RetryPolicy;
  clock: Clock;
  random: Random;
  signal?: AbortSignal | undefined;
  /**
   * Whether the call may be repeated when its outcome is unknown: it is safe, idempotent or has an
   * `Idempotency-Key`. Other calls are repeated only if the service itself rejected them with
   * `unavailable` and `Retry-After`.
   */
  isIdempotent: boolean;
  /** Called before each wait, and with `undefined` at the end of a call that has waited. */
  onRetry?: ((retry: Retry | undefined) => void) | undefined;
}

/** Longest delay while the connection is refused: a restart takes seconds. */
const longestRefusedDelayMs = 1000;

/** Whether nothing listened, so that the service has not got the call. */
const isRefusal = (error: SignageError) =>
  error.code === 'unreachable' && systemCode(error.cause) === 'ECONNREFUSED';

const transientCodes = ['unreachable', 'unavailable'];

/** Returns whether the failure is transient and the call may be repeated. */
function mayRepeat(error: SignageError, isIdempotent: boolean): boolean {
  const { code, retryAfterSeconds, requestId } = error;
  if (!transientCodes.includes(code) && retryAfterSeconds === undefined) return false;
  // A request id shows that the service answered, not a proxy.
  if (code === 'unavailable' && retryAfterSeconds !== undefined && requestId !== undefined)
    return true;
  return isIdempotent;
}

/**
 * Returns the delay in milliseconds. With `Retry-After`, it is that time plus jitter. Otherwise it
 * is random, between half of the backoff step and the whole step.
 */
function delayBefore(
  attempt: number,
  error: SignageError,
  { policy, random }: RetryContext,
): number {
  const stepMs = Math.min(policy.firstDelayMs * 2 ** (attempt - 1), policy.longestDelayMs);
  const jitterMs = ((random(1)[0] ?? 0) / 256) * (stepMs / 2);
  return error.retryAfterSeconds === undefined
    ? stepMs - jitterMs
    : error.retryAfterSeconds * 1000 + jitterMs;
}

/**
 * Retries a call after transient failures. Throws the last error when all attempts have failed or a
 * retry is not allowed. Throws `interrupted` if the signal aborts.
 */
export async function withRetry<T>(call: () => Promise<T>, context: RetryContext): Promise<T> {
  let hasWaited = false;
  const onRetry: RetryContext['onRetry'] = (retry) => {
    hasWaited = true;
    context.onRetry?.(retry);
  };
  try {
    return await repeat(call, { ...context, onRetry });
  } finally {
    if (hasWaited) context.onRetry?.(undefined);
  }
}

async function repeat<T>(call: () => Promise<T>, context: RetryContext): Promise<T> {
  const { attempts, refusedForMs, longestDelayMs } = context.policy;
  const refusedUntilMs = context.clock.now() + refusedForMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof SignageError)) throw error;
      const isRefused = isRefusal(error) && context.clock.now() < refusedUntilMs;
      if (!isRefused) {
        if (attempt >= attempts) throw error;
        if ((error.retryAfterSeconds ?? 0) * 1000 > longestDelayMs) throw error;
        if (!mayRepeat(error, context.isIdempotent)) throw error;
      }
      const usualMs = delayBefore(attempt, error, context);
      const delayMs = isRefused ? Math.min(usualMs, longestRefusedDelayMs) : usualMs;
      context.onRetry?.({ error, attempt, attempts, delayMs, isRefused });
      await pause(context.clock, delayMs, context.signal);
      if (context.signal?.aborted) throw interrupted(context.signal);
    }
  }
}
