import { secondMs } from '../domain/clock.ts';
import { hasCode } from '../domain/error.ts';
import { retryDelayMs, withJitter } from './backoff.ts';
import type { FetchOperation, PlayerCore } from './core.ts';
import { flushOnce, queueHeartbeat, unsentCount } from './events.ts';
import { fetchConfig, fetchPlaylist } from './fetch.ts';
import { JobTimer } from './job-timer.ts';
import { rotateOnce, rotationDelayMs } from './key-rotation.ts';

/**
 * Queues a heartbeat event at a regular interval. A heartbeat is sent together with all other
 * queued events.
 */
class HeartbeatTimer {
  readonly #core: PlayerCore;
  #intervalMs = 0;
  #cancel = () => {};

  constructor(core: PlayerCore) {
    this.#core = core;
  }

  /** Sets the interval. Restarts the timer if the interval has changed. */
  setIntervalMs(intervalMs: number): void {
    if (intervalMs === this.#intervalMs) return;
    this.#intervalMs = intervalMs;
    this.stop();
    this.#schedule();
  }

  stop(): void {
    this.#cancel();
  }

  #schedule(): void {
    this.#cancel = this.#core.clock.after(withJitter(this.#core, this.#intervalMs), () => {
      queueHeartbeat(this.#core);
      this.#schedule();
    });
  }
}

/**
 * A kind of call, with its own timer. `nextMs` returns the delay after a success. `undefined`
 * schedules no further call.
 */
interface CallJob {
  run(core: PlayerCore): Promise<unknown>;
  nextMs(core: PlayerCore): number | undefined;
}

const sync = (core: PlayerCore) => withJitter(core, core.intervalMs('syncIntervalMinutes'));
const config: CallJob = { run: fetchConfig, nextMs: sync };
const playlist: CallJob = { run: fetchPlaylist, nextMs: sync };
const events: CallJob = { run: flushOnce, nextMs: () => undefined };
const rotation: CallJob = { run: rotateOnce, nextMs: rotationDelayMs };
const fetches: readonly [FetchOperation, CallJob][] = [
  ['getDeviceConfig', config],
  ['getPlaylist', playlist],
];
/** The jobs in order of priority. */
const jobs = [config, playlist, events, rotation];

/**
 * Schedules the sending of queued events: at once if they are urgent or fill a batch, otherwise
 * after `reportAfterSeconds`. Does nothing during a backoff.
 */
function scheduleEvents(core: PlayerCore, timer: JobTimer): void {
  const isFull = unsentCount(core) >= core.batchLimit;
  if (timer.isDue || timer.failures > 0 || unsentCount(core) === 0) return;
  const { reportAfterSeconds } = core.options;
  if (core.isUrgent || isFull) timer.dueIn(0);
  else if (!timer.isWaiting && reportAfterSeconds !== undefined)
    timer.dueIn(reportAfterSeconds * secondMs);
}

/** Makes announced fetches due. A fetch that waits after a failure keeps its delay. */
function scheduleDue(core: PlayerCore, timers: ReadonlyMap<CallJob, JobTimer>): void {
  for (const [operation, job] of fetches) {
    const timer = timers.get(job);
    if (core.due.delete(operation) && timer?.failures === 0) timer.dueIn(0);
  }
}

/** Makes one call and schedules the next call of the same job. */
async function runJob(core: PlayerCore, timer: JobTimer, { run, nextMs }: CallJob): Promise<void> {
  timer.isDue = false;
  const { repairs } = core;
  try {
    await run(core);
    timer.failures = 0;
    const delayMs = nextMs(core);
    if (delayMs !== undefined) timer.dueIn(delayMs);
  } catch (error) {
    if (core.isCut) return;
    if (hasCode(error, 'playlist_not_found')) timer.failures = 0;
    else {
      timer.failures++;
      core.fail(error);
    }
    // The TV sends a repaired batch again without delay.
    timer.dueIn(core.repairs > repairs ? 0 : retryDelayMs(core, error, timer.failures));
  }
}

/**
 * Runs all periodic calls while the TV lives: one call at a time, each kind on its own timer.
 * Reports failures to the observer and retries as the protocol requires.
 */
export async function runNetworkLoop(core: PlayerCore): Promise<void> {
  const timers = new Map(jobs.map((job) => [job, new JobTimer(core.clock, core.networkNotifier)]));
  const heartbeat = new HeartbeatTimer(core);
  for (const job of [config, playlist]) timers.get(job)?.dueIn(0);
  const untilRotationMs = rotationDelayMs(core);
  if (untilRotationMs !== undefined) timers.get(rotation)?.dueIn(untilRotationMs);
  try {
    while (core.isLive) {
      heartbeat.setIntervalMs(core.intervalMs('heartbeatIntervalMinutes'));
      scheduleDue(core, timers);
      scheduleEvents(core, timers.get(events) as JobTimer);
      const next = jobs.find((job) => timers.get(job)?.isDue);
      if (next) await runJob(core, timers.get(next) as JobTimer, next);
      else await core.networkNotifier.wait();
    }
  } finally {
    core.endPlaying();
    heartbeat.stop();
    for (const timer of timers.values()) timer.stop();
  }
}

/**
 * Sends the queued events before an orderly stop. Ends when the queue is empty, or after a failure
 * that repaired no batch. Unsent events stay saved.
 */
export async function sendRemainingEvents(core: PlayerCore): Promise<void> {
  while (unsentCount(core) > 0 && core.state.binding && !core.isCut) {
    const { repairs } = core;
    try {
      await flushOnce(core);
    } catch (error) {
      core.fail(error);
      if (core.repairs === repairs) return;
    }
  }
}
