import type { Clock } from '../../domain/clock.ts';

/** Returns a signal that aborts `delayMs` after another one has aborted. */
export function abortedLater(clock: Clock, signal: AbortSignal, delayMs: number): AbortSignal {
  const delayed = new AbortController();
  const begin = () => void clock.after(delayMs, () => delayed.abort());
  if (signal.aborted) begin();
  else signal.addEventListener('abort', begin, { once: true });
  return delayed.signal;
}

/**
 * Resolves with the result of the work, or with `undefined` as soon as the signal aborts. The work
 * itself goes on.
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
