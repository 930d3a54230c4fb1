import type { Clock } from '../domain/clock.ts';
import { withTimeout } from '../domain/timeout.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { RemoteOrigin } from './origin.ts';

/** An origin that answers or fails within `timeoutMs`, and is spared while it is down. */
export function originTimeout(
  origin: RemoteOrigin,
  clock: Clock,
  timeoutMs: number,
  breaker: CircuitBreaker,
): RemoteOrigin {
  const { name } = origin;
  return {
    name,
    fetch: (screen) => breaker.run(() => withTimeout(clock, timeoutMs, origin.fetch(screen))),
  };
}
