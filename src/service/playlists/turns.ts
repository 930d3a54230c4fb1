import type { Clock } from '../../domain/clock.ts';

/** Turns in one round. */
const batch = 10;
/** Pause between two rounds. With `batch`, it bounds the rate: 2,000 turns a second. */
const pauseMs = 5;

/**
 * Spreads work that becomes due for many at the same moment. A single turn begins at once. Further
 * turns begin in rounds, each after the round before has ended.
 */
export class Turns {
  readonly #clock: Clock;
  #waiting: (() => void)[] = [];
  #inProgress = 0;
  #isPausing = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when the turn begins. Call `end` after it. */
  begin(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#inProgress === 0 && !this.#isPausing) this.#nextRound();
    });
  }

  end(): void {
    this.#inProgress--;
    if (this.#inProgress > 0) return;
    this.#isPausing = true;
    this.#clock.after(pauseMs, () => {
      this.#isPausing = false;
      this.#nextRound();
    });
  }

  #nextRound(): void {
    const round = this.#waiting.splice(0, batch);
    this.#inProgress = round.length;
    for (const begin of round) begin();
  }
}
