import type { ActivePlaylist } from '../../client/entities.ts';
import { minuteMs, secondMs } from '../../domain/clock.ts';
import { smallest } from '../../domain/numbers/extremes.ts';
import { withBeneath } from '../playlist-switches.ts';
import { isPlayable } from './lookahead.ts';

/** Pause after a round in which no item could be shown. */
const failedRoundMs = 10 * secondMs;
/** Maximum pause of a layer while one beneath it plays. Doubled from `failedRoundMs` on. */
const maxPauseMs = minuteMs;

interface FailedLayer {
  /** Number of failures since an item of the layer was last visible. */
  failures: number;
  /** Number of failed rounds since then. */
  rounds: number;
  /** End of the pause after the last failed round, by the TV's clock. */
  pausedUntilMs: number;
}

/**
 * Chooses which layer plays: the highest one that does not pause. A layer pauses after a round in
 * which all its items failed (docs/protocol.md §2.3).
 */
export class LayerChoice {
  readonly #layers = new WeakMap<ActivePlaylist, readonly ActivePlaylist[]>();
  readonly #states = new WeakMap<ActivePlaylist, FailedLayer>();

  /** Returns the layer that plays in place of `top`. `undefined` while all layers pause. */
  choose(top: ActivePlaylist, nowMs: number): ActivePlaylist | undefined {
    return this.#layersOf(top).find((one) => !this.#isPaused(one, nowMs));
  }

  /** Returns the layer that plays while this one is tried again. `undefined`: it has not failed. */
  duringTrial(playlist: ActivePlaylist, nowMs: number): ActivePlaylist | undefined {
    if (this.#stateOf(playlist).rounds === 0) return undefined;
    return this.#layersOf(playlist).find((one) => one !== playlist && !this.#isPaused(one, nowMs));
  }

  /** Returns the time until a layer above the chosen one is tried again, in milliseconds. */
  retryInMs(top: ActivePlaylist, nowMs: number): number {
    const chosen = this.choose(top, nowMs);
    const layers = this.#layersOf(top);
    const above = layers.slice(0, chosen ? layers.indexOf(chosen) : undefined);
    return smallest(above.map((one) => this.#stateOf(one).pausedUntilMs - nowMs));
  }

  /** Returns whether the playlist is `top`, or lies beneath it. */
  includes(top: ActivePlaylist, playlist: ActivePlaylist): boolean {
    return this.#layersOf(top).includes(playlist);
  }

  isAllFailed(playlist: ActivePlaylist): boolean {
    return this.#stateOf(playlist).failures >= playlist.items.length;
  }

  addFailure(playlist: ActivePlaylist): void {
    this.#stateOf(playlist).failures++;
  }

  /** An item of the playlist was visible. */
  reset(playlist: ActivePlaylist): void {
    const state = this.#stateOf(playlist);
    state.failures = 0;
    state.rounds = 0;
  }

  /** Begins the pause after a failed round. */
  pause(playlist: ActivePlaylist, nowMs: number): void {
    const state = this.#stateOf(playlist);
    const hasLower = this.#layersOf(playlist).length > 1;
    const pauseMs = hasLower ? failedRoundMs * 2 ** state.rounds : failedRoundMs;
    state.failures = 0;
    state.rounds++;
    state.pausedUntilMs = nowMs + Math.min(pauseMs, maxPauseMs);
  }

  /** Returns whether a layer beneath the playlist can play now. */
  hasLower(playlist: ActivePlaylist, nowMs: number): boolean {
    return this.#layersOf(playlist).some((one) => one !== playlist && !this.#isPaused(one, nowMs));
  }

  /** Returns the playlist and the playable ones beneath it. The same objects each time. */
  #layersOf(playlist: ActivePlaylist): readonly ActivePlaylist[] {
    const known = this.#layers.get(playlist);
    if (known) return known;
    const [top = playlist, ...lower] = withBeneath(playlist);
    const layers = [top, ...lower.filter(({ items }) => items.some(isPlayable))];
    for (const [place, one] of layers.entries()) this.#layers.set(one, layers.slice(place));
    return layers;
  }

  #stateOf(playlist: ActivePlaylist): FailedLayer {
    const state = this.#states.get(playlist) ?? { failures: 0, rounds: 0, pausedUntilMs: 0 };
    this.#states.set(playlist, state);
    return state;
  }

  /** A clock that was set back must not lengthen the pause. */
  #isPaused(playlist: ActivePlaylist, nowMs: number): boolean {
    const leftMs = this.#stateOf(playlist).pausedUntilMs - nowMs;
    return leftMs > 0 && leftMs <= maxPauseMs;
  }
}
