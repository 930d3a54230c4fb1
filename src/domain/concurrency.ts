import type { Clock } from './clock.ts';

/**
 * Runs `work` for each item in order, at most `limit` at a time. After the first error it starts no
 * more, waits for pending work and throws that error.
 */
export async function forEachBounded<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  let failure: { error: unknown } | undefined;
  const worker = async () => {
    for (let next = queue.next(); !next.done && !failure; next = queue.next()) {
      try {
        await work(next.value);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, limit) }, worker));
  if (failure) throw failure.error;
}

/** Returns the results of `work` for all items. Starts each item after the one before it. */
export async function mapInTurn<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

/** Returns a signal that aborts `delayMs` after `signal` has aborted. */
export function abortedLater(clock: Clock, signal: AbortSignal, delayMs: number): AbortSignal {
  const delayed = new AbortController();
  const begin = () => void clock.after(delayMs, () => delayed.abort());
  if (signal.aborted) begin();
  else signal.addEventListener('abort', begin, { once: true });
  return delayed.signal;
}

/**
 * Resolves with the result of the work, or with `undefined` as soon as the signal aborts. Does not
 * stop the work.
 */
export async function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  let giveUp = () => {};
  const aborted = new Promise<undefined>((resolve) => {
    giveUp = () => resolve(undefined);
  });
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

/**
 * Returns a function whose calls share one result, or one error, for `lifetimeMs` after it arrived.
 * No work starts while earlier work is pending.
 */
export function cached<T>(
  clock: Clock,
  lifetimeMs: number,
  work: () => Promise<T>,
): () => Promise<T> {
  let current: Promise<T> | undefined;
  let endedMs: number | undefined;
  return () => {
    const isFresh = endedMs === undefined || Math.abs(clock.now() - endedMs) < lifetimeMs;
    if (current && isFresh) return current;
    endedMs = undefined;
    current = work().finally(() => {
      endedMs = clock.now();
    });
    return current;
  };
}

/** Work that runs one at a time, again and again. */
export interface CoalescedRuns {
  /** Runs the work, or once more after a run in progress, which may have missed a change. */
  run(): Promise<void>;
  /** Waits for a run in progress. */
  idle(): Promise<void>;
}

/** Calls of `run` during a run cause one more run. A failure ends both. */
export function coalesced(work: () => Promise<void>): CoalescedRuns {
  let running: Promise<void> | undefined;
  let isAgain = false;

  async function runAll(): Promise<void> {
    try {
      while (isAgain) {
        isAgain = false;
        await work();
      }
    } finally {
      // Not later than the last look at `isAgain`, so that no call is lost.
      running = undefined;
    }
  }

  return {
    run() {
      isAgain = true;
      running ??= Promise.resolve().then(runAll);
      return running;
    },
    idle: async () => running?.catch(() => {}),
  };
}
