import type { ActivePlaylist, PlaylistItem } from '../client/entities.ts';
import { minuteMs, secondMs } from '../domain/clock.ts';
import { playbackError, proofOfPlay, statusEvent } from './batch.ts';
import type { PlayerCore } from './core.ts';
import { queueEvent } from './events.ts';
import { isPlayable, Lookahead, type Place, placeFrom } from './lookahead.ts';
import type { PlaybackFailure, Shown } from './stage.ts';

/** The maximum duration of an item in the API (docs/protocol.md §2.3). */
const maxItemSeconds = 86_400;
/** Minimum time between two reports of the same failing item. */
const reportEveryMs = 15 * minuteMs;
/** Pause after a round in which no item could be shown. */
const failedRoundMs = 10 * secondMs;

/** Returns the playlist if it is valid and has an item to show. */
function playable({ state, clock }: PlayerCore): ActivePlaylist | undefined {
  const { playlist } = state;
  return playlist && playlist.validUntilMs > clock.now() && playlist.answer.items.some(isPlayable)
    ? playlist.answer
    : undefined;
}

const keyOf = ({ creativeId, creativeUrl }: PlaylistItem) => `${creativeId} ${creativeUrl}`;

/** Returns whether the playlist contains this creative: the same id with the same URL. */
const names = ({ items }: ActivePlaylist, item: PlaylistItem) =>
  items.some((one) => keyOf(one) === keyOf(item));

/** Shows the items of the playlist on the stage, and queues the events about them. */
class Playback {
  readonly #core: PlayerCore;
  readonly #lookahead: Lookahead;
  /** Time at which each failing creative was last reported, by the TV's clock. */
  readonly #reportedMs = new Map<string, number>();
  /** Number of failures since an item was last visible. */
  #failures = 0;

  constructor(core: PlayerCore) {
    this.#core = core;
    this.#lookahead = new Lookahead(core, (item, failure) => this.#failed(item, failure));
  }

  async run(): Promise<void> {
    const core = this.#core;
    try {
      while (core.isLive) await this.#showNext();
    } finally {
      this.#lookahead.stop();
    }
  }

  showNothing(): void {
    const core = this.#core;
    core.stage.clear();
    if (!core.showing) return;
    core.showing = undefined;
    core.observer.onShow?.(undefined);
    core.reportPhase();
  }

  async #showNext(): Promise<void> {
    const core = this.#core;
    const playlist = playable(core);
    if (!playlist) {
      this.#lookahead.stop();
      this.showNothing();
      await core.showNotifier.wait();
      return;
    }
    await this.#show(this.#lookahead.take(playlist) ?? placeFrom(playlist, 0));
    if (this.#failures < playlist.items.length) return;
    this.#failures = 0;
    this.showNothing();
    const isSame = () => core.isLive && playable(core) === playlist;
    await core.showNotifier.waitFor(core.clock, failedRoundMs, isSame);
  }

  /** Shows one item until the item or its playlist ends, and queues its event. */
  async #show({ playlist, index, item }: Place): Promise<void> {
    const core = this.#core;
    const sinceMs = core.clock.now();
    const fullMs = Math.min(item.duration, maxItemSeconds) * secondMs;
    const forMs = Math.min(fullMs, (core.state.playlist?.validUntilMs ?? sinceMs) - sinceMs);
    core.showing = { item, place: index, sinceMs };
    core.observer.onShow?.(item);
    core.reportPhase();
    const { playedMs, failure } = await this.#showFor(item, forMs, () =>
      this.#lookahead.begin(placeFrom(playlist, index + 1)),
    );
    if (core.isCut || !core.state.binding) return;
    // The clock may have been set meanwhile, so the measured time is limited to the planned time.
    const duration = Math.round(Math.min(forMs, Math.max(0, playedMs))) / secondMs;
    if (duration > 0) queueEvent(core, proofOfPlay(playlist, item, core.clock.now(), duration));
    if (failure !== undefined) this.#failed(item, failure);
    else this.#reportedMs.delete(keyOf(item));
    if (duration > 0) this.#failures = 0;
  }

  /**
   * Shows an item until its time is over, it fails, or it must leave the stage. Calls `onBegin`
   * after the call of `Stage.show`.
   */
  async #showFor(item: PlaylistItem, forMs: number, onBegin: () => void): Promise<Shown> {
    const core = this.#core;
    const ending = new AbortController();
    let isOver = false;
    const shown = this.#onStage(item, forMs, ending.signal).finally(() => {
      isOver = true;
      core.showNotifier.notify();
    });
    onBegin();
    const stays = () => !isOver && !this.#mustLeave(item);
    while (stays()) {
      const untilMs = core.state.playlist?.validUntilMs ?? 0;
      const isAsBefore = () => stays() && core.state.playlist?.validUntilMs === untilMs;
      await core.showNotifier.waitFor(core.clock, untilMs - core.clock.now(), isAsBefore);
    }
    ending.abort();
    return shown;
  }

  async #onStage(item: PlaylistItem, forMs: number, signal: AbortSignal): Promise<Shown> {
    try {
      return await this.#core.stage.show(item, forMs, signal);
    } catch (error) {
      if (signal.aborted) return { playedMs: 0 };
      this.#core.fail(error);
      return { playedMs: 0, failure: 'stalled' };
    }
  }

  /**
   * Returns whether the item must leave the stage now (docs/protocol.md §2.3). An item that a new
   * playlist does not contain leaves as soon as the first item of the new playlist is ready.
   */
  #mustLeave(item: PlaylistItem): boolean {
    const playlist = this.#core.isLive ? playable(this.#core) : undefined;
    if (!playlist) return true;
    const isDropped = !names(playlist, item);
    if (this.#lookahead.playlist !== playlist)
      this.#lookahead.begin(placeFrom(playlist, 0), isDropped);
    return this.#lookahead.isReady && isDropped;
  }

  #failed(item: PlaylistItem, failure: PlaybackFailure): void {
    const core = this.#core;
    this.#failures++;
    const nowMs = core.clock.now();
    const lastMs = this.#reportedMs.get(keyOf(item));
    // A clock that was set back must not suppress the report.
    const isRecent = (atMs: number) => Math.abs(nowMs - atMs) < reportEveryMs;
    if (lastMs !== undefined && isRecent(lastMs)) return;
    for (const [key, atMs] of this.#reportedMs) if (!isRecent(atMs)) this.#reportedMs.delete(key);
    this.#reportedMs.set(keyOf(item), nowMs);
    queueEvent(core, playbackError(item, nowMs, failure));
  }
}

/**
 * Shows the items of the playlist in a loop until the player stops. A new playlist starts at its
 * first item.
 */
export async function showItems(core: PlayerCore): Promise<void> {
  const playback = new Playback(core);
  try {
    await playback.run();
    // Queued before the network loop ends, so that the event is saved even if there is no time to
    // send it.
    if (core.isStopping && core.state.binding && !core.isCut)
      queueEvent(core, statusEvent('app_stopped', core.clock.now()));
    playback.showNothing();
  } finally {
    core.endPlaying();
  }
}
