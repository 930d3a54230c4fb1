import type { Clock } from '../../domain/clock.ts';

/** A signal that aborts so long after another one, if ever that aborts. */
export function abortedLater(clock: Clock, signal: AbortSignal, delayMs: number): AbortSignal {
  const delayed = new AbortController();
  const begin = () => void clock.after(delayMs, () => delayed.abort());
  if (signal.aborted) begin();
  else signal.addEventListener('abort', begin, { once: true });
  return delayed.signal;
}

/** Waits for the work, or no longer than until the signal aborts: then for what it had begun there is no more waiting. */
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
