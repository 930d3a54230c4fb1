import type { Clock } from '../domain/clock.ts';

const keepAliveIntervalMs = 2 ** 30;

/**
 * Waits on the given clock, or until the signal aborts. Never rejects. A `Clock` timer does not
 * keep the process alive, so an interval does that during the wait.
 */
export async function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return;
  const keepAlive = setInterval(() => {}, keepAliveIntervalMs);
  let wake = () => {};
  const elapsed = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const cancel = clock.after(delayMs, wake);
  signal?.addEventListener('abort', wake, { once: true });
  try {
    await elapsed;
  } finally {
    cancel();
    clearInterval(keepAlive);
    signal?.removeEventListener('abort', wake);
  }
}
