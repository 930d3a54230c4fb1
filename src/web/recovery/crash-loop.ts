import { readJson, writeJson } from './reload.ts';

const itemName = 'signage-player-unfinished-starts';
/** Counts the starts in a row that ended before an item was over, as when the renderer crashes. */
export class CrashLoop {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Counts a start. Returns how many before it were not finished. */
  begin(): number {
    const starts = Number(readJson(this.#storage, itemName));
    writeJson(this.#storage, itemName, starts + 1);
    return starts;
  }

  /** Forgets them, because an item is over. */
  end(): void {
    if (readJson(this.#storage, itemName) !== null) this.#storage.removeItem(itemName);
  }
}
