import type { Clock } from './clock.ts';

/**
 * Runs `work` periodically, `everyMs` after the end of the previous run. Failures before the stop
 * go to `onError`. Returns a function that stops the job and waits for a run in progress.
 */
export function startPeriodicJob(
  clock: Clock,
  everyMs: number,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let stopped = false;
  let running = Promise.resolve();
  let cancel = () => {};

  async function run(): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!stopped) onError(error);
    }
    if (!stopped) schedule();
  }

  function schedule(): void {
    cancel = clock.after(everyMs, () => {
      running = run();
    });
  }

  schedule();
  return async () => {
    stopped = true;
    cancel();
    await running;
  };
}
