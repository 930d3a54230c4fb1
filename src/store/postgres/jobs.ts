import { type Clock, hourMs, minuteMs, secondMs } from '../../domain/clock.ts';

/** A periodic background job. */
interface Job {
  everyMs: number;
  /** Name in the log message of a failure. */
  name: string;
  work: () => Promise<void>;
}

/**
 * Intervals of the jobs. Activity must be stored within a minute. Reports fold the remaining
 * batches themselves.
 */
export const foldMs = 5 * secondMs;
export const flushMs = 15 * secondMs;
export const purgeMs = minuteMs;
export const createPartitionsMs = hourMs;

/**
 * Starts the jobs, each with its own timer. A failed job is logged and runs again at its next
 * interval. Returns a function that stops them.
 */
export function startJobs(
  jobs: readonly Job[],
  clock: Clock,
  warn: (message: string, cause?: unknown) => void,
): () => Promise<void> {
  let stopped = false;
  const running = new Set<Promise<void>>();
  const cancels = new Map<Job, () => void>();

  async function run(job: Job): Promise<void> {
    try {
      await job.work();
    } catch (error) {
      if (!stopped) warn(`${job.name} failed and will be retried`, error);
    }
    schedule(job);
  }

  function schedule(job: Job): void {
    if (stopped) return;
    const begin = () => {
      const promise = run(job).finally(() => running.delete(promise));
      running.add(promise);
    };
    cancels.set(job, clock.after(job.everyMs, begin));
  }

  for (const job of jobs) schedule(job);
  return async () => {
    stopped = true;
    for (const cancel of cancels.values()) cancel();
    await Promise.all(running);
  };
}
