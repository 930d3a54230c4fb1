import type { Clock } from '../../domain/clock.ts';

/**
 * A clock that runs at the right speed but shows the wrong time, such as after an empty battery.
 */
export class SkewedClock implements Clock {
  readonly #accurate: Clock;
  #skewMs = 0;

  constructor(accurate: Clock) {
    this.#accurate = accurate;
  }

  now(): number {
    return this.#accurate.now() + this.#skewMs;
  }

  /** Delays are not affected by the skew. */
  after(delayMs: number, wake: () => void): () => void {
    return this.#accurate.after(delayMs, wake);
  }

  /** Moves the clock by `byMs`, relative to its current time. */
  shift(byMs: number): void {
    this.#skewMs += byMs;
  }
}
