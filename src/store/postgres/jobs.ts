import { type Clock, hourMs, minuteMs, secondMs, systemClock } from '../../domain/clock.ts';
import { startPeriodicJob } from '../../domain/periodic-job.ts';
import type { DatabaseClock } from './database-clock.ts';
import type { EventLog } from './events/event-log.ts';
import type { Rollups } from './events/rollups.ts';
import type { SharedGuessCounters } from './guess-counters.ts';
import type { LastActivityTable } from './last-activity.ts';
import type { RefusedRequestsTable } from './refused-requests.ts';

/** The parts of the store that work by themselves. */
interface Parts {
  clock: DatabaseClock;
  events: EventLog;
  rollups: Rollups;
  lastActivity: LastActivityTable;
  guessCounters: SharedGuessCounters;
  refusedRequests: RefusedRequestsTable;
}

const renewClockMs = 5 * secondMs;
/**
 * Activity must be stored within a minute. Folding is not urgent, since reports fold the remaining
 * batches themselves.
 */
const foldMs = 5 * secondMs;
const flushMs = 15 * secondMs;
const purgeMs = minuteMs;
const createPartitionsMs = hourMs;

/** Starts the periodic jobs of a store. Returns a function that stops them and waits for them. */
export function startJobs(
  { clock: databaseClock, events, rollups, lastActivity, guessCounters, refusedRequests }: Parts,
  {
    clock = systemClock,
    warn,
  }: { clock: Clock | undefined; warn: (message: string, cause?: unknown) => void },
): () => Promise<void> {
  const start = (everyMs: number, name: string, work: () => Promise<void>) =>
    startPeriodicJob(clock, everyMs, work, (error) =>
      warn(`${name} failed and will be retried`, error),
    );
  const stops = [
    // Without the database the clock runs on, and other work reports the outage.
    startPeriodicJob(
      systemClock,
      renewClockMs,
      async () => void (await databaseClock.read()),
      () => {},
    ),
    start(foldMs, 'Adding up impressions', () => rollups.fold()),
    start(flushMs, 'Writing the activity of devices', () => lastActivity.flush()),
    start(purgeMs, 'Deleting expired guess counters', () => guessCounters.purge()),
    start(purgeMs, 'Deleting the oldest refused requests', () => refusedRequests.trim()),
    start(createPartitionsMs, 'Creating partitions', () => events.createPartitions()),
  ];
  return async () => void (await Promise.all(stops.map((stop) => stop())));
}
