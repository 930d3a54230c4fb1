import type { Clock } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';

/** Returns the error with which an aborted call rejects. Its `cause` is the signal's reason. */
export function interrupted(signal?: AbortSignal): SignageError {
  const message = 'Interrupted before the service answered.';
  return new SignageError('interrupted', message, { cause: signal?.reason });
}

const keepAliveIntervalMs = 2 ** 30;

/**
 * Keeps the process alive until the returned function is called. A `Clock` timer alone does not do
 * that.
 */
export function keepProcessAlive(): () => void {
  const timer = setInterval(() => {}, keepAliveIntervalMs);
  return () => clearInterval(timer);
}

/**
 * Waits on the given clock, or until the signal aborts. Never rejects. Keeps the process alive
 * during the wait.
 */
export async function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return;
  const release = keepProcessAlive();
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
    release();
    signal?.removeEventListener('abort', wake);
  }
}
