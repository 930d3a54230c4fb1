import type { ActivePlaylist, PlaylistItem } from '../../client/entities.ts';
import type { PlayerCore } from '../core.ts';
import type { PlaybackFailure } from '../stage.ts';

/** A playable item of a playlist. */
export interface ItemPlace {
  playlist: ActivePlaylist;
  index: number;
  item: PlaylistItem;
}

/** Identifies a creative: the same id with the same URL. */
export const creativeKey = ({ creativeId, creativeUrl }: PlaylistItem) =>
  `${creativeId} ${creativeUrl}`;

export const isPlayable = ({ duration }: PlaylistItem) => Number.isFinite(duration) && duration > 0;

/**
 * Returns the first playable item from `index` on. Wraps around at the end. The playlist must
 * contain a playable item.
 */
export function placeFrom(playlist: ActivePlaylist, index: number): ItemPlace {
  const { items } = playlist;
  for (let at = index % items.length; ; at = (at + 1) % items.length) {
    const item = items[at] as PlaylistItem;
    if (isPlayable(item)) return { playlist, index: at, item };
  }
}

interface NextItem {
  place: ItemPlace;
  isReady: boolean;
  /** Whether the item on the stage leaves as soon as the next item is ready. */
  isUrgent: boolean;
  /** Aborts the preparation. `undefined` if the stage prepares nothing. */
  ending: AbortController | undefined;
}

/** Prepares the next item while another item is shown. Skips items that fail. */
export class Lookahead {
  readonly #core: PlayerCore;
  readonly #onFailure: (place: ItemPlace, failure: PlaybackFailure) => void;
  readonly #onAllFailed: (playlist: ActivePlaylist) => void;
  #target: NextItem | undefined;

  /** @param onAllFailed called when none of the items of a playlist could be prepared */
  constructor(
    core: PlayerCore,
    onFailure: (place: ItemPlace, failure: PlaybackFailure) => void,
    onAllFailed: (playlist: ActivePlaylist) => void,
  ) {
    this.#core = core;
    this.#onFailure = onFailure;
    this.#onAllFailed = onAllFailed;
  }

  /** Returns the playlist of the next item. */
  get playlist(): ActivePlaylist | undefined {
    return this.#target?.place.playlist;
  }

  /** Whether the next item can be shown without delay. */
  get isReady(): boolean {
    return this.#target?.isReady === true;
  }

  /** Prepares an item, and stops any other preparation. */
  begin(place: ItemPlace, isUrgent = false): void {
    this.stop();
    const canPrepare = this.#core.stage.prepare !== undefined;
    const ending = canPrepare ? new AbortController() : undefined;
    const target = { place, isReady: !canPrepare, isUrgent, ending };
    this.#target = target;
    if (ending) void this.#prepare(target, ending.signal);
  }

  /**
   * Returns the next item if it belongs to this playlist. The item may not be ready yet. Its
   * preparation is not aborted, because the stage continues it.
   */
  take(playlist: ActivePlaylist): ItemPlace | undefined {
    if (this.playlist !== playlist) this.stop();
    const place = this.#target?.place;
    this.#target = undefined;
    return place;
  }

  stop(): void {
    this.#target?.ending?.abort();
    this.#target = undefined;
  }

  async #prepare(target: NextItem, signal: AbortSignal): Promise<void> {
    const { playlist } = target.place;
    for (let left = playlist.items.length; left > 0; left--) {
      const { place } = target;
      const { index, item } = place;
      const failure = await this.#prepareItem(item, signal, target.isUrgent);
      if (this.#target !== target) return;
      if (failure === undefined) {
        target.isReady = true;
        this.#core.showNotifier.notify();
        return;
      }
      this.#onFailure(place, failure);
      target.place = placeFrom(playlist, index + 1);
    }
    this.#onAllFailed(playlist);
  }

  async #prepareItem(
    item: PlaylistItem,
    signal: AbortSignal,
    isUrgent: boolean,
  ): Promise<PlaybackFailure | undefined> {
    try {
      return await this.#core.stage.prepare?.(item, signal, isUrgent);
    } catch (error) {
      if (!signal.aborted) this.#core.fail(error);
      return 'stalled';
    }
  }
}
