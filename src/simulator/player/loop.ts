import { secondMs } from '../../domain/clock.ts';
import { hasCode } from '../../domain/error.ts';
import { about, retryDelayMs } from './backoff.ts';
import type { PlayerCore } from './core.ts';
import { flushOnce, unsent } from './events.ts';
import { fetchConfig, fetchPlaylist } from './fetch.ts';
import { HeartbeatTimer } from './heartbeat.ts';
import { rotateOnce, rotationDelayMs } from './key-rotation.ts';
import { Schedule } from './schedule.ts';

/** One kind of call, and when the next is due after it went well; `undefined`: when there is something to do. */
interface Job {
  run(core: PlayerCore): Promise<unknown>;
  nextMs(core: PlayerCore): number | undefined;
}

const sync = (core: PlayerCore) => about(core, core.intervalMs('syncIntervalMinutes'));
const config: Job = { run: fetchConfig, nextMs: sync };
const playlist: Job = { run: fetchPlaylist, nextMs: sync };
const events: Job = { run: flushOnce, nextMs: () => undefined };
const rotation: Job = { run: rotateOnce, nextMs: rotationDelayMs };
/** In the order in which they go when several are due. */
const jobs = [config, playlist, events, rotation];

/** Sees to it that what waits to be sent has its time: at once what is urgent or fills a batch, unless a back-off runs. */
function scheduleEvents(core: PlayerCore, channel: Schedule): void {
  const isFull = unsent(core) >= core.batchLimit;
  if (channel.isDue || channel.failures > 0 || unsent(core) === 0) return;
  const { reportAfterSeconds } = core.options;
  if (core.isUrgent || isFull) channel.dueIn(0);
  else if (!channel.isWaiting && reportAfterSeconds !== undefined)
    channel.dueIn(reportAfterSeconds * secondMs);
}

/** One call, and when the next of its kind is due. */
async function runJob(core: PlayerCore, channel: Schedule, { run, nextMs }: Job): Promise<void> {
  channel.isDue = false;
  const { mends } = core;
  try {
    await run(core);
    channel.failures = 0;
    const delayMs = nextMs(core);
    if (delayMs !== undefined) channel.dueIn(delayMs);
  } catch (error) {
    if (core.isCut) return;
    if (hasCode(error, 'playlist_not_found')) channel.failures = 0;
    else {
      channel.failures++;
      core.fail(error);
    }
    // What is left of a batch that was mended need not wait.
    channel.dueIn(core.mends > mends ? 0 : retryDelayMs(core, error, channel.failures));
  }
}

/**
 * Keeps in touch with the service for as long as the TV lives: one call at a time, each kind at its own pace. What fails is told to the observer
 * and tried again as the protocol says.
 */
export async function runNetworkLoop(core: PlayerCore): Promise<void> {
  const channels = new Map(jobs.map((job) => [job, new Schedule(core.clock, core.networkBell)]));
  const heart = new HeartbeatTimer(core);
  for (const job of [config, playlist]) channels.get(job)?.dueIn(0);
  const untilRotationMs = rotationDelayMs(core);
  if (untilRotationMs !== undefined) channels.get(rotation)?.dueIn(untilRotationMs);
  try {
    while (core.isLive) {
      heart.keepTo(core.intervalMs('heartbeatIntervalMinutes'));
      scheduleEvents(core, channels.get(events) as Schedule);
      const next = jobs.find((job) => channels.get(job)?.isDue);
      if (next) await runJob(core, channels.get(next) as Schedule, next);
      else await core.networkBell.wait();
    }
  } finally {
    core.endPlaying();
    heart.stop();
    for (const channel of channels.values()) channel.stop();
  }
}

/** Sends what is left before a good end, until it is gone or something fails; the rest is kept. */
export async function sendRemainingEvents(core: PlayerCore): Promise<void> {
  while (unsent(core) > 0 && core.state.binding && !core.isCut) {
    const { mends } = core;
    try {
      await flushOnce(core);
    } catch (error) {
      core.fail(error);
      if (core.mends === mends) return;
    }
  }
}
