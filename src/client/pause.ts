import type { Clock } from '../domain/clock.ts';

const farAwayMs = 2 ** 30;

/**
 * Waits on the given clock, or until the signal aborts; never throws. A `Clock` alone keeps no process alive, and a program that is about to
 * try again must not end in between: this holds it.
 */
export async function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return;
  const hold = setInterval(() => {}, farAwayMs);
  let wake = () => {};
  const over = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const cancel = clock.after(delayMs, wake);
  signal?.addEventListener('abort', wake, { once: true });
  try {
    await over;
  } finally {
    cancel();
    clearInterval(hold);
    signal?.removeEventListener('abort', wake);
  }
}
