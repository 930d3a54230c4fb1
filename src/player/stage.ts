import type { PlaylistItem } from '../client/entities.ts';
import type { Clock } from '../domain/clock.ts';

/**
 * Reason why an item could not be played, as the `reason` of a `playback_error`. `http_404`: the
 * status of the response. `not_media`: the file is not of the expected type, or differs from its
 * given size or hash. `codec`: the TV cannot decode the file. `stalled`: the item stopped, or did
 * not begin within 10 seconds. `hung`: a web page did not load within 10 seconds.
 */
export type PlaybackFailure =
  | 'unreachable'
  | `http_${number}`
  | 'not_media'
  | 'codec'
  | 'stalled'
  | 'hung'
  | 'too_large'
  | 'mixed_content';

/** The outcome of showing an item. */
export interface Shown {
  /** Time for which the item was visible, in milliseconds. */
  playedMs: number;
  /** Set if the item could not be played to its end. */
  failure?: PlaybackFailure | undefined;
}

/** The output surface on which a player shows its items. A rejection counts as `stalled`. */
export interface Stage {
  /**
   * Prepares an item while another item is shown. Resolves with `undefined` once `show` can show
   * the item without delay, otherwise with the reason of the failure. The signal aborts if the
   * player no longer needs the preparation. The same item may be prepared several times. Default:
   * every item is ready at once.
   * @param isUrgent whether the item on the stage leaves as soon as the prepared item is ready
   */
  prepare?(
    item: PlaylistItem,
    signal: AbortSignal,
    isUrgent: boolean,
  ): Promise<PlaybackFailure | undefined>;
  /**
   * Shows an item for `forMs`. Its preparation may be pending. Resolves when the time is over, as
   * soon as the item fails, or at once when the signal aborts. The item stays visible until the
   * next item is ready, or until `clear` is called.
   * @param onVisible to be called when the item becomes visible. Without a call, the player learns
   * this from `playedMs` only.
   */
  show(
    item: PlaylistItem,
    forMs: number,
    signal: AbortSignal,
    onVisible: () => void,
  ): Promise<Shown>;
  /** Removes the visible item. The player then shows nothing until the next call of `show`. */
  clear(): void;
}

/** A stage without a screen: each item only takes its time. */
export function timerStage(clock: Clock): Stage {
  return {
    show(_item, forMs, signal, onVisible) {
      const sinceMs = clock.now();
      onVisible();
      return new Promise((resolve) => {
        const cancel = clock.after(forMs, () => resolve({ playedMs: forMs }));
        const end = () => {
          cancel();
          resolve({ playedMs: clock.now() - sinceMs });
        };
        signal.addEventListener('abort', end, { once: true });
      });
    },
    clear() {},
  };
}
