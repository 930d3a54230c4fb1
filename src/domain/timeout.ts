import type { Clock } from './clock.ts';
import { SignageError } from './error.ts';

/**
 * Resolves or rejects with `work`. After `timeoutMs`, calls `giveUp`, rejects with
 * `origin_timeout`, and ignores the later outcome of `work`.
 */
export function withTimeout<T>(
  clock: Clock,
  timeoutMs: number,
  work: Promise<T>,
  giveUp = () => {},
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(timeoutMs, () => {
      reject(new SignageError('origin_timeout', `No answer within ${timeoutMs} ms.`));
      giveUp();
    });
    void work.then(resolve, reject).finally(cancel);
  });
}
