import { type Clock, systemClock } from '../../src/domain/clock.ts';

/**
 * The machine's clock, set forward now and then: what waits takes as long as ever, and much time
 * goes by all the same.
 */
export class DriftingClock implements Clock {
  #aheadMs = 0;

  now(): number {
    return systemClock.now() + this.#aheadMs;
  }

  after(delayMs: number, wake: () => void): () => void {
    return systemClock.after(delayMs, wake);
  }

  drift(byMs: number): void {
    this.#aheadMs += byMs;
  }
}
