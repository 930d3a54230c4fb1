import { dayMs, secondMs } from '../domain/clock.ts';
import { hasCode, SignageError } from '../domain/error.ts';
import type { PlayerCore } from './core.ts';

const firstDelayMs = 2 * secondMs;
/** Maximum `Retry-After`. Larger values are capped. */
const maxRetryAfterMs = dayMs;

/**
 * Unit to which `withJitter` rounds delays, because Node handles timers of equal length much more
 * cheaply.
 */
const roundingMs = 100;

/** Adds up to 10 % jitter in either direction, so that TVs that started together drift apart. */
export function withJitter(core: PlayerCore, ms: number): number {
  return Math.round((ms * (0.9 + 0.2 * core.randomFraction())) / roundingMs) * roundingMs;
}

/**
 * Returns whether the same request may succeed later. A permanent error is a bug of the app, and
 * must not cause rapid retries (docs/protocol.md §2.6).
 */
export function isTransient(error: SignageError): boolean {
  const { code, status, retryAfterSeconds } = error;
  if (code === 'unreachable' || retryAfterSeconds !== undefined || status === 429 || status === 401)
    return true;
  // An error without a status is a truncated or forged response.
  return status === undefined || status >= 500;
}

/**
 * Returns the delay after a failure, in simulated milliseconds, with jitter. Uses `Retry-After`, or
 * exponential backoff from two seconds up to the sync interval. Uses the sync interval after a
 * permanent error, or if the screen has no playlist.
 */
export function retryDelayMs(core: PlayerCore, error: unknown, failures: number): number {
  const syncMs = core.intervalMs('syncIntervalMinutes');
  if (hasCode(error, 'playlist_not_found')) return withJitter(core, syncMs);
  if (error instanceof SignageError && !isTransient(error)) return withJitter(core, syncMs);
  const stepMs = Math.min(firstDelayMs * 2 ** (failures - 1), syncMs);
  const retryAfterSeconds = error instanceof SignageError ? error.retryAfterSeconds : undefined;
  if (retryAfterSeconds === undefined) return stepMs * (0.5 + 0.5 * core.randomFraction());
  return (
    Math.min(retryAfterSeconds * secondMs, maxRetryAfterMs) * core.speed +
    stepMs * 0.5 * core.randomFraction()
  );
}
