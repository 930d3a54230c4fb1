import { secondMs } from '../../domain/clock.ts';
import { type Item, impression, type Playlist, statusEvent } from './batch.ts';
import type { PlayerCore } from './core.ts';
import { keepEvent } from './events.ts';

/** As long as the interface lets an item be (docs/protocol.md §2.3). */
const longestItemSeconds = 86_400;

const isPlayable = ({ duration }: Item) => Number.isFinite(duration) && duration > 0;

/** The playlist that may be played now, if it has anything to show. */
function playable({ state, clock }: PlayerCore): Playlist | undefined {
  const { playlist } = state;
  return playlist && playlist.validUntilMs > clock.now() && playlist.answer.items.some(isPlayable)
    ? playlist.answer
    : undefined;
}

/** Shows one item, to its end or to that of its playlist, and keeps the proof of it with the seconds really played. */
async function showItem(core: PlayerCore, playlist: Playlist, place: number): Promise<void> {
  const item = playlist.items[place] as Item;
  const { clock } = core;
  const sinceMs = clock.now();
  const fullMs = Math.min(item.duration, longestItemSeconds) * secondMs;
  const plannedMs = Math.min(fullMs, (core.state.playlist?.validUntilMs ?? sinceMs) - sinceMs);
  core.showing = { item, place, sinceMs };
  core.observer.onShow?.(item);
  core.tellPhase();
  const wasAll = await core.showBell.waitFor(
    clock,
    plannedMs,
    () => core.isLive && core.state.playlist !== undefined,
  );
  if (core.isCut || !core.state.binding) return;
  // The clock may have been set meanwhile: then it does not tell how long it was.
  const playedMs = wasAll ? plannedMs : Math.min(plannedMs, Math.max(0, clock.now() - sinceMs));
  const event =
    playedMs > 0 && impression(playlist, item, clock.now(), Math.round(playedMs) / secondMs);
  if (event) keepEvent(core, event);
}

function showNothing(core: PlayerCore): void {
  if (!core.showing) return;
  core.showing = undefined;
  core.observer.onShow?.(undefined);
  core.tellPhase();
}

async function showAll(core: PlayerCore): Promise<void> {
  let shown: Playlist | undefined;
  let next = 0;
  while (core.isLive) {
    const playlist = playable(core);
    if (!playlist) {
      showNothing(core);
      await core.showBell.wait();
      continue;
    }
    if (playlist !== shown) [shown, next] = [playlist, 0];
    const place = next % playlist.items.length;
    next = place + 1;
    if (isPlayable(playlist.items[place] as Item)) await showItem(core, playlist, place);
  }
}

/** Shows the playlist's items one after another, from the first again when there is another playlist, for as long as the TV lives. */
export async function showItems(core: PlayerCore): Promise<void> {
  try {
    await showAll(core);
    // At once, so that it is kept also when there is no time to send it.
    if (core.isStopping && core.state.binding && !core.isCut)
      keepEvent(core, statusEvent('app_stopped', core.clock.now()));
    showNothing(core);
  } finally {
    core.endPlaying();
  }
}
