import { minuteMs, secondMs } from '../domain/clock.ts';
import type { LogSink } from '../domain/log.ts';
import { startPeriodicJob } from '../domain/periodic-job.ts';
import type { ServiceDependencies } from './context.ts';

/** Largest normal difference between the clock of this machine and the time of the store. */
const toleratedMs = 10 * secondMs;

export const clocksDiffer = (aheadMs: number): boolean => Math.abs(aheadMs) > toleratedMs;

/**
 * Logs a warning when the clock of this machine and the time of the store begin to differ. Looks
 * now, and once a minute. Returns a function that stops it.
 */
export function startClockWatch(
  { store, clock }: Pick<ServiceDependencies, 'store' | 'clock'>,
  log: LogSink,
): () => Promise<void> {
  let differs = false;
  const look = () => {
    const aheadMs = store.aheadMs();
    if (clocksDiffer(aheadMs) && !differs)
      log.warn(
        { storeAheadSeconds: Math.round(aheadMs / secondMs) },
        'The clock of this machine and the time of the store differ. Times of new records may be off; what expires goes by the service (see the header Date). Synchronize the clocks with NTP.',
      );
    differs = clocksDiffer(aheadMs);
  };
  look();
  return startPeriodicJob(
    clock,
    minuteMs,
    async () => look(),
    () => {},
  );
}
