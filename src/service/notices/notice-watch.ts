import { type Clock, secondMs } from '../../domain/clock.ts';
import type { LogSink } from '../../domain/log.ts';
import { startPeriodicJob } from '../../domain/periodic-job.ts';
import type { Store } from '../../store/store.ts';
import type { NoticeLog } from './notice-log.ts';

/** Interval of the looks into the outbox. A change of the outbox causes a look at once. */
const intervalMs = 20 * secondMs;

/** Moves notices from the outbox to the log. Returns a function that stops it. */
export function startNoticeWatch(
  { store, clock }: { store: Pick<Store, 'watch'>; clock: Clock },
  noticeLog: NoticeLog,
  log: LogSink,
): () => Promise<void> {
  let running: Promise<void> | undefined;
  let isAgain = false;

  /** Looks into the outbox again if it changes meanwhile. */
  async function collect(): Promise<void> {
    do {
      isAgain = false;
      await noticeLog.collect();
    } while (isAgain);
  }

  function look(): Promise<void> {
    isAgain = true;
    running ??= collect().finally(() => {
      running = undefined;
    });
    return running;
  }

  const onError = (error: unknown) =>
    log.warn({ err: error }, 'Notices could not be logged; this is retried in 20 seconds.');
  const stopWatching = store.watch('notices/outbox', () => void look().catch(onError));
  const stopJob = startPeriodicJob(clock, intervalMs, look, onError);
  void look().catch(onError);
  return async () => {
    stopWatching();
    await stopJob();
    await running?.catch(() => {});
  };
}
