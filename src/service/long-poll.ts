import type { Clock } from '../domain/clock.ts';
import type { Store } from '../store/store.ts';

export interface LongPoll {
  /** The topic of `store.watch` whose changes are worth another look. */
  topic: string;
  /** How long to hold the answer, in milliseconds from now. */
  forMs: number;
  /** Ends the wait at once: the caller went away, or the service stops. */
  signal: AbortSignal;
  /** Checks after the last look that the caller may still have the answer; throws otherwise. */
  check: () => Promise<void>;
  /** The place among those that work at a time: given up for the wait. */
  turn?: Turn | undefined;
}

export interface Turn {
  pause(): void;
  resume(): Promise<void>;
}

/**
 * Looks until there is something to say, or the time is over, or the signal ends it; each time with a fresh look. `look` answers the value
 * and whether it is worth answering already.
 */
export async function holdUntil<T>(
  { store, clock }: { store: Pick<Store, 'watch'>; clock: Clock },
  { topic, forMs, signal, turn, check }: LongPoll,
  look: () => Promise<{ value: T; settled: boolean }>,
): Promise<T> {
  let wake = () => {};
  let changed = false;
  const onChange = () => {
    changed = true;
    wake();
  };
  let over = signal.aborted;
  const onEnd = () => {
    over = true;
    onChange();
  };
  const stopWatching = store.watch(topic, onChange);
  signal.addEventListener('abort', onEnd);
  const cancelTimer = clock.after(forMs, onEnd);
  try {
    for (;;) {
      changed = false;
      const last = over;
      const { value, settled } = await look();
      if (settled || last) {
        await check();
        return value;
      }
      turn?.pause();
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (changed) resolve();
      });
      await turn?.resume();
    }
  } finally {
    cancelTimer();
    stopWatching();
    signal.removeEventListener('abort', onEnd);
  }
}
