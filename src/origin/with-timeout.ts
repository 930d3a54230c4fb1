import type { Clock } from '../domain/clock.ts';
import { inTime } from '../domain/timeout.ts';
import type { Breaker } from './circuit-breaker.ts';
import type { RemoteOrigin } from './origin.ts';

/** An origin that answers or fails within `timeoutMs`, and is spared while it is down. */
export function guarded(
  origin: RemoteOrigin,
  clock: Clock,
  timeoutMs: number,
  breaker: Breaker,
): RemoteOrigin {
  const { name } = origin;
  return {
    name,
    fetch: (screen) => breaker.run(() => inTime(clock, timeoutMs, origin.fetch(screen))),
  };
}
