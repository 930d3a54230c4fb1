import type { Clock } from './clock.ts';
import { SignageError } from './error.ts';

/**
 * The outcome of some work, unless it takes longer than `timeoutMs`: then it throws `origin_timeout`, after it has called `giveUp`, and the work's own
 * outcome is of interest to nobody any more.
 */
export function withTimeout<T>(
  clock: Clock,
  timeoutMs: number,
  work: Promise<T>,
  giveUp = () => {},
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(timeoutMs, () => {
      reject(new SignageError('origin_timeout', `There was no answer within ${timeoutMs} ms.`));
      giveUp();
    });
    work.then(
      (value) => {
        cancel();
        resolve(value);
      },
      (error: unknown) => {
        cancel();
        reject(error);
      },
    );
  });
}
