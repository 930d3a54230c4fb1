import { readJson, writeJson } from './reload.ts';

const itemName = 'signage-player-unfinished-starts';
/**
 * Counts consecutive page loads that ended before an item was over, for example because the
 * renderer crashed.
 */
export class CrashLoop {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Counts a page load. Returns the number of unfinished page loads before it. */
  begin(): number {
    const starts = Number(readJson(this.#storage, itemName));
    writeJson(this.#storage, itemName, starts + 1);
    return starts;
  }

  /** Resets the count, because an item is over. */
  end(): void {
    if (readJson(this.#storage, itemName) !== null) this.#storage.removeItem(itemName);
  }
}
