import type { Clock } from '../domain/clock.ts';
import type { Store } from './store.ts';

/** Returns the clock of all decisions: the time of a store, with the timers of this machine. */
export function storeClock(store: Pick<Store, 'now'>, timers: Clock): Clock {
  return {
    now: () => store.now(),
    after: (delayMs, wake) => timers.after(delayMs, wake),
  };
}
