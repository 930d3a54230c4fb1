import { type Clock, systemClock } from '../../../src/domain/clock.ts';

/** The system clock plus a growing offset. Timers run in real time. */
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
