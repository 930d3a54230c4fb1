import type { ActivePlaylist, PlaylistItem } from '../client/entities.ts';
import { secondMs } from '../domain/clock.ts';
import { impression, statusEvent } from './batch.ts';
import type { PlayerCore } from './core.ts';
import { queueEvent } from './events.ts';

/** The maximum duration of an item in the API (docs/protocol.md §2.3). */
const maxItemSeconds = 86_400;

const isPlayable = ({ duration }: PlaylistItem) => Number.isFinite(duration) && duration > 0;

/** Returns the playlist if it is valid and has an item to show. */
function playable({ state, clock }: PlayerCore): ActivePlaylist | undefined {
  const { playlist } = state;
  return playlist && playlist.validUntilMs > clock.now() && playlist.answer.items.some(isPlayable)
    ? playlist.answer
    : undefined;
}

/**
 * Shows one item until the item or its playlist ends. Queues an impression with the seconds
 * actually played.
 */
async function showItem(core: PlayerCore, playlist: ActivePlaylist, index: number): Promise<void> {
  const item = playlist.items[index] as PlaylistItem;
  const { clock } = core;
  const sinceMs = clock.now();
  const fullMs = Math.min(item.duration, maxItemSeconds) * secondMs;
  const plannedMs = Math.min(fullMs, (core.state.playlist?.validUntilMs ?? sinceMs) - sinceMs);
  core.showing = { item, place: index, sinceMs };
  core.observer.onShow?.(item);
  core.reportPhase();
  const isComplete = await core.showNotifier.waitFor(
    clock,
    plannedMs,
    () => core.isLive && core.state.playlist !== undefined,
  );
  if (core.isCut || !core.state.binding) return;
  // The clock may have been set meanwhile, so the measured time is limited to the planned time.
  const playedMs = isComplete ? plannedMs : Math.min(plannedMs, Math.max(0, clock.now() - sinceMs));
  const event =
    playedMs > 0 && impression(playlist, item, clock.now(), Math.round(playedMs) / secondMs);
  if (event) queueEvent(core, event);
}

function showNothing(core: PlayerCore): void {
  if (!core.showing) return;
  core.showing = undefined;
  core.observer.onShow?.(undefined);
  core.reportPhase();
}

async function showAll(core: PlayerCore): Promise<void> {
  let shown: ActivePlaylist | undefined;
  let next = 0;
  while (core.isLive) {
    const playlist = playable(core);
    if (!playlist) {
      showNothing(core);
      await core.showNotifier.wait();
      continue;
    }
    if (playlist !== shown) {
      shown = playlist;
      next = 0;
    }
    const index = next % playlist.items.length;
    next = index + 1;
    if (isPlayable(playlist.items[index] as PlaylistItem)) await showItem(core, playlist, index);
  }
}

/**
 * Shows the items of the playlist in a loop while the TV lives. A new playlist starts at its first
 * item.
 */
export async function showItems(core: PlayerCore): Promise<void> {
  try {
    await showAll(core);
    // Queued before the network loop ends, so that the event is saved even if there is no time to
    // send it.
    if (core.isStopping && core.state.binding && !core.isCut)
      queueEvent(core, statusEvent('app_stopped', core.clock.now()));
    showNothing(core);
  } finally {
    core.endPlaying();
  }
}
