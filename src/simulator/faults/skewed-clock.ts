import type { Clock } from '../../domain/clock.ts';

/** A clock that runs right and tells the wrong time, as of a TV that was never set or has lost its battery. */
export class SkewedClock implements Clock {
  readonly #right: Clock;
  #offMs = 0;

  constructor(right: Clock) {
    this.#right = right;
  }

  now(): number {
    return this.#right.now() + this.#offMs;
  }

  /** Waits are as long as they are, whatever it tells. */
  after(delayMs: number, wake: () => void): () => void {
    return this.#right.after(delayMs, wake);
  }

  /** Sets it by so much from where it is. */
  set(byMs: number): void {
    this.#offMs += byMs;
  }
}
