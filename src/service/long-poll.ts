import type { Clock } from '../domain/clock.ts';
import type { Store } from '../store/store.ts';

export interface LongPoll {
  /** Topics of `store.watch`. After a change of one, `look` is called again. */
  topics: readonly string[];
  /** Longest wait for an answer, in milliseconds. */
  forMs: number;
  /** Aborts when the client disconnects or the service stops. Ends the wait at once. */
  signal: AbortSignal;
  /** Throws if the caller may no longer receive the answer. Absent if `look` checks that. */
  check?: () => Promise<void>;
  /**
   * Concurrency slot of the request, released during the wait. `undefined` if nothing limits the
   * request.
   */
  slot?: ConcurrencySlot | undefined;
}

/** How a long poll ends early. */
export interface HoldEnd {
  /** Aborts when the client disconnects or the service stops. */
  signal: AbortSignal;
  /** Aborts the signal. */
  end(): void;
  /** Returns whether the client has disconnected, so that nobody reads the answer. */
  hasLeft(): boolean;
}

/** A slot of a concurrency limiter. */
export interface ConcurrencySlot {
  pause(): void;
  resume(): Promise<void>;
}

/** What one look found. */
interface Look<T> {
  value: T;
  /** Whether the value is the answer. */
  settled: boolean;
  /** A time in epoch milliseconds at which to look again, even without a change. */
  againAtMs?: number | undefined;
}

/**
 * Long poll: calls `look` again after each change. Returns the value of the last call once it is
 * `settled`, the time is over, or the signal aborts.
 */
export async function longPoll<T>(
  { store, clock }: { store: Pick<Store, 'watch'>; clock: Clock },
  { topics, forMs, signal, slot, check }: LongPoll,
  look: () => Promise<Look<T>>,
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
  const stopWatching = topics.map((topic) => store.watch(topic, onChange));
  signal.addEventListener('abort', onEnd);
  const endMs = clock.now() + forMs;
  const cancelTimer = clock.after(forMs, onEnd);
  try {
    for (;;) {
      changed = false;
      const isLastLook = hasEnded;
      const { value, settled, againAtMs } = await look();
      if (settled || isLastLook) {
        await check?.();
        return value;
      }
      slot?.pause();
      const cancelAgain =
        againAtMs !== undefined && againAtMs < endMs
          ? clock.after(againAtMs - clock.now(), onChange)
          : undefined;
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (changed) resolve();
      });
      cancelAgain?.();
      await slot?.resume();
    }
  } finally {
    cancelTimer();
    for (const stop of stopWatching) stop();
    signal.removeEventListener('abort', onEnd);
  }
}
