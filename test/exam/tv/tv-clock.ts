import { setTimeout as pause } from 'node:timers/promises';

/** A clock of a TV that lives `pace` times faster than real time. All times are in milliseconds. */
export class TvClock {
  readonly pace: number;
  readonly #startedMs = Date.now();

  constructor(pace: number) {
    this.pace = pace;
  }

  now(): number {
    return this.#startedMs + (Date.now() - this.#startedMs) * this.pace;
  }

  /** Waits for `ms` of the TV's time. Rejects when the signal aborts. */
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    // Node cannot wait longer than 2³¹ - 1 ms.
    await pause(Math.min(ms / this.pace, 2 ** 31 - 1), undefined, { signal });
  }
}

/** Returns a random number between `low` and `high`. */
export const between = (low: number, high: number) => low + (high - low) * Math.random();
