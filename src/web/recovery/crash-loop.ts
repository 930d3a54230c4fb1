import { minuteMs } from '../../domain/clock.ts';
import { readJson, writeJson } from './reload.ts';

const itemName = 'signage-player-unfinished-starts';
/** A person may load the page a few times before an item is over. */
const freeStarts = 6;
const maxPauseMs = 10 * minuteMs;

/**
 * Returns the pause before a start, after a number of starts in a row that showed nothing to its
 * end: 1, 2, 4 … 10 minutes after six of them.
 */
export const crashPauseMs = (starts: number): number =>
  starts < freeStarts ? 0 : Math.min(minuteMs * 2 ** (starts - freeStarts), maxPauseMs);

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
