import { readJson, writeJson } from './reload.ts';

const itemName = 'signage-player-unfinished-starts';
/**
 * Counts consecutive page loads that ended within a minute and before an item was over, for example
 * because the renderer crashed.
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

  /** Resets the count. Called when an item is over, or a minute after the start. */
  end(): void {
    if (readJson(this.#storage, itemName) !== null) this.#storage.removeItem(itemName);
  }
}
