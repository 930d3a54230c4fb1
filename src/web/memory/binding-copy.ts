import type { PlayerHead } from '../../player/state.ts';

/** Without these members, a person would have to pair the TV again, or the screen would be dark. */
const members = [
  'registering',
  'binding',
  'rotating',
  'formerKey',
  'keySinceMs',
  'config',
  'configTag',
  'playlist',
] as const;
type BindingPart = Pick<PlayerHead, (typeof members)[number]>;

const itemName = 'signage-player-binding';

/**
 * A second copy of the binding, the config and the playlist, in `localStorage`. When storage runs
 * out, browsers delete the whole IndexedDB of an origin, but not its `localStorage`. The same
 * happens after some power cuts.
 */
export class BindingCopy {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Returns the copy. Returns `undefined` if the copy is missing or cannot be read. */
  read(): BindingPart | undefined {
    try {
      const text = this.#storage.getItem(itemName);
      return text === null ? undefined : (JSON.parse(text) as BindingPart);
    } catch {
      return undefined;
    }
  }

  /**
   * Applies a change of the state to the copy. Does nothing if `localStorage` cannot be written.
   */
  update(change: Partial<PlayerHead>): void {
    const changed = members.filter((member) => member in change);
    if (changed.length === 0) return;
    const before = this.read();
    const isRenewed = change.playlist?.etag && change.playlist.etag === before?.playlist?.etag;
    // The playlist's validity is renewed every few minutes. Each write wears out the flash memory.
    if (changed.join() === 'playlist' && isRenewed) return;
    const copy: BindingPart = Object.assign(
      {},
      before,
      ...changed.map((member) => ({ [member]: change[member] })),
    );
    // Retries without the playlist, because a long playlist may not fit.
    if (!this.#write(copy)) this.#write({ ...copy, playlist: undefined });
  }

  #write(copy: BindingPart): boolean {
    try {
      if (copy.binding || copy.registering) this.#storage.setItem(itemName, JSON.stringify(copy));
      else this.#storage.removeItem(itemName);
      return true;
    } catch {
      // Does not throw, because IndexedDB has the binding. The copy only guards against the
      // eviction of IndexedDB.
      return false;
    }
  }
}
