import type { Clock } from '../../src/domain/clock.ts';

export interface HastyClock extends Clock {
  /** Every wait that was asked for and not cancelled, in milliseconds. */
  waits: number[];
}

/**
 * A clock on which every wait is over at once: time leaps to its end. Waits of `timeoutMs` and more
 * never end, for those are time-outs of
 * requests that are answered.
 */
export function hastyClock(startMs = Date.UTC(2026, 10, 20, 12), timeoutMs = 30_000): HastyClock {
  let now = startMs;
  const waits: number[] = [];
  return {
    waits,
    now: () => now,
    after(delayMs, wake) {
      if (delayMs >= timeoutMs) return () => {};
      let cancelled = false;
      waits.push(delayMs);
      setImmediate(() => {
        if (cancelled) return;
        now += delayMs;
        wake();
      });
      return () => {
        cancelled = true;
      };
    },
  };
}
