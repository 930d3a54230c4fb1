import { dayMs, secondMs } from '../../domain/clock.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import type { PlayerCore } from './core.ts';

const firstDelayMs = 2 * secondMs;
/** A service that asks for more is not believed. */
const longestRetryAfterMs = dayMs;

/** Node keeps timers of equal length together, which is much cheaper than each by itself. */
const grainMs = 100;

/** About that long: a tenth more or less, so that TVs that started together do not stay together. */
export function about(core: PlayerCore, ms: number): number {
  return Math.round((ms * (0.9 + 0.2 * core.chance())) / grainMs) * grainMs;
}

/** Whether the same request may well succeed later; all else is a mistake of the app, and must not become a hammering (docs/protocol.md §2.6). */
function isPassing(error: SignageError): boolean {
  const { code, status, retryAfterSeconds } = error;
  if (code === 'unreachable' || retryAfterSeconds !== undefined || status === 429 || status === 401)
    return true;
  // An answer without a usable status is one that was cut off, or made up on the way.
  return status === undefined || status >= 500;
}

/**
 * How long to wait after a failure, in the TV's milliseconds: what `Retry-After` says, or a second or two that doubles with each failure in a
 * row up to the sync interval, both with some chance; after a mistake of the app the sync interval.
 */
export function retryDelayMs(core: PlayerCore, error: unknown, failures: number): number {
  const syncMs = core.intervalMs('syncIntervalMinutes');
  if (hasCode(error, 'playlist_not_found')) return about(core, syncMs);
  if (error instanceof SignageError && !isPassing(error)) return about(core, syncMs);
  const stepMs = Math.min(firstDelayMs * 2 ** (failures - 1), syncMs);
  const asked = error instanceof SignageError ? error.retryAfterSeconds : undefined;
  if (asked === undefined) return stepMs * (0.5 + 0.5 * core.chance());
  return (
    Math.min(asked * secondMs, longestRetryAfterMs) * core.speed + stepMs * 0.5 * core.chance()
  );
}
