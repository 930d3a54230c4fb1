import type { ActivePlaylist, PlaylistItem } from '../../client/entities.ts';
import { minuteMs, secondMs } from '../../domain/clock.ts';
import { playbackError, proofOfPlay, statusEvent } from '../batch.ts';
import type { PlayerCore } from '../core.ts';
import { queueEvent } from '../events.ts';
import type { PlaybackFailure, Shown } from '../stage.ts';
import { LayerChoice } from './layer-choice.ts';
import { creativeKey, type ItemPlace, isPlayable, Lookahead, placeFrom } from './lookahead.ts';
import { ShownReport } from './shown-report.ts';

/** The maximum duration of an item in the API (docs/protocol.md §2.3). */
const maxItemSeconds = 86_400;
/** Minimum time between two reports of the same failing item. */
const reportEveryMs = 15 * minuteMs;
/** Minimum time of an item before a switch. Until the switch, the previous item stays. */
const minShownMs = secondMs;

const ifPlayable = (playlist: ActivePlaylist | undefined): ActivePlaylist | undefined =>
  playlist?.items.some(isPlayable) ? playlist : undefined;

/** Returns the playlist that holds now if it has an item to show. */
const playable = ({ present }: PlayerCore) => ifPlayable(present?.playlist);

/** Returns the time until another playlist holds, in milliseconds. At most a day. */
const timeLeftMs = ({ present, clock }: PlayerCore) =>
  Math.min((present?.untilMs ?? 0) - clock.now(), maxItemSeconds * secondMs);

/** Returns whether the playlist contains this creative: the same id with the same URL. */
const names = ({ items }: ActivePlaylist, item: PlaylistItem) =>
  items.some((one) => creativeKey(one) === creativeKey(item));

const playingEntryId = ({ entryId }: ActivePlaylist) => entryId ?? null;

/**
 * Returns whether a new answer of the service goes on with an entry of the previous answer. The
 * service makes such answers at each switch, and when it extends `upcoming`.
 */
const continues = (playlist: ActivePlaylist, before: ActivePlaylist) =>
  playlist.upcoming !== undefined &&
  playingEntryId(playlist) === playingEntryId(before) &&
  JSON.stringify(playlist.items) === JSON.stringify(before.items);

/** Shows the items of the playlist on the stage, and queues the events about them. */
class Playback {
  readonly #core: PlayerCore;
  readonly #lookahead: Lookahead;
  /** Time at which each failing creative was last reported, by the TV's clock. */
  readonly #reportedMs = new Map<string, number>();
  readonly #layers = new LayerChoice();
  readonly #shown: ShownReport;
  /** The item on the stage. */
  #place: ItemPlace | undefined;
  #isVisible = false;
  /** `coveredMs` of the core when the item became visible. */
  #coveredMs = 0;
  /** The last item that was visible. */
  #played: ItemPlace | undefined;
  /** The playlist that held when the lookahead began. */
  #preparedFor: ActivePlaylist | undefined;

  constructor(core: PlayerCore) {
    this.#core = core;
    this.#shown = new ShownReport(core);
    this.#lookahead = new Lookahead(
      core,
      (place, failure) => this.#failed(place, failure),
      (playlist) => this.#allFailed(playlist),
    );
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
    this.#core.stage.clear();
    this.#endShowing();
  }

  #endShowing(): void {
    const core = this.#core;
    this.#shown.forget();
    if (!core.showing) return;
    core.showing = undefined;
    core.observer.onShow?.(undefined);
    core.reportPhase();
  }

  /** Waits while nobody can see the stage. Goes on with the item that was interrupted. */
  async #rest(): Promise<void> {
    const core = this.#core;
    this.#lookahead.stop();
    this.#endShowing();
    while (core.isLive && core.isHidden) await core.showNotifier.wait();
    if (this.#place) this.#lookahead.begin(this.#place, true);
  }

  async #showNext(): Promise<void> {
    const core = this.#core;
    if (core.isHidden) return this.#rest();
    const top = playable(core);
    if (!top) {
      this.#lookahead.stop();
      this.showNothing();
      await this.#waitForPlaylist();
      return;
    }
    const playlist = this.#choose(top);
    if (!playlist) {
      this.showNothing();
      const retryMs = this.#layers.retryInMs(top, core.clock.now());
      const isSame = () => core.isLive && playable(core) === top;
      const waitMs = Math.min(retryMs, Math.max(0, timeLeftMs(core)));
      await core.showNotifier.waitFor(core.clock, waitMs, isSame);
      return;
    }
    if (core.present?.next && timeLeftMs(core) < minShownMs) return this.#waitForPlaylist();
    await this.#show(this.#lookahead.take(playlist) ?? this.#firstPlace(playlist, top));
    if (this.#layers.isAllFailed(playlist)) this.#layers.pause(playlist, core.clock.now());
  }

  /**
   * Returns the layer of the next item. A layer that failed is tried again by the lookahead, while
   * one beneath it is visible.
   */
  #choose(top: ActivePlaylist): ActivePlaylist | undefined {
    const { clock, stage } = this.#core;
    const chosen = this.#layers.choose(top, clock.now());
    const canTry = stage.prepare !== undefined && this.#lookahead.playlist !== chosen;
    return (chosen && canTry && this.#layers.duringTrial(chosen, clock.now())) || chosen;
  }

  /** Returns where a playlist begins. A layer beneath goes on after a trial of the one above it. */
  #firstPlace(playlist: ActivePlaylist, top: ActivePlaylist): ItemPlace {
    const goesOn = playlist !== top && this.#played?.playlist === playlist;
    return placeFrom(playlist, goesOn && this.#played ? this.#played.index + 1 : 0);
  }

  /** Waits until a playlist may hold: until a known switch, or a fetch. */
  async #waitForPlaylist(): Promise<void> {
    const core = this.#core;
    const { present } = core;
    if (!present?.next) return core.showNotifier.wait();
    const isSame = () => core.isLive && core.present?.untilMs === present.untilMs;
    await core.showNotifier.waitFor(core.clock, timeLeftMs(core), isSame);
  }

  /** Shows one item until the item or its playlist ends, and queues its event. */
  async #show(place: ItemPlace): Promise<void> {
    const core = this.#core;
    const { playlist, index, item } = place;
    const sinceMs = core.clock.now();
    const fullMs = Math.min(item.duration, maxItemSeconds) * secondMs;
    const forMs = Math.min(fullMs, timeLeftMs(core));
    this.#place = place;
    this.#isVisible = false;
    this.#coveredMs = core.coveredMs;
    core.showing = { item, place: index, sinceMs };
    core.observer.onShow?.(item);
    core.reportPhase();
    const { playedMs, failure } = await this.#showFor(place, forMs, sinceMs + fullMs);
    if (core.isCut || !core.state.binding) return;
    if (playedMs > 0) this.#noteVisible(place);
    // The clock may have been set meanwhile, so the measured time is limited to the planned time.
    const shownMs = Math.round(Math.min(forMs, Math.max(0, playedMs)));
    const coveredMs = Math.round(core.coveredMs - this.#coveredMs);
    const duration = Math.max(0, shownMs - coveredMs) / secondMs;
    if (duration > 0) queueEvent(core, proofOfPlay(playlist, item, core.clock.now(), duration));
    if (failure !== undefined) this.#failed(place, failure);
    else this.#reportedMs.delete(creativeKey(item));
    if (shownMs === 0) return;
    this.#layers.reset(playlist);
    this.#played = place;
  }

  /**
   * Shows an item until its time is over, it fails, or it must leave the stage. Then prepares the
   * next item.
   */
  async #showFor(place: ItemPlace, forMs: number, endsAtMs: number): Promise<Shown> {
    const core = this.#core;
    const ending = new AbortController();
    let isOver = false;
    const shown = this.#onStage(place, forMs, ending.signal).finally(() => {
      isOver = true;
      core.showNotifier.notify();
    });
    this.#prepare(place.playlist, place.index + 1, endsAtMs);
    const stays = () => !isOver && !this.#mustLeave(place, endsAtMs);
    while (stays()) {
      const untilMs = core.present?.untilMs;
      const isAsBefore = () => stays() && core.present?.untilMs === untilMs;
      await core.showNotifier.waitFor(core.clock, this.#changeInMs(), isAsBefore);
    }
    ending.abort();
    return shown;
  }

  /** Returns the time until another playlist may hold, or a layer above is tried again. */
  #changeInMs(): number {
    const core = this.#core;
    const top = playable(core);
    const retryMs = top ? this.#layers.retryInMs(top, core.clock.now()) : Number.POSITIVE_INFINITY;
    return Math.min(timeLeftMs(core), retryMs);
  }

  async #onStage(place: ItemPlace, forMs: number, signal: AbortSignal): Promise<Shown> {
    const onVisible = () => {
      if (this.#place !== place || signal.aborted) return;
      this.#coveredMs = this.#core.coveredMs;
      this.#noteVisible(place);
    };
    try {
      return await this.#core.stage.show(place.item, forMs, signal, onVisible);
    } catch (error) {
      if (signal.aborted) return { playedMs: 0 };
      this.#core.fail(error);
      return { playedMs: 0, failure: 'stalled' };
    }
  }

  #noteVisible({ playlist, item }: ItemPlace): void {
    this.#isVisible = true;
    const due = playable(this.#core);
    // The layer may have been replaced while its first item was loading.
    if (due && this.#layers.includes(due, playlist)) this.#shown.note(playlist, item, due);
  }

  /**
   * Returns whether the item must leave the stage now (docs/protocol.md §2.3). An item of another
   * entry, or that a new playlist does not contain, leaves as soon as the first item of the new
   * playlist is ready.
   */
  #mustLeave({ playlist: before, index, item }: ItemPlace, endsAtMs: number): boolean {
    const { isLive, isHidden } = this.#core;
    const top = isLive && !isHidden ? playable(this.#core) : undefined;
    const playlist = top && this.#layers.choose(top, this.#core.clock.now());
    if (!playlist) return true;
    const isDropped = playingEntryId(playlist) !== playingEntryId(before) || !names(playlist, item);
    if (!isDropped && this.#isVisible) this.#shown.note(playlist, item, top);
    const goesOn = playlist === before || continues(playlist, before);
    // At a switch, the lookahead may already have the first item of the playlist.
    if (this.#preparedFor !== playlist && this.#lookahead.playlist !== playlist)
      if (isDropped) this.#prepare(playlist, 0);
      else this.#prepare(playlist, goesOn ? index + 1 : 0, endsAtMs);
    return this.#lookahead.isReady && isDropped;
  }

  /**
   * Prepares the item for the time when the visible item leaves: at `endsAtMs`, or as soon as the
   * item is ready. If a switch comes earlier, that is the first item of the next playlist.
   */
  #prepare(playlist: ActivePlaylist, index: number, endsAtMs?: number): void {
    const { present } = this.#core;
    const isCut = endsAtMs !== undefined && present !== undefined && present.untilMs < endsAtMs;
    const next = isCut ? ifPlayable(present.next) : undefined;
    this.#preparedFor = playlist;
    this.#lookahead.begin(
      next ? placeFrom(next, 0) : placeFrom(playlist, index),
      endsAtMs === undefined,
    );
  }

  /** Lets a layer beneath play, unless an item of the playlist is on the stage. */
  #allFailed(playlist: ActivePlaylist): void {
    const { clock, showNotifier } = this.#core;
    if (this.#place?.playlist === playlist || !this.#layers.hasLower(playlist, clock.now())) return;
    this.#layers.pause(playlist, clock.now());
    showNotifier.notify();
  }

  #failed({ playlist, item }: ItemPlace, failure: PlaybackFailure): void {
    const core = this.#core;
    this.#layers.addFailure(playlist);
    const nowMs = core.clock.now();
    const lastMs = this.#reportedMs.get(creativeKey(item));
    // A clock that was set back must not suppress the report.
    const isRecent = (atMs: number) => Math.abs(nowMs - atMs) < reportEveryMs;
    if (lastMs !== undefined && isRecent(lastMs)) return;
    for (const [key, atMs] of this.#reportedMs) if (!isRecent(atMs)) this.#reportedMs.delete(key);
    this.#reportedMs.set(creativeKey(item), nowMs);
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
