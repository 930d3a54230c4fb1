import type { Clock } from '../../../src/domain/clock.ts';

export interface HastyClock extends Clock {
  /** All waits so far, in milliseconds. */
  waits: number[];
}

/**
 * Returns a clock on which each wait ends at once and advances the time. Waits of `timeoutMs` or
 * more never end, because they are time-outs of requests.
 */
export function hastyClock(startMs = Date.UTC(2026, 10, 20, 12), timeoutMs = 30_000): HastyClock {
  let now = startMs;
  const waits: number[] = [];
  return {
    waits,
    now: () => now,
    after(delayMs, wake) {
      if (delayMs >= timeoutMs) return () => {};
      let isCancelled = false;
      waits.push(delayMs);
      setImmediate(() => {
        if (isCancelled) return;
        now += delayMs;
        wake();
      });
      return () => {
        isCancelled = true;
      };
    },
  };
}
