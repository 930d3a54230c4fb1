import type { PlayerHead } from '../../player/state.ts';

/** The members without which a person would have to pair the TV again. */
const members = ['registering', 'binding', 'rotating', 'formerKey', 'keySinceMs'] as const;
type BindingPart = Pick<PlayerHead, (typeof members)[number]>;

const itemName = 'signage-player-binding';

/**
 * A second copy of the binding, in `localStorage`. When storage runs out, browsers delete the whole
 * IndexedDB of an origin, but not its `localStorage`.
 */
export class BindingCopy {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Returns the copy. Returns `undefined` if there is none, or if it cannot be read. */
  read(): BindingPart | undefined {
    try {
      const text = this.#storage.getItem(itemName);
      return text === null ? undefined : (JSON.parse(text) as BindingPart);
    } catch {
      return undefined;
    }
  }

  /** Applies a change of the state to the copy. Does nothing if the storage cannot be written. */
  update(change: Partial<PlayerHead>): void {
    if (!members.some((member) => member in change)) return;
    const copy: Record<string, unknown> = { ...this.read() };
    for (const member of members) if (member in change) copy[member] = change[member];
    try {
      if (copy.binding || copy.registering) this.#storage.setItem(itemName, JSON.stringify(copy));
      else this.#storage.removeItem(itemName);
    } catch {
      // IndexedDB has the binding. The copy only protects it from eviction.
    }
  }
}
