import type { Clock } from '../domain/clock.ts';
import type { Store } from '../store/store.ts';

export interface LongPoll {
  /** Topic of `store.watch`. A change there triggers another look. */
  topic: string;
  /** Longest wait for an answer, in milliseconds. */
  forMs: number;
  /** Ends the wait at once: the client disconnected, or the service stops. */
  signal: AbortSignal;
  /** Checks that the caller may still receive the answer. Throws otherwise. */
  check: () => Promise<void>;
  /** Concurrency slot of the request, released during the wait. */
  slot?: ConcurrencySlot | undefined;
}

/** A slot of a concurrency limiter. */
export interface ConcurrencySlot {
  pause(): void;
  resume(): Promise<void>;
}

/**
 * Long poll: calls `look` again after each change until its value is `settled`, the time is over,
 * or the signal aborts. Returns the value of the last look.
 */
export async function longPoll<T>(
  { store, clock }: { store: Pick<Store, 'watch'>; clock: Clock },
  { topic, forMs, signal, slot, check }: LongPoll,
  look: () => Promise<{ value: T; settled: boolean }>,
): Promise<T> {
  let wake = () => {};
  let changed = false;
  const onChange = () => {
    changed = true;
    wake();
  };
  let hasEnded = signal.aborted;
  const onEnd = () => {
    hasEnded = true;
    onChange();
  };
  const stopWatching = store.watch(topic, onChange);
  signal.addEventListener('abort', onEnd);
  const cancelTimer = clock.after(forMs, onEnd);
  try {
    for (;;) {
      changed = false;
      const isLastLook = hasEnded;
      const { value, settled } = await look();
      if (settled || isLastLook) {
        await check();
        return value;
      }
      slot?.pause();
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (changed) resolve();
      });
      await slot?.resume();
    }
  } finally {
    cancelTimer();
    stopWatching();
    signal.removeEventListener('abort', onEnd);
  }
}
