import { type Clock, secondMs } from '../../domain/clock.ts';
import { coalesced } from '../../domain/concurrency.ts';
import type { LogSink } from '../../domain/log.ts';
import { startPeriodicJob } from '../../domain/periodic-job.ts';
import type { Store } from '../../store/store.ts';
import type { NoticeLog } from './notice-log.ts';
import type { ScreenWatch } from './screen-watch.ts';

/** Interval at which an instance looks at the screens while it watches. */
const lookMs = 15 * secondMs;
/** Interval at which another instance tries to take over. */
const tryMs = 5 * secondMs;

interface WatchParts {
  store: Pick<Store, 'watch'>;
  clock: Clock;
  noticeLog: NoticeLog;
  screenWatch: ScreenWatch;
  /** Starts what only the instance that watches does. Returns a function that stops it. */
  startDelivery: () => () => Promise<void>;
}

/**
 * Starts the watch: it looks at the screens, moves notices from the outbox to the log, and delivers
 * them. Of several instances, one watches. Returns a function that stops it.
 */
export function startNoticeWatch(
  { store, clock, noticeLog, screenWatch, startDelivery }: WatchParts,
  log: LogSink,
): () => Promise<void> {
  let isWatching = false;
  let stopDelivery: (() => Promise<void>) | undefined;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  const collecting = coalesced(() => noticeLog.collect());

  async function collect(): Promise<void> {
    if (isWatching) await collecting.run();
  }

  async function setWatching(isNow: boolean): Promise<void> {
    isWatching = isNow;
    if (isNow) stopDelivery ??= startDelivery();
    else
      await stopDelivery?.().finally(() => {
        stopDelivery = undefined;
      });
  }

  async function tick(): Promise<void> {
    const nowMs = clock.now();
    if (!isWatching || Math.abs(nowMs - lookedAtMs) >= lookMs) {
      lookedAtMs = nowMs;
      await setWatching(await screenWatch.look());
    }
    await collect();
  }

  const onError = (error: unknown) =>
    log.warn({ err: error }, 'The watch over screens and notices failed; it goes on in seconds.');
  const stopWatching = store.watch('notices/outbox', () => void collect().catch(onError));
  const stopJob = startPeriodicJob(clock, tryMs, tick, onError);
  const first = tick().catch(onError);
  return async () => {
    stopWatching();
    await first;
    await stopJob();
    await collecting.idle();
    await stopDelivery?.();
    if (isWatching) await screenWatch.release().catch(onError);
  };
}
