import { type Clock, hourMs, minuteMs, secondMs } from '../../domain/clock.ts';

/** What the store does by itself. */
interface Chore {
  everyMs: number;
  /** For the log, when it fails. */
  name: string;
  work: () => Promise<void>;
}

/** How often: a report folds what is left itself, and marks are promised within a minute. */
export const foldMs = 5 * secondMs;
export const flushMs = 15 * secondMs;
export const purgeMs = minuteMs;
export const makeDaysMs = hourMs;

/** Starts the chores, each by itself and over and over; a failure is told, and it is tried again the next time. Returns how to stop. */
export function startJobs(
  chores: readonly Chore[],
  clock: Clock,
  warn: (message: string, cause?: unknown) => void,
): () => Promise<void> {
  let stopped = false;
  const underWay = new Set<Promise<void>>();
  const cancels = new Map<Chore, () => void>();

  async function run(chore: Chore): Promise<void> {
    try {
      await chore.work();
    } catch (error) {
      if (!stopped) warn(`${chore.name} failed; it is tried again`, error);
    }
    schedule(chore);
  }

  function schedule(chore: Chore): void {
    if (stopped) return;
    const begin = () => {
      const running = run(chore).finally(() => underWay.delete(running));
      underWay.add(running);
    };
    cancels.set(chore, clock.after(chore.everyMs, begin));
  }

  for (const chore of chores) schedule(chore);
  return async () => {
    stopped = true;
    for (const cancel of cancels.values()) cancel();
    await Promise.all(underWay);
  };
}
