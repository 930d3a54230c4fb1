import { pause } from '../client/pause.ts';
import { type Clock, minuteMs, secondMs } from '../domain/clock.ts';
import { hasCode } from '../domain/error.ts';
import { appStarted, type EventInput, heartbeat, impression } from './batch.ts';
import type { Player } from './player.ts';

interface Playing {
  clock: Clock;
  /** Ends the playing. */
  signal: AbortSignal;
  /** Told of what went wrong; the TV goes on. */
  onFailure(error: unknown): void;
}

/** With these a TV has lost its screen: it has nothing left to do. */
const final = ['device_key_revoked', 'device_key_orphaned', 'device_key_invalid'];

/** Does one thing; a failure is told and passed over, unless it is final or the end was asked for. */
async function tolerate({ signal, onFailure }: Playing, step: () => Promise<unknown>): Promise<void> {
  try {
    await step();
  } catch (error) {
    if (signal.aborted) return;
    if (final.some((code) => hasCode(error, code))) throw error;
    // A screen without a playlist is dark, not broken.
    if (!hasCode(error, 'playlist_not_found')) onFailure(error);
  }
}

/** Shows the next item to its end, or waits for the next heartbeat when there is nothing to show; answers the proof of it. */
async function show(player: Player, { clock, signal }: Playing, idleMs: number): Promise<EventInput[]> {
  const item = player.nextItem();
  await pause(clock, item ? item.duration * secondMs : idleMs, signal);
  const event = item && player.playlist && impression(player.playlist, item, clock.now());
  return event ? [event] : [];
}

/**
 * Plays as a TV does until the signal aborts: shows one item after another and reports each when it is over, sends a heartbeat and asks for a new
 * playlist and config as often as its config says. Throws when its key is good no more.
 */
export async function playOn(player: Player, playing: Playing): Promise<void> {
  const { clock, signal } = playing;
  let [syncedAt, beatAt] = [Number.NEGATIVE_INFINITY, clock.now()];
  await tolerate(playing, () => player.post(player.batchOf([appStarted(clock.now())])));
  while (!signal.aborted) {
    const syncMs = (player.config?.syncIntervalMinutes ?? 1) * minuteMs;
    const beatMs = (player.config?.heartbeatIntervalMinutes ?? 1) * minuteMs;
    if (clock.now() - syncedAt >= syncMs) {
      syncedAt = clock.now();
      await tolerate(playing, () => player.fetchConfig());
      await tolerate(playing, () => player.fetchPlaylist());
    }
    const events = await show(player, playing, Math.min(syncMs, beatMs));
    if (clock.now() - beatAt >= beatMs) {
      beatAt = clock.now();
      events.push(heartbeat(beatAt));
    }
    if (events.length > 0 && !signal.aborted) await tolerate(playing, () => player.post(player.batchOf(events)));
  }
}
