import type { Clock } from '../domain/clock.ts';
import type { Store } from '../store/store.ts';

export interface LongPoll {
  /** Topics of `store.watch`. A change of a topic causes another call of `look`. */
  topics: readonly string[];
  /** Longest wait for an answer, in milliseconds. */
  forMs: number;
  /** Aborts when the client disconnects or the service stops. Ends the wait at once. */
  signal: AbortSignal;
  /** Throws if the caller may no longer receive the answer. */
  check: () => Promise<void>;
  /**
   * Concurrency slot of the request, released during the wait. `undefined` if nothing limits the
   * request.
   */
  slot?: ConcurrencySlot | undefined;
}

/** A slot of a concurrency limiter. */
export interface ConcurrencySlot {
  pause(): void;
  resume(): Promise<void>;
}

export interface LongPollDependencies {
  store: Pick<Store, 'watch'>;
  clock: Clock;
}

/** Result of one call of `look`. */
interface LookResult<T> {
  value: T;
  /** Whether the value ends the wait. */
  settled: boolean;
}

/**
 * Long poll: calls `look` again after each change. Returns the value of the last call once it is
 * `settled`, the time is over, or the signal aborts.
 */
export async function longPoll<T>(
  { store, clock }: LongPollDependencies,
  { topics, forMs, signal, slot, check }: LongPoll,
  look: () => Promise<LookResult<T>>,
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
    for (const stop of stopWatching) stop();
    signal.removeEventListener('abort', onEnd);
  }
}

/** Returns `longPoll` with at most one open poll for each id. Another one ends the previous one. */
export function makeSinglePoll(deps: LongPollDependencies) {
  const holds = new Map<string, () => void>();
  return async function singlePoll<T>(
    id: string,
    poll: LongPoll,
    look: () => Promise<LookResult<T>>,
  ): Promise<T> {
    holds.get(id)?.();
    const own = new AbortController();
    const end = () => own.abort();
    holds.set(id, end);
    poll.signal.addEventListener('abort', end);
    if (poll.signal.aborted) end();
    try {
      return await longPoll(deps, { ...poll, signal: own.signal }, look);
    } finally {
      poll.signal.removeEventListener('abort', end);
      if (holds.get(id) === end) holds.delete(id);
    }
  };
}
