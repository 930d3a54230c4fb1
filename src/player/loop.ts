import { secondMs } from '../domain/clock.ts';
import { hasCode } from '../domain/error.ts';
import { retryDelayMs, withJitter } from './backoff.ts';
import { statusEvent } from './batch.ts';
import type { FetchOperation, PlayerCore } from './core.ts';
import { flushOnce, queueEvent, unsentCount } from './events.ts';
import { fetchConfig, fetchPlaylist } from './fetch.ts';
import { rotateOnce, rotationDelayMs } from './key-rotation.ts';
import { Schedule } from './schedule.ts';

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
      queueEvent(this.#core, statusEvent('heartbeat', this.#core.clock.now()), true);
      this.#schedule();
    });
  }
}

/**
 * A kind of call, with its own schedule. `nextMs` returns the delay after a success. `undefined`
 * schedules no further call.
 */
interface Job {
  run(core: PlayerCore): Promise<unknown>;
  nextMs(core: PlayerCore): number | undefined;
}

const sync = (core: PlayerCore) => withJitter(core, core.intervalMs('syncIntervalMinutes'));
const config: Job = { run: fetchConfig, nextMs: sync };
const playlist: Job = { run: fetchPlaylist, nextMs: sync };
const events: Job = { run: flushOnce, nextMs: () => undefined };
const rotation: Job = { run: rotateOnce, nextMs: rotationDelayMs };
const fetches: readonly [FetchOperation, Job][] = [
  ['getDeviceConfig', config],
  ['getPlaylist', playlist],
];
/** The jobs in order of priority. */
const jobs = [config, playlist, events, rotation];

/**
 * Schedules the sending of queued events: at once if they are urgent or fill a batch, otherwise
 * after `reportAfterSeconds`. Does nothing during a backoff.
 */
function scheduleEvents(core: PlayerCore, schedule: Schedule): void {
  const isFull = unsentCount(core) >= core.batchLimit;
  if (schedule.isDue || schedule.failures > 0 || unsentCount(core) === 0) return;
  const { reportAfterSeconds } = core.options;
  if (core.isUrgent || isFull) schedule.dueIn(0);
  else if (!schedule.isWaiting && reportAfterSeconds !== undefined)
    schedule.dueIn(reportAfterSeconds * secondMs);
}

/** Makes announced fetches due. A fetch that waits after a failure keeps its delay. */
function scheduleDue(core: PlayerCore, schedules: ReadonlyMap<Job, Schedule>): void {
  for (const [operation, job] of fetches) {
    const schedule = schedules.get(job);
    if (core.due.delete(operation) && schedule?.failures === 0) schedule.dueIn(0);
  }
}

/** Makes one call and schedules the next call of the same job. */
async function runJob(core: PlayerCore, schedule: Schedule, { run, nextMs }: Job): Promise<void> {
  schedule.isDue = false;
  const { repairs } = core;
  try {
    await run(core);
    schedule.failures = 0;
    const delayMs = nextMs(core);
    if (delayMs !== undefined) schedule.dueIn(delayMs);
  } catch (error) {
    if (core.isCut) return;
    if (hasCode(error, 'playlist_not_found')) schedule.failures = 0;
    else {
      schedule.failures++;
      core.fail(error);
    }
    // The TV sends a repaired batch again without delay.
    schedule.dueIn(core.repairs > repairs ? 0 : retryDelayMs(core, error, schedule.failures));
  }
}

/**
 * Runs all periodic calls while the TV lives: one call at a time, each kind on its own schedule.
 * Reports failures to the observer and retries as the protocol requires.
 */
export async function runNetworkLoop(core: PlayerCore): Promise<void> {
  const schedules = new Map(
    jobs.map((job) => [job, new Schedule(core.clock, core.networkNotifier)]),
  );
  const heartbeat = new HeartbeatTimer(core);
  for (const job of [config, playlist]) schedules.get(job)?.dueIn(0);
  const untilRotationMs = rotationDelayMs(core);
  if (untilRotationMs !== undefined) schedules.get(rotation)?.dueIn(untilRotationMs);
  try {
    while (core.isLive) {
      heartbeat.setIntervalMs(core.intervalMs('heartbeatIntervalMinutes'));
      scheduleDue(core, schedules);
      scheduleEvents(core, schedules.get(events) as Schedule);
      const next = jobs.find((job) => schedules.get(job)?.isDue);
      if (next) await runJob(core, schedules.get(next) as Schedule, next);
      else await core.networkNotifier.wait();
    }
  } finally {
    core.endPlaying();
    heartbeat.stop();
    for (const schedule of schedules.values()) schedule.stop();
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
