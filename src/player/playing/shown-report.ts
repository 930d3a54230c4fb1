import type { ActivePlaylist, PlaylistItem } from '../../client/entities.ts';
import { layerOfEntry } from '../../domain/layers/layer-names.ts';
import { shownEvent } from '../batch.ts';
import type { PlayerCore } from '../core.ts';
import { queueEvent } from '../events.ts';

/**
 * Reports at once that another layer or version of the playlist is on the screen (docs/protocol.md
 * §2.5). Plays are reported at their end, which may be a day later.
 */
export class ShownReport {
  readonly #core: PlayerCore;
  /** What was reported last. */
  #last: string | undefined;

  constructor(core: PlayerCore) {
    this.#core = core;
  }

  /**
   * Notes that an item is visible.
   * @param due the playlist that would play if its items did not fail
   */
  note(playlist: ActivePlaylist, item: PlaylistItem, due: ActivePlaylist): void {
    const core = this.#core;
    if (core.isCut || !core.state.binding) return;
    const failed = due === playlist ? undefined : layerOfEntry(due.entryId);
    const key = JSON.stringify([playlist.version, playlist.entryId, failed]);
    if (key === this.#last) return;
    this.#last = key;
    queueEvent(core, shownEvent(playlist, item, core.clock.now(), failed), true);
  }

  /** Notes that nothing is visible. */
  forget(): void {
    this.#last = undefined;
  }
}
